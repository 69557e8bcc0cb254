// SPDX-License-Identifier: MIT
// The reader of SQLite files under arbitrary bytes: it loads, or throws Error. The file is in
// memory, so that no run touches the disk.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "common/error.h"
#include "trace/load/load.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int file = ::memfd_create("trace", MFD_CLOEXEC);
  static const std::string path = fmt::format("/proc/self/fd/{}", file);
  if (file < 0 || ::ftruncate(file, 0) != 0) std::abort();
  if (::pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  headway::trace::LoadOptions options;
  options.threads = 1;
  try {
    headway::trace::load(path, options);
  } catch (const headway::Error& error) {
    // SQLite reports some damage only as a failure to prepare or to step.
    if (error.code() != headway::ExitCode::kBadInput &&
        error.code() != headway::ExitCode::kInternal)
      std::abort();
  }
  return 0;
}
