// SPDX-License-Identifier: MIT
#include "kernels/parallel.h"

#include <omp.h>

namespace headway::kernels {

void run_team(int pieces, void (*piece)(const void* context, int index), const void* context) {
  // The thread sanitizer does not see libgomp's barriers and would report every hand-over between
  // threads.
#ifndef __SANITIZE_THREAD__
#pragma omp parallel for schedule(static, 1) num_threads(pieces)
#endif
  for (int index = 0; index < pieces; ++index) piece(context, index);
}

int max_threads() {
  return omp_get_max_threads();
}

void set_max_threads(int threads) {
  omp_set_num_threads(threads);
}

}  // namespace headway::kernels
