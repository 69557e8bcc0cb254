// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/inject/clock.h"
#include "collector/inject/io/descriptors.h"
#include "collector/inject/process.h"
#include "collector/wire/io.h"

/// What the hooks do before and after the program's call. They hold no lock or state during the call,
/// which may be cancelled, left by longjmp, or interrupted by a handler that does I/O itself. errno
/// stays as the call left it.
namespace headway::inject::io {

using wire::IoFunction;
using wire::IoOp;

/// False until the library has been set up; stays false when this process is not recorded.
extern constinit bool g_enabled;

inline bool is_on() {
  return g_process.page->mode.load(std::memory_order_relaxed) == Mode::kOn;
}

/// Counts a call on a descriptor that the table has no room for (SegmentHeader::io_not_followed).
void count_beyond_table();

/// Whether calls on this descriptor are of interest.
inline bool is_watched(int fd) {
  if (!g_enabled) [[unlikely]]
    return false;
  if (!is_tracked(fd)) [[unlikely]] {
    if (fd >= 0) count_beyond_table();
    return false;
  }
  return state_of(g_descriptors[fd].load(std::memory_order_relaxed)) != kIgnored;
}

/// The time stamp before the call; 0: the process is not connected.
inline std::uint64_t begin() {
  return is_on() ? now(g_process.clock) : 0;
}

/// To be called after a call on `fd`. `result`: bytes, or -1 with errno. `detail`: as in IoDetail.
void finish(IoFunction function, IoOp op, int fd, std::uint64_t start, std::int64_t result,
            std::int64_t offset = -1, std::uint64_t detail = 0);
/// To be called after a call that may have opened `fd`; `path` null: the system is asked for it.
void opened(IoFunction function, int fd, std::uint64_t start, const char* path,
            std::uint64_t flags);
/// To be called before a call that closes `fd`. True when the caller must time the call and pass it
/// to `closed`.
bool closing(int fd);
/// To be called after that call; `word` is what the table held for `fd` before it.
void closed(IoFunction function, int fd, Descriptor word, std::uint64_t start, int result);
/// Writes the sums of the calling thread.
void flush_sums();

}  // namespace headway::inject::io
