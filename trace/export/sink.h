// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "trace/save/temporary_file.h"

struct gzFile_s;

namespace headway::trace::export_detail {

/// The target of an export: standard output ("-"), a file, or a gzip file (by its name). Buffered.
/// Write errors are thrown as Error(kInternal) that names the file.
class Sink {
 public:
  /// Throws Error(kUsage) when the file exists and may not be replaced.
  Sink(const std::filesystem::path& path, bool overwrite);
  ~Sink();
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  /// The text to append to; call flush_if_full regularly.
  std::string& buffer() { return buffer_; }
  void flush_if_full() {
    if (buffer_.size() >= kFlushBytes) flush();
  }
  /// Writes the rest and gives the file its name.
  void finish();

 private:
  static constexpr std::size_t kFlushBytes = 1u << 20;  ///< flush_if_full writes from this size on

  void flush();
  [[noreturn]] void fail(int code) const;

  std::string name_;
  std::optional<TemporaryFile> file_;  ///< nullopt for standard output
  int fd_ = -1;
  gzFile_s* gzip_ = nullptr;
  std::string buffer_;
};

}  // namespace headway::trace::export_detail
