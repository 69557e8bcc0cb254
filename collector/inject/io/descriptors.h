// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

namespace headway::inject::io {

/// What is known about one descriptor: a DescriptorState, kInMemory, and in the upper half the id of
/// the path. One word, so that a reader sees state and path of the same file. Every call that ends a
/// descriptor forgets it, and whatever the number stands for next is looked at anew: so also a child
/// of vfork, which shares this memory, can only cost its parent a second look.
using Descriptor = std::uint64_t;

enum DescriptorState : std::uint64_t {
  kUnknown = 0,
  kIgnored = 1,  ///< no regular file or block device, or of /proc or /sys
  kFile = 2,     ///< a file without a path yet: the process is not connected
  kNamed = 3,
};
inline constexpr std::uint64_t kStateMask = 3;
inline constexpr std::uint64_t kInMemory = 4;  ///< /dev/shm: to map it is no I/O

inline constexpr unsigned kMaxDescriptors = 1u << 16;
extern constinit std::atomic<Descriptor> g_descriptors[kMaxDescriptors];

/// Whether the table has a place for it; negative descriptors have none.
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

/// Finds out by one fstat whether it is a file. `was_read`: bytes came from it, so one that claims to
/// be empty is of /proc or the like. Keeps errno.
Descriptor look_at(int fd, bool was_read);
/// The same, with its path: the given one when that is absolute, else what the system says. Only in
/// a connected process, inside an Entry. Keeps errno.
Descriptor name(int fd, const char* path);
/// Forgets all from `first` to `last`.
void forget(unsigned first, unsigned last);

}  // namespace headway::inject::io
