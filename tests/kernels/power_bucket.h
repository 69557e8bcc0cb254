// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/power_sgd/op.h"
#include "tests/kernels/random_array.h"

namespace headway::test {

/// A bucket of gradients as PowerSGD takes it, with random values: `gap` values that are no matrix before each matrix and
/// at the end.
struct PowerBucket {
  int rank;
  std::vector<kernels::PowerMatrix> matrices;
  std::vector<kernels::PowerRest> rest;
  std::vector<float> flat, error, p, second;

  PowerBucket(int its_rank, const std::vector<std::pair<std::int64_t, std::int64_t>>& shapes,
              std::int64_t gap, std::uint32_t seed = 1)
      : rank(its_rank) {
    std::int64_t count = 0, p_count = 0, q_count = 0;
    auto add_rest = [&] {
      if (gap > 0) rest.push_back({count, gap, 0});
      count += gap;
    };
    for (const auto& [rows, columns] : shapes) {
      add_rest();
      matrices.push_back({count, rows, columns, p_count, q_count});
      count += rows * columns;
      p_count += rows * rank;
      q_count += columns * rank;
    }
    add_rest();
    for (kernels::PowerRest& each : rest) {
      each.at = q_count;
      q_count += each.count;
    }
    flat = random_floats(count, seed);
    error = random_floats(count, seed + 1, 0, 0.1F);
    second = random_floats(q_count, seed + 2);
    p.resize(static_cast<std::size_t>(p_count));
  }
  kernels::PowerLayout layout() {
    return {rank,
            static_cast<std::int64_t>(flat.size()),
            matrices,
            rest,
            flat.data(),
            error.data(),
            p.data(),
            second.data(),
            static_cast<std::int64_t>(second.size())};
  }
  static double at(const std::vector<float>& values, std::int64_t i) {
    return values[static_cast<std::size_t>(i)];
  }
  /// How far the products of P's columns are from 1 (with themselves) and 0.
  double largest_product_error() const {
    double largest = 0;
    for (const kernels::PowerMatrix& m : matrices)
      for (int a = 0; a < rank; ++a)
        for (int b = 0; b <= a; ++b) {
          double sum = 0;
          for (std::int64_t i = 0; i < m.rows; ++i)
            sum += at(p, m.p + a * m.rows + i) * at(p, m.p + b * m.rows + i);
          largest = std::max(largest, std::abs(sum - (a == b ? 1 : 0)));
        }
    return largest;
  }
};

}  // namespace headway::test
