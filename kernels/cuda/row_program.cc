// SPDX-License-Identifier: MIT
#include "kernels/cuda/row_program.h"

#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {
namespace {

constexpr const char* kName = "row_program";

DeviceRowInstruction compiled(const RowInstruction& by, std::uint64_t seed) {
  DeviceRowInstruction to{};
  to.op = by.op;
  to.format = by.format;
  to.a = static_cast<std::int16_t>(by.a);
  to.b = static_cast<std::int16_t>(by.b);
  to.constant = by.constant;
  if (by.op == RowOp::kDropout) {
    to.key = dropout_key(by.key, seed);
    to.limit = static_cast<std::uint32_t>(static_cast<double>(by.constant) * 16777216.0);
    to.constant = 1.0F / (1.0F - by.constant);
  }
  return to;
}

void require_array(const RowArray& array, const char* what) {
  require(array.format != NumberFormat::kTf32, kName, "no array in memory has the format TF32");
  require_aligned(array.address, static_cast<std::size_t>(bits_of(array.format)) / 8, kName, what);
}

}  // namespace

Launch run_row_program(const Limits& limits, const RowProgram& program,
                       std::span<const RowArray> inputs, std::span<const RowArray> outputs,
                       std::uint64_t seed) {
  require(program.rows > 0 && program.columns > 0, kName, "there must be at least one element");
  require(program.instructions.size() <= kMostRowInstructions &&
              program.inputs.size() + program.instructions.size() <= kMostRowValues,
          kName, "the program has more than 64 instructions or 96 values");
  require(inputs.size() == program.inputs.size() && outputs.size() == program.outputs.size(), kName,
          "addresses and operands differ in number");
  RowProgramParameters by{};
  by.rows = program.rows;
  by.columns = program.columns;
  by.inputs = static_cast<int>(inputs.size());
  by.instructions = static_cast<int>(program.instructions.size());
  const std::vector<RowKind> kinds = program.kinds();
  std::ranges::copy(kinds, by.kinds);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    require_array(inputs[i], "an input");
    by.from[i] = inputs[i].address;
    by.formats[i] = inputs[i].format;
  }
  bool sums = false;
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    by.code[i] = compiled(program.instructions[i], seed);
    sums |= program.instructions[i].op == RowOp::kRowMean ||
            program.instructions[i].op == RowOp::kRowSum;
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    require_array(outputs[i], "an output");
    by.to[program.outputs[i]] = outputs[i].address;
    by.formats[program.outputs[i]] = outputs[i].format;
  }
  if (sums)
    return make_launch(kName, "row_program_rows", {blocks_for(program.rows, 1, limits, 8)},
                       kFlatThreads, by);
  return make_launch(kName, "row_program_elements",
                     flat_grid(limits, program.rows * program.columns, false), kFlatThreads, by);
}

void set_row_program_seed(Launch& launch, const RowProgram& program, std::uint64_t seed) {
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const RowInstruction& by = program.instructions[i];
    if (by.op != RowOp::kDropout) continue;
    const std::uint32_t key = dropout_key(by.key, seed);
    const std::size_t place = offsetof(RowProgramParameters, code) +
                              i * sizeof(DeviceRowInstruction) +
                              offsetof(DeviceRowInstruction, key);
    std::memcpy(launch.parameters.data() + place, &key, sizeof key);
  }
}

}  // namespace headway::kernels::cuda
