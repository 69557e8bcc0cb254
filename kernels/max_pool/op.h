// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "kernels/work.h"

namespace headway::kernels {

/// Largest value of each square window of a channels-last image, per channel:
///   y[n,p,q,c] = max over r,s of x[n, p·stride + r - padding, q·stride + s - padding, c]
/// Positions outside the image are ignored. Exact; among equal maxima the first in row-major order wins.
struct MaxPoolShape {
  std::int64_t images = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  int kernel = 3;  ///< at most 15
  int stride = 2;
  int padding = 1;

  /// Height or width of the output.
  constexpr std::int64_t out(std::int64_t extent) const {
    return (extent + 2 * padding - kernel) / stride + 1;
  }
  constexpr std::int64_t inputs() const { return images * height * width * channels; }
  constexpr std::int64_t results() const { return images * out(height) * out(width) * channels; }
};

/// `place` [results] receives r·kernel + s of each maximum, for the backward pass.
void max_pool_forward(const MaxPoolShape& shape, const float* x, float* y, std::uint8_t* place);
/// dx = sum of dy over the windows in which the element is the maximum.
void max_pool_backward(const MaxPoolShape& shape, const float* dy, const std::uint8_t* place,
                       float* dx);

constexpr Work max_pool_forward_work(const MaxPoolShape& s) {
  return {s.results() * s.kernel * s.kernel, 4 * s.inputs() + 5 * s.results()};
}
constexpr Work max_pool_backward_work(const MaxPoolShape& s) {
  return {s.results(), 4 * s.inputs() + 5 * s.results()};
}

}  // namespace headway::kernels
