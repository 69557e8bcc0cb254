// SPDX-License-Identifier: MIT
#include "kernels/quantise/op.h"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

namespace headway::test {

TEST_CASE("numbers are rounded to the nearest integer of their scale, and pads are zero") {
  const std::vector<float> from = {0.24F, -0.26F, 1, 0.75F, -1000, 1000};
  std::vector<std::int8_t> to(8, 55);
  kernels::quantise({2, 3, 4, 0.5F}, from.data(), to.data());
  CHECK(to == std::vector<std::int8_t>{0, -1, 2, 0, 2, -127, 127, 0});
}

TEST_CASE("halves go to the even integer, and the infinite to the largest") {
  const std::vector<float> from = {0.5F, 1.5F, -2.5F, std::numeric_limits<float>::infinity()};
  std::vector<std::int8_t> to(4);
  kernels::quantise({1, 4, 4, 1}, from.data(), to.data());
  CHECK(to == std::vector<std::int8_t>{0, 2, -2, 127});
}

TEST_CASE("what is no number becomes the smallest integer, as on a GPU") {
  const std::vector<float> from = {std::numeric_limits<float>::quiet_NaN(),
                                   -std::numeric_limits<float>::infinity()};
  std::vector<std::int8_t> to(2);
  kernels::quantise({1, 2, 2, 1}, from.data(), to.data());
  CHECK(to == std::vector<std::int8_t>{-127, -127});
}

TEST_CASE("every row of a large array is done once, by however many threads") {
  std::vector<float> from(200'000);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i % 251) - 125;
  std::vector<std::int8_t> to(from.size());
  kernels::quantise({20'000, 10, 10, 1}, from.data(), to.data());
  bool same = true;
  for (std::size_t i = 0; i < from.size(); ++i) same = same && static_cast<float>(to[i]) == from[i];
  CHECK(same);
}

}  // namespace headway::test
