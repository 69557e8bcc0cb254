// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

namespace headway::inject::io {

/// What is known about one descriptor: a DescriptorState, kInMemory, and in the upper half the id of
/// the path. It is one word, so that a reader sees state and path of the same file. Every call that
/// closes a descriptor resets its word, and the next use of the number looks it up again. So a child
/// of vfork, which shares this memory, can only cause a second look-up in its parent.
using Descriptor = std::uint64_t;

enum DescriptorState : std::uint64_t {
  kUnknown = 0,
  kIgnored = 1,  ///< neither a regular file nor a block device, or in /proc or /sys
  kFile = 2,     ///< a file without a path yet: the process is not connected
  kNamed = 3,
};
inline constexpr std::uint64_t kStateMask = 3;
inline constexpr std::uint64_t kInMemory = 4;  ///< in /dev/shm: mapping it is no I/O

inline constexpr unsigned kMaxDescriptors = 1u << 16;
extern constinit std::atomic<Descriptor> g_descriptors[kMaxDescriptors];

/// Whether the table has a place for the descriptor; false for negative ones.
inline bool is_tracked(int fd) {
  return static_cast<unsigned>(fd) < kMaxDescriptors;
}
inline DescriptorState state_of(Descriptor word) {
  return static_cast<DescriptorState>(word & kStateMask);
}
/// Id of the path in the definitions; 0: it has none yet.
inline std::uint32_t path_of(Descriptor word) {
  return static_cast<std::uint32_t>(word >> 32);
}

/// Finds out by one fstat whether `fd` is a file. `was_read`: bytes were read from it, so a file that
/// claims to be empty is one of /proc or the like. Keeps errno.
Descriptor look_at(int fd, bool was_read);
/// The same, and defines the path: the given one when it is absolute, else what the system says. Only
/// in a connected process, inside an Entry. Keeps errno.
Descriptor name(int fd, const char* path);
/// Resets the words of the descriptors from `first` to `last`.
void forget(unsigned first, unsigned last);

}  // namespace headway::inject::io
