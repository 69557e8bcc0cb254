// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace headway::test {

/// The path of a file with these bytes, in memory, so that no run touches the disk. The same one
/// each time.
inline std::string memory_file(const std::uint8_t* data, std::size_t size) {
  static const int file = ::memfd_create("trace", MFD_CLOEXEC);
  if (file < 0 || ::ftruncate(file, 0) != 0) std::abort();
  if (::pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  return fmt::format("/proc/self/fd/{}", file);
}

}  // namespace headway::test
