// SPDX-License-Identifier: MIT
#include "common/allocator.h"

#include <malloc.h>

namespace headway {

void keep_freed_memory() {
  constexpr int kNever = 0x7fffffff;
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, kNever);
}

KeptMemory::KeptMemory() {
  keep_freed_memory();
}

KeptMemory::~KeptMemory() {
  // The values that glibc's dynamic thresholds reach in a program that uses this much memory.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  give_back_freed_memory();
}

void give_back_freed_memory() {
  malloc_trim(0);
}

}  // namespace headway
