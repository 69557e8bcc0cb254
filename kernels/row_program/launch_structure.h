// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/row_program/op.h"

namespace headway::kernels::cuda {

inline bool is_row_sum(RowOp op) {
  return op == RowOp::kRowMean || op == RowOp::kRowSum;
}

/// Dropout as kernels decide it: an element whose 24 bits of hash are below the limit is dropped, another one scaled.
struct DropoutConstants {
  std::uint32_t limit;
  float scale;
};
DropoutConstants dropout_constants(const RowInstruction& by);

/// In which order a row program's values can be had, one sweep over a row per set of sums that do not need one another. A value's
/// level is the number of sweeps that must have ended before it can be computed; a sum's, the sweep that makes it, from 1.
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

  /// Sweeps that make sums. One more writes what has a value per column, if anything has.
  int sum_sweeps() const { return sum_sweeps_; }
  bool writes_columns() const;
  /// The sums of that sweep.
  std::vector<std::size_t> sums(int sweep) const;
  /// By value: whether that sweep needs it for each column, to add it up or to write it.
  std::vector<bool> needed(int sweep) const;
  /// By value: inputs with a value per element that several sweeps need.
  std::vector<bool> needed_again() const;

 private:
  const RowProgram& program_;
  const std::vector<RowKind> kinds_;
  std::vector<int> levels_;
  int sum_sweeps_ = 0;
};

}  // namespace headway::kernels::cuda
