// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace headway::calibrate {

/// How much work is done for each figure. Tests use less.
struct Effort {
  std::int64_t array_bytes = 0;  ///< 0: larger than the caches, as far as memory allows
  int repetitions = 15;
  int wake_ups = 400;
};

}  // namespace headway::calibrate
