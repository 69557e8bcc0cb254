// SPDX-License-Identifier: MIT
#include "trace/save/save.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <random>
#include <system_error>

#include "common/error.h"
#include "trace/meta_keys.h"
#include "trace/save/context.h"

namespace headway::trace {
namespace {

/// Removes what was written when an error leaves the scope before the rename.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target)
      : path_(fmt::format("{}.tmp-{:08x}", target.string(), std::random_device{}())) {}
  ~TemporaryFile() {
    if (path_.empty()) return;
    std::error_code ignored;
    for (const char* suffix : {"", "-wal", "-shm", "-journal"})
      std::filesystem::remove(path_.string() + suffix, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::filesystem::path& path() const { return path_; }

  void rename_to(const std::filesystem::path& target) {
    sync(path_);
    std::error_code error;
    std::filesystem::rename(path_, target, error);
    if (error) fail_internal("{}: cannot be written: {}.", target.string(), error.message());
    path_.clear();
    sync(target.has_parent_path() ? target.parent_path() : std::filesystem::path("."));
  }

 private:
  /// A file system that cannot do it (EINVAL) still has the data; a failing disk is an error.
  static void sync(const std::filesystem::path& path) {
    int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    int code = ::fsync(fd) == 0 ? 0 : errno;
    ::close(fd);
    if (code == EIO || code == ENOSPC)
      fail_internal("{}: cannot be written: {}.", path.string(), system_error_text(code));
  }

  std::filesystem::path path_;
};

void check_target(const std::filesystem::path& path, bool overwrite) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    fail_usage("{}: is a folder; -o takes the name of the file to write.", path.string());
  if (!overwrite && std::filesystem::exists(path, ignored))
    fail_usage("{}: already exists. Use --force to overwrite it, or -o for another name.",
               path.string());
}

}  // namespace

void save(const Trace& trace, const std::filesystem::path& path, const SaveOptions& options) {
  check_target(path, options.overwrite);
  TemporaryFile file(path);
  {
    TraceWriter writer(file.path());
    save_detail::Context context(trace, writer);
    save_detail::save_inventory(context, options);
    save_detail::save_ranges(context);
    save_detail::save_calls(context);
    save_detail::save_device_ops(context);
    save_detail::save_collectives(context);
    save_detail::save_overheads(context);
    save_detail::save_counters(context);
    writer.finish(TraceWriter::Indexes::kBuild, trace.complete ? "complete" : "recording");
  }
  // Between the check and now somebody may have made the file.
  check_target(path, options.overwrite);
  file.rename_to(path);
}

}  // namespace headway::trace
