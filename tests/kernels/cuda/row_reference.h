// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/bias_activation/op.h"
#include "kernels/cast/op.h"
#include "kernels/cuda/functors.h"
#include "kernels/number_format.h"
#include "kernels/row_program/op.h"

namespace headway::test {

using Doubles = std::vector<double>;

inline std::int64_t size_of(kernels::RowKind kind, const kernels::RowProgram& program) {
  return kind == kernels::RowKind::kFull     ? program.rows * program.columns
         : kind == kernels::RowKind::kPerRow ? program.rows
                                             : program.columns;
}

/// A row program value by value, in double precision.
class RowReference {
 public:
  RowReference(const kernels::RowProgram& program, const std::vector<std::vector<float>>& inputs,
               std::uint64_t seed)
      : program_(program), kinds_(program.kinds()), seed_(seed) {
    for (const auto& input : inputs) values_.emplace_back(input.begin(), input.end());
    for (std::size_t i = values_.size(); i < kinds_.size(); ++i) values_.push_back(compute(i));
  }
  const Doubles& value(int number) const { return values_[static_cast<std::size_t>(number)]; }

 private:
  double at(int number, std::int64_t row, std::int64_t column) const {
    const auto i = static_cast<std::size_t>(number);
    const std::int64_t place = kinds_[i] == kernels::RowKind::kFull
                                   ? row * program_.columns + column
                               : kinds_[i] == kernels::RowKind::kPerRow ? row
                                                                        : column;
    return values_[i][static_cast<std::size_t>(place)];
  }

  double element(const kernels::RowInstruction& by, std::int64_t row, std::int64_t column) const {
    using enum kernels::RowOp;
    const double a = at(by.a, row, column);
    const double b = by.b < 0 ? 0 : at(by.b, row, column);
    switch (by.op) {
      case kAdd:
        return a + b;
      case kSubtract:
        return a - b;
      case kMultiply:
        return a * b;
      case kScale:
      case kSpread:
        return by.constant * a;
      case kRelu:
        return a > 0 ? a : 0;
      case kReluBackward:
        return a > 0 ? b : 0;
      case kGelu:
        return kernels::reference::gelu(a);
      case kGeluBackward:
        return b * (kernels::reference::gelu(a + 1e-5) - kernels::reference::gelu(a - 1e-5)) / 2e-5;
      case kTanh:
        return std::tanh(a);
      case kTanhBackward:
        return b * (1 - a * a);
      case kDropout: {
        const auto limit = static_cast<std::uint32_t>(double{by.constant} * 16777216.0);
        const auto index = static_cast<std::uint64_t>(row * program_.columns + column);
        const bool kept = kernels::cuda::keeps(index, kernels::dropout_key(by.key, seed_), limit);
        return kept ? a / (1 - double{by.constant}) : 0;
      }
      case kRsqrt:
        return 1 / std::sqrt(a + by.constant);
      case kRsqrtBackward:
        return -a * a * a * b / 2;
      case kRound:
        return kernels::reference::round_to(by.format, static_cast<float>(a));
      case kRowMean:
      case kRowSum:
        break;
    }
    double sum = 0;
    for (std::int64_t each = 0; each < program_.columns; ++each) sum += at(by.a, row, each);
    return by.op == kRowSum ? sum : sum / static_cast<double>(program_.columns);
  }

  Doubles compute(std::size_t number) const {
    const auto& by = program_.instructions[number - program_.inputs.size()];
    const bool per_row = kinds_[number] == kernels::RowKind::kPerRow;
    const bool per_column = kinds_[number] == kernels::RowKind::kPerColumn;
    Doubles result;
    for (std::int64_t row = 0; row < (per_column ? 1 : program_.rows); ++row)
      for (std::int64_t column = 0; column < (per_row ? 1 : program_.columns); ++column)
        result.push_back(element(by, row, column));
    return result;
  }

  const kernels::RowProgram& program_;
  const std::vector<kernels::RowKind> kinds_;
  const std::uint64_t seed_;
  std::vector<Doubles> values_;
};

}  // namespace headway::test
