// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace emulator {

/// A kernel that a file defines; all are in one list. Visible, for generated code in libraries of its own.
struct __attribute__((visibility("default"))) Kernel {
  const char* name;
  unsigned threads;
  std::size_t parameter_bytes;
  void (*run)(const void* parameters);
  const Kernel* next;
  Kernel(const char* name, unsigned threads, std::size_t bytes, void (*run)(const void*));
};

}  // namespace emulator
