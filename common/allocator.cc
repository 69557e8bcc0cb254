// SPDX-License-Identifier: MIT
#include "common/allocator.h"

#include <malloc.h>

namespace headway {

void keep_freed_memory() {
  constexpr int kNever = 0x7fffffff;
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, kNever);
}

}  // namespace headway
