// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace headway::tune {

/// The factor L of a symmetric positive definite matrix (= L · Lᵀ), given by its lower triangle.
class Cholesky {
 public:
  explicit Cholesky(std::vector<std::vector<double>> matrix) : l_(std::move(matrix)) {
    for (std::size_t i = 0; i < l_.size(); ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = l_[i][j];
        for (std::size_t k = 0; k < j; ++k) sum -= l_[i][k] * l_[j][k];
        l_[i][j] = i == j ? std::sqrt(std::max(1e-12, sum)) : sum / l_[j][j];
      }
    }
  }
  /// L⁻¹ b
  std::vector<double> forward(std::vector<double> b) const {
    for (std::size_t i = 0; i < b.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) b[i] -= l_[i][k] * b[k];
      b[i] /= l_[i][i];
    }
    return b;
  }
  /// Half of the logarithm of the determinant.
  double log_diagonal() const {
    double sum = 0;
    for (std::size_t i = 0; i < l_.size(); ++i) sum += std::log(l_[i][i]);
    return sum;
  }

 private:
  std::vector<std::vector<double>> l_;
};

}  // namespace headway::tune
