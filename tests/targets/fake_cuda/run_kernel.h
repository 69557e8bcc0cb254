// SPDX-License-Identifier: MIT
#pragma once

namespace emulator {

struct Kernel;
struct Extent {
  unsigned x = 1, y = 1, z = 1;
};

/// Null when no kernel file has it.
const Kernel* find_kernel(const char* name);
/// Returns when all its threads have ended.
void run_kernel(const Kernel& kernel, const Extent& grid, unsigned threads, const void* parameters);

}  // namespace emulator
