// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

namespace headway::test {

/// Team sizes to test kernels with. One only under the thread sanitizer: libgomp is not built for it, so
/// it cannot see that a team's start and end order its memory accesses and reports each as a race.
inline const std::vector<int>& thread_counts() {
#ifdef __SANITIZE_THREAD__
  static const std::vector<int> counts = {1};
#else
  static const std::vector<int> counts = {1, 2};
#endif
  return counts;
}

}  // namespace headway::test
