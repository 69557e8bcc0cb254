// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "collector/wire/layout.h"

/// Calls on files are records of type kIo: `category` is an IoOp and an IoFunction, `text` the id of
/// the path (0: not known), `color` the descriptor, `value` the bytes. One unit follows: IoDetail.
namespace headway::wire {

enum class IoOp : std::uint8_t { kOpen = 1, kClose, kRead, kWrite, kSync, kMap };

/// The hooked functions. Those before `dup2` are recorded; `dup2` and those after it only reset what
/// is known about descriptors, or end the process.
// clang-format off
#define HEADWAY_IO_FUNCTIONS(X)                                                                   \
  X(open) X(open64) X(openat) X(openat64) X(__open_2) X(__open64_2) X(__openat_2) X(__openat64_2) \
  X(creat) X(creat64) X(fopen) X(fopen64) X(freopen) X(freopen64) X(close) X(fclose)              \
  X(read) X(__read_chk) X(pread) X(pread64) X(__pread_chk) X(__pread64_chk)                       \
  X(readv) X(preadv) X(preadv64) X(preadv2) X(preadv64v2)                                         \
  X(write) X(pwrite) X(pwrite64) X(writev) X(pwritev) X(pwritev64) X(pwritev2) X(pwritev64v2)     \
  X(fread) X(fread_unlocked) X(__fread_chk) X(fwrite) X(fwrite_unlocked)                          \
  X(fgets) X(__fgets_chk) X(getline) X(getdelim) X(__getdelim)                                    \
  X(sendfile) X(sendfile64) X(copy_file_range) X(mmap) X(mmap64) X(fsync) X(fdatasync)            \
  X(dup2) X(dup3) X(close_range) X(closefrom) X(_exit) X(_Exit)
// clang-format on

enum class IoFunction : std::uint8_t {
#define HEADWAY_IO_ENUMERATOR(name) k_##name,
  HEADWAY_IO_FUNCTIONS(HEADWAY_IO_ENUMERATOR)
#undef HEADWAY_IO_ENUMERATOR
      kCount
};
inline constexpr std::size_t kIoFunctionCount = static_cast<std::size_t>(IoFunction::kCount);
inline constexpr const char* kIoFunctionNames[kIoFunctionCount] = {
#define HEADWAY_IO_NAME(name) #name,
    HEADWAY_IO_FUNCTIONS(HEADWAY_IO_NAME)
#undef HEADWAY_IO_NAME
};

/// Record::category of a kIo record: the op in the lower byte, the function in the upper one.
constexpr std::uint16_t io_category(IoOp op, IoFunction function) {
  return static_cast<std::uint16_t>(static_cast<unsigned>(op) | static_cast<unsigned>(function)
                                                                    << 8);
}

struct IoDetail {
  std::uint64_t end;    ///< as Record::time
  std::int64_t offset;  ///< -1: the descriptor's position
  std::uint64_t
      detail;  ///< open: O_* flags; map: PROT_* flags; summed calls: time inside, in stamps
  std::uint32_t calls;  ///< more than 1: a sum of calls
  std::uint16_t error;  ///< errno
  std::uint16_t reserved;
};
static_assert(sizeof(IoDetail) == kUnit);

/// A fast call that moves fewer bytes than this is summed with others on its descriptor. A process
/// that never moves this much in one call is not recorded, unless it makes many calls.
inline constexpr std::uint64_t kSmallIoBytes = 4096;

}  // namespace headway::wire
