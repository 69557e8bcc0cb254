// SPDX-License-Identifier: MIT
#include "kernels/insert_zeros/op.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "tests/kernels/random_array.h"

namespace headway::test {

TEST_CASE("elements move apart, and zeros lie between and behind them") {
  const std::vector<float> from = {1, 2, 3, 4};
  std::vector<float> to(16, -1);
  kernels::insert_zeros({1, 2, 2, 1, 2, 4, 4}, from.data(), to.data());
  CHECK(to == std::vector<float>{1, 0, 2, 0, 0, 0, 0, 0, 3, 0, 4, 0, 0, 0, 0, 0});
}

TEST_CASE("every element of every map is found again, whatever the stride") {
  for (const kernels::InsertZeros s : {kernels::InsertZeros{3, 5, 4, 7, 2, 10, 8},
                                       {2, 1, 1, 3, 3, 1, 1},
                                       {4, 6, 6, 1, 3, 17, 16}}) {
    const auto from = random_floats(s.maps * s.height * s.width * s.inner, 1);
    std::vector<float> to(static_cast<std::size_t>(s.results()), -1);
    kernels::insert_zeros(s, from.data(), to.data());
    double sum = 0;
    double left = 0;
    for (float x : from) sum += std::abs(x);
    for (float x : to) left += std::abs(x);
    CHECK(left == doctest::Approx(sum));
    for (std::int64_t m = 0; m < s.maps; ++m)
      for (std::int64_t y = 0; y < s.height; ++y)
        for (std::int64_t x = 0; x < s.width; ++x)
          for (std::int64_t c = 0; c < s.inner; ++c)
            CHECK(to[static_cast<std::size_t>(
                      ((m * s.to_height + y * s.stride) * s.to_width + x * s.stride) * s.inner +
                      c)] ==
                  from[static_cast<std::size_t>(((m * s.height + y) * s.width + x) * s.inner + c)]);
  }
}

}  // namespace headway::test
