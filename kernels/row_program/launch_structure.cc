// SPDX-License-Identifier: MIT
#include "kernels/row_program/launch_structure.h"

#include <algorithm>

namespace headway::kernels::cuda {

DropoutConstants dropout_constants(const RowInstruction& by) {
  return {static_cast<std::uint32_t>(static_cast<double>(by.constant) * 16777216.0),
          1.0F / (1.0F - by.constant)};
}

RowStructure::RowStructure(const RowProgram& program)
    : program_(program), kinds_(program.kinds()), levels_(kinds_.size(), 0) {
  for (std::size_t i = inputs(); i < values(); ++i) {
    const RowInstruction& by = instruction(i);
    levels_[i] = levels_[static_cast<std::size_t>(by.a)];
    if (by.b >= 0) levels_[i] = std::max(levels_[i], levels_[static_cast<std::size_t>(by.b)]);
    if (is_row_sum(by.op)) sum_sweeps_ = std::max(sum_sweeps_, ++levels_[i]);
  }
}

bool RowStructure::is_output(std::size_t value) const {
  return std::ranges::find(program_.outputs, static_cast<int>(value)) != program_.outputs.end();
}

bool RowStructure::writes_columns() const {
  return std::ranges::any_of(program_.outputs, [&](int value) {
    return kind(static_cast<std::size_t>(value)) != RowKind::kPerRow;
  });
}

std::vector<std::size_t> RowStructure::sums(int sweep) const {
  std::vector<std::size_t> sums;
  for (std::size_t i = inputs(); i < values(); ++i)
    if (is_sum(i) && level(i) == sweep) sums.push_back(i);
  return sums;
}

std::vector<bool> RowStructure::needed(int sweep) const {
  std::vector<bool> needed(values(), false);
  for (std::size_t sum : sums(sweep)) needed[static_cast<std::size_t>(instruction(sum).a)] = true;
  for (std::size_t i = values(); i-- > 0;) {
    needed[i] = needed[i] || (sweep > sum_sweeps_ && is_output(i));
    if (kind(i) == RowKind::kPerRow) needed[i] = false;
    if (!needed[i] || is_input(i)) continue;
    needed[static_cast<std::size_t>(instruction(i).a)] = true;
    if (instruction(i).b >= 0) needed[static_cast<std::size_t>(instruction(i).b)] = true;
  }
  return needed;
}

std::vector<bool> RowStructure::needed_again() const {
  std::vector<int> sweeps(values(), 0);
  for (int sweep = 1; sweep <= sum_sweeps_ + 1; ++sweep) {
    const std::vector<bool> all = needed(sweep);
    for (std::size_t i = 0; i < inputs(); ++i) sweeps[i] += all[i] ? 1 : 0;
  }
  std::vector<bool> again;
  for (std::size_t i = 0; i < values(); ++i)
    again.push_back(is_input(i) && kind(i) == RowKind::kFull && sweeps[i] > 1);
  return again;
}

}  // namespace headway::kernels::cuda
