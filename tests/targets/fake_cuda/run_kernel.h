// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace emulator {

struct Kernel;
struct Extent {
  unsigned x = 1, y = 1, z = 1;
};

/// Null when no kernel file has it.
const Kernel* find_kernel(const char* name);
/// Shared memory that a launch may ask for: without saying so before, and at all (compute capability 8.6, the least of
/// what the kernels are for).
inline constexpr std::size_t kPlainShared = 48 << 10;
inline constexpr std::size_t kMostShared = 99 << 10;
/// Returns when all its threads have ended.
void run_kernel(const Kernel& kernel, const Extent& grid, unsigned threads,
                std::size_t shared_bytes, const void* parameters);

}  // namespace emulator
