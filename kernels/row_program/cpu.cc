// SPDX-License-Identifier: MIT
#include "kernels/row_program/op.h"

#include <algorithm>
#include <array>

#include "common/error.h"
#include "kernels/loops/loops.h"
#include "kernels/parallel.h"

namespace headway::kernels {
namespace {

/// Floats of a piece of a flat program: with ten live values it fits in the first-level cache.
constexpr std::int64_t kPiece = 1024;
constexpr std::size_t kMostValues = 96;

bool is_reduction(RowOp op) {
  return op == RowOp::kRowMean || op == RowOp::kRowSum;
}

/// Runs one thread's rows; keeps the place of each value of the current row.
class RowRun {
 public:
  RowRun(const RowProgram& program, std::span<const float* const> inputs,
         std::span<float* const> outputs, std::uint64_t seed, std::int64_t columns)
      : program_(program),
        kinds_(program.kinds()),
        inputs_(inputs),
        outputs_(outputs),
        seed_(seed),
        columns_(columns),
        buffer_(scratch(program.instructions.size() * static_cast<std::size_t>(columns))) {
    HEADWAY_INVARIANT(kinds_.size() <= kMostValues);
    output_of_.fill(-1);
    for (std::size_t i = 0; i < program.outputs.size(); ++i)
      output_of_[static_cast<std::size_t>(program.outputs[i])] = static_cast<int>(i);
  }

  /// Runs one row, or a piece of it. `first`: index of its first element; `count`: number of
  /// elements.
  void row(std::int64_t row, std::int64_t first, std::int64_t count) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (kinds_[i] == RowKind::kFull) place_[i] = inputs_[i] + first;
      if (kinds_[i] == RowKind::kPerColumn) place_[i] = inputs_[i];
      if (kinds_[i] == RowKind::kPerRow) scalar_[i] = inputs_[i][row];
    }
    for (std::size_t n = 0; n < program_.instructions.size(); ++n)
      execute(program_.instructions[n], inputs_.size() + n, n, row, first, count);
  }

 private:
  static float* scratch(std::size_t floats) {
    static thread_local std::vector<float> memory;
    if (memory.size() < floats) memory.resize(floats);
    return memory.data();
  }

  void execute(const RowInstruction& by, std::size_t value, std::size_t n, std::int64_t row,
               std::int64_t first, std::int64_t count) {
    const int output = output_of_[value];
    const auto a = static_cast<std::size_t>(by.a);
    if (kinds_[value] == RowKind::kPerRow) {
      scalar_[value] = per_row(by, a, count);
      if (output >= 0) outputs_[static_cast<std::size_t>(output)][row] = scalar_[value];
      return;
    }
    float* out = output >= 0 ? outputs_[static_cast<std::size_t>(output)] + first
                             : buffer_ + n * static_cast<std::size_t>(columns_);
    place_[value] = out;
    if (by.op == RowOp::kDropout) {
      loops().dropout(count, place_[a], dropout_key(by.key, seed_),
                      static_cast<std::uint64_t>(first), by.constant, out);
    } else if (by.op == RowOp::kSpread) {
      std::fill_n(out, count, by.constant * scalar_[a]);
    } else if (by.op == RowOp::kRound) {
      loops().round_to(by.format, count, place_[a], out);
    } else if (by.b < 0) {
      loops().row_unary(by.op, count, place_[a], by.constant, out);
    } else {
      binary(by, a, static_cast<std::size_t>(by.b), count, out);
    }
  }

  void binary(const RowInstruction& by, std::size_t a, std::size_t b, std::int64_t count,
              float* out) {
    if (kinds_[b] == RowKind::kPerRow) {
      loops().row_binary_one(by.op, count, place_[a], scalar_[b], out);
    } else if (kinds_[a] == RowKind::kPerRow) {
      HEADWAY_INVARIANT(by.op == RowOp::kAdd || by.op == RowOp::kMultiply);  // commutes
      loops().row_binary_one(by.op, count, place_[b], scalar_[a], out);
    } else {
      loops().row_binary(by.op, count, place_[a], place_[b], out);
    }
  }

  float per_row(const RowInstruction& by, std::size_t a, std::int64_t count) {
    if (is_reduction(by.op)) {
      const float sum = loops().row_sum(count, place_[a]);
      return by.op == RowOp::kRowSum ? sum : sum / static_cast<float>(count);
    }
    float result = 0;
    if (by.op == RowOp::kRound) {
      loops().round_to(by.format, 1, &scalar_[a], &result);
    } else if (by.b < 0) {
      loops().row_unary(by.op, 1, &scalar_[a], by.constant, &result);
    } else {
      loops().row_binary(by.op, 1, &scalar_[a], &scalar_[static_cast<std::size_t>(by.b)], &result);
    }
    return result;
  }

  const RowProgram& program_;
  const std::vector<RowKind> kinds_;
  std::span<const float* const> inputs_;
  std::span<float* const> outputs_;
  const std::uint64_t seed_;
  const std::int64_t columns_;
  float* buffer_;
  std::array<const float*, kMostValues> place_{};
  std::array<float, kMostValues> scalar_{};
  std::array<int, kMostValues> output_of_{};
};

RowKind kind_of(const RowInstruction& by, const std::vector<RowKind>& kinds) {
  const RowKind a = kinds[static_cast<std::size_t>(by.a)];
  if (is_reduction(by.op)) return RowKind::kPerRow;
  if (by.op == RowOp::kSpread) return RowKind::kFull;
  if (by.b < 0) return a;
  const RowKind b = kinds[static_cast<std::size_t>(by.b)];
  return a == RowKind::kPerRow && b == RowKind::kPerRow ? RowKind::kPerRow : RowKind::kFull;
}

}  // namespace

std::vector<RowKind> RowProgram::kinds() const {
  std::vector<RowKind> all = inputs;
  for (const RowInstruction& by : instructions) all.push_back(kind_of(by, all));
  return all;
}

bool RowProgram::is_flat() const {
  return std::ranges::all_of(inputs, [](RowKind k) { return k == RowKind::kFull; }) &&
         std::ranges::none_of(instructions,
                              [](const RowInstruction& i) { return is_reduction(i.op); });
}

std::uint32_t dropout_key(std::uint32_t key, std::uint64_t seed) {
  return static_cast<std::uint32_t>((seed + 1) * 0x9E3779B97F4A7C15ULL >> 32) ^ (key * 0x85EBCA6BU);
}

std::int64_t RowProgram::flops() const {
  std::int64_t per_element = 0;
  std::int64_t per_row = 0;
  const std::vector<RowKind> all = kinds();
  for (std::size_t n = 0; n < instructions.size(); ++n) {
    const RowOp op = instructions[n].op;
    const bool full = all[inputs.size() + n] != RowKind::kPerRow || is_reduction(op);
    const bool costly = op == RowOp::kGelu || op == RowOp::kGeluBackward || op == RowOp::kTanh;
    (full ? per_element : per_row) += costly ? 12 : 1;
  }
  return rows * (per_element * columns + per_row);
}

void run_row_program(const RowProgram& program, std::span<const float* const> inputs,
                     std::span<float* const> outputs, std::uint64_t seed) {
  const bool flat = program.is_flat();
  const std::int64_t elements = program.rows * program.columns;
  const std::int64_t columns = flat ? std::min(kPiece, elements) : program.columns;
  if (elements == 0) return;
  const std::int64_t rows = flat ? (elements + columns - 1) / columns : program.rows;
  const std::int64_t grain = std::max<std::int64_t>(1, kFlatGrain / columns);
  parallel_for(rows, grain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    RowRun run(program, inputs, outputs, seed, columns);
    for (std::int64_t row = begin; row < end; ++row)
      run.row(row, row * columns, std::min(columns, elements - row * columns));
  });
}

}  // namespace headway::kernels
