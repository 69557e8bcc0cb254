// SPDX-License-Identifier: MIT
#include "reference_trainer/data/shapes.h"

#include <algorithm>
#include <cmath>

namespace headway::trainer {

bool inside_shape(int shape, double x, double y) {
  const double radius = std::hypot(x, y);
  const double angle = std::atan2(y, x);
  switch (shape) {
    case 0:
      return radius < 1;
    case 1:
      return std::max(std::abs(x), std::abs(y)) < 0.85;
    case 2:
      return radius < 1 && radius > 0.6;
    case 3:
      return std::abs(x) < 0.28 || std::abs(y) < 0.28 ? std::max(std::abs(x), std::abs(y)) < 1
                                                      : false;
    case 4:
      return y > -0.8 && y < 0.9 && std::abs(x) < (0.9 - y) * 0.55;
    case 5:
      return radius < 0.65 + 0.35 * std::cos(5 * angle);
    case 6:
      return std::abs(x) + std::abs(y) < 1;
    case 7:
      return std::abs(y) < 0.35 && std::abs(x) < 1;
    case 8:
      return radius < 1 && std::hypot(x - 0.45, y) > 0.8;
    default:
      return std::max(std::abs(x), std::abs(y)) < 1 && std::fmod(x + 3, 0.66) < 0.33;
  }
}

}  // namespace headway::trainer
