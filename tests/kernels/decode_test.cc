// SPDX-License-Identifier: MIT
#include "kernels/decode/op.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "kernels/attention/op.h"
#include "tests/kernels/random_array.h"

namespace headway::kernels {

TEST_CASE("attention with a cache is the row of causal attention over all tokens") {
  for (const AttentionShape& whole :
       {AttentionShape{1, 7, 1, 5, 7, 0}, AttentionShape{3, 12, 4, 8, 12, 0}}) {
    const std::int64_t columns = whole.columns();
    const std::vector<float> qkv = test::random_floats(whole.batch * whole.length * 3 * columns, 1);
    std::vector<float> expected(qkv.size() / 3);
    std::vector<float> lse(static_cast<std::size_t>(whole.groups() * whole.window));
    attention_forward(whole, qkv.data(), expected.data(), lse.data());
    const DecodeShape shape{whole.batch, whole.heads, whole.depth, whole.length};
    std::vector<float> keys(static_cast<std::size_t>(whole.batch * columns * whole.length));
    std::vector<float> values = keys;
    // Tokens of a sequence, from `first` on.
    auto rows = [&](std::int64_t first, std::int64_t count) {
      std::vector<float> part;
      for (std::int64_t b = 0; b < whole.batch; ++b) {
        const auto begin = qkv.begin() + (b * whole.length + first) * 3 * columns;
        part.insert(part.end(), begin, begin + count * 3 * columns);
      }
      return part;
    };
    constexpr std::int64_t kPrompt = 3;
    fill_cache(shape, kPrompt, rows(0, kPrompt).data(), keys.data(), values.data());
    std::vector<float> y(static_cast<std::size_t>(whole.batch * columns));
    for (std::int64_t position = kPrompt; position < whole.length; ++position) {
      cached_attention(shape, position, rows(position, 1).data(), keys.data(), values.data(),
                       y.data());
      for (std::int64_t b = 0; b < whole.batch; ++b)
        for (std::int64_t c = 0; c < columns; ++c)
          CHECK(y[static_cast<std::size_t>(b * columns + c)] ==
                doctest::Approx(
                    expected[static_cast<std::size_t>((b * whole.length + position) * columns + c)])
                    .epsilon(1e-5));
    }
  }
}

TEST_CASE("of equal numbers the first is the largest") {
  const std::vector<float> x = {1, 3, 3, -1, -2, -1};
  std::vector<std::int32_t> place(2);
  largest_of_rows(2, 3, x.data(), place.data());
  CHECK(place == std::vector<std::int32_t>{1, 0});
}

}  // namespace headway::kernels
