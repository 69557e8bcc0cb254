// SPDX-License-Identifier: MIT
#include "kernels/max_pool/op.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "kernels/parallel.h"
#include "tests/kernels/random_array.h"
#include "tests/kernels/thread_counts.h"

namespace headway::kernels {

TEST_CASE("max pooling finds every window's maximum, and its gradient goes back there") {
  for (int threads : test::thread_counts()) {
    set_max_threads(threads);
    for (const MaxPoolShape& s : {MaxPoolShape{2, 7, 5, 3, 3, 2, 1},
                                  {1, 8, 8, 17, 2, 2, 0},
                                  {3, 64, 64, 4, 3, 2, 1},
                                  {1, 4, 4, 1, 3, 1, 1}}) {
      const std::vector<float> x = test::random_floats(s.inputs(), 1);
      const std::vector<float> dy = test::random_floats(s.results(), 2);
      std::vector<float> y(dy.size()), dx(x.size(), -7), expected(x.size());
      std::vector<std::uint8_t> place(dy.size());
      max_pool_forward(s, x.data(), y.data(), place.data());
      max_pool_backward(s, dy.data(), place.data(), dx.data());
      std::size_t at = 0;
      for (std::int64_t n = 0; n < s.images; ++n)
        for (std::int64_t p = 0; p < s.out(s.height); ++p)
          for (std::int64_t q = 0; q < s.out(s.width); ++q)
            for (std::int64_t c = 0; c < s.channels; ++c, ++at) {
              std::int64_t best = -1;
              for (std::int64_t r = 0; r < s.kernel; ++r)
                for (std::int64_t t = 0; t < s.kernel; ++t) {
                  const std::int64_t row = p * s.stride + r - s.padding;
                  const std::int64_t column = q * s.stride + t - s.padding;
                  if (row < 0 || row >= s.height || column < 0 || column >= s.width) continue;
                  const std::int64_t i = ((n * s.height + row) * s.width + column) * s.channels + c;
                  if (best < 0 ||
                      x[static_cast<std::size_t>(i)] > x[static_cast<std::size_t>(best)])
                    best = i;
                }
              REQUIRE(y[at] == x[static_cast<std::size_t>(best)]);
              expected[static_cast<std::size_t>(best)] += dy[at];
            }
      CHECK(test::largest_difference(dx, expected) < 1e-6);
    }
  }
}

}  // namespace headway::kernels
