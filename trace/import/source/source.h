// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace headway::trace::import_detail {

/// Text of a recording, read from front to back in bounded memory, decompressed on the way.
/// Not thread-safe. Reading throws Error(kBadInput) for damaged compressed data, with its offset.
class Source {
 public:
  virtual ~Source() = default;
  /// Fills `to` with up to `size` bytes and returns their number; fewer only at the end, then 0.
  virtual std::size_t read(char* to, std::size_t size) = 0;
  /// Share of the file that has been read, 0 to 1.
  virtual double fraction() const = 0;
  /// Valid after the end: true when the compressed data end before their own end mark.
  virtual bool cut() const { return false; }
};

/// Opens the same text from its beginning each time, because a reader may have to start again.
using OpenSource = std::function<std::unique_ptr<Source>()>;

/// Opens the file without decompression. Throws Error(kBadInput) when it cannot be opened, as do the
/// functions below.
std::unique_ptr<Source> open_plain(const std::filesystem::path& path);
/// Opens a file of one or several gzip members; data after the last member (padding) is ignored.
std::unique_ptr<Source> open_gzip(const std::filesystem::path& path);
/// Opens one member of a zip archive, which may itself be a .gz.
std::unique_ptr<Source> open_zip(const std::filesystem::path& path, const std::string& member);

/// The members of a zip archive that may be recordings (.json, .json.gz, .xplane.pb, .xplane.pb.gz), sorted
/// by name.
std::vector<std::string> zip_members(const std::filesystem::path& path);

}  // namespace headway::trace::import_detail
