// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/row_program/op.h"

namespace headway::kernels::cuda {

inline bool is_row_sum(RowOp op) {
  return op == RowOp::kRowMean || op == RowOp::kRowSum;
}

/// Dropout as kernels decide it: an element whose 24-bit hash is below the limit is dropped; other
/// elements are scaled.
struct DropoutConstants {
  std::uint32_t limit;
  float scale;
};
DropoutConstants dropout_constants(const RowInstruction& by);

/// The order in which a row program's values can be computed, with one sweep over a row per set of
/// independent sums. A value's level is the number of sweeps that must have ended before it can be
/// computed. A sum's level is the sweep that computes it, from 1.
class RowStructure {
 public:
  explicit RowStructure(const RowProgram& program);

  std::size_t inputs() const { return program_.inputs.size(); }
  std::size_t values() const { return kinds_.size(); }
  bool is_input(std::size_t value) const { return value < inputs(); }
  const RowInstruction& instruction(std::size_t value) const {
    return program_.instructions[value - inputs()];
  }
  bool is_sum(std::size_t value) const {
    return !is_input(value) && is_row_sum(instruction(value).op);
  }
  RowKind kind(std::size_t value) const { return kinds_[value]; }
  int level(std::size_t value) const { return levels_[value]; }
  bool is_output(std::size_t value) const;

  /// The number of sweeps that compute sums. If any output has a value per column, one more sweep
  /// writes it.
  int sum_sweeps() const { return sum_sweeps_; }
  bool writes_columns() const;
  /// The sums that this sweep computes.
  std::vector<std::size_t> sums(int sweep) const;
  /// By value: whether this sweep needs it for each column, to add it up or to write it.
  std::vector<bool> needed(int sweep) const;
  /// By value: whether it is an input with a value per element that several sweeps need.
  std::vector<bool> needed_again() const;

 private:
  const RowProgram& program_;
  const std::vector<RowKind> kinds_;
  std::vector<int> levels_;
  int sum_sweeps_ = 0;
};

}  // namespace headway::kernels::cuda
