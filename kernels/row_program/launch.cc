// SPDX-License-Identifier: MIT
#include "kernels/row_program/launch.h"

#include "kernels/cuda/flat.h"
#include "kernels/row_program/launch_code.h"
#include "kernels/row_program/launch_structure.h"

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
    const DropoutConstants constants = dropout_constants(by);
    to.key = dropout_key(by.key, seed);
    to.limit = constants.limit;
    to.constant = constants.scale;
  }
  return to;
}

void check_arrays(std::span<const RowArray> arrays, std::size_t wanted, const char* what) {
  require(arrays.size() == wanted, kName, "addresses and operands differ in number");
  for (const RowArray& array : arrays) {
    require(array.format != NumberFormat::kTf32, kName, "no array in memory has the format TF32");
    require_aligned(array.address, static_cast<std::size_t>(bits_of(array.format)) / 8, kName,
                    what);
  }
}

Launch interpreted(const Limits& limits, const RowProgram& program,
                   std::span<const RowArray> inputs, std::span<const RowArray> outputs,
                   std::uint64_t seed) {
  require(program.instructions.size() <= kMostRowInstructions &&
              program.inputs.size() + program.instructions.size() <= kMostRowValues,
          kName, "the program has more than 64 instructions or 96 values");
  RowProgramParameters by{};
  by.rows = program.rows;
  by.columns = program.columns;
  by.inputs = static_cast<int>(inputs.size());
  by.instructions = static_cast<int>(program.instructions.size());
  const std::vector<RowKind> kinds = program.kinds();
  std::ranges::copy(kinds, by.kinds);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    by.from[i] = inputs[i].address;
    by.formats[i] = inputs[i].format;
  }
  for (std::size_t i = 0; i < program.instructions.size(); ++i)
    by.code[i] = compiled(program.instructions[i], seed);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    by.to[program.outputs[i]] = outputs[i].address;
    by.formats[program.outputs[i]] = outputs[i].format;
  }
  if (RowStructure(program).sum_sweeps() > 0)
    return make_launch(kName, "row_program_rows", {blocks_for(program.rows, 1, limits, 8)},
                       kFlatThreads, by);
  return make_launch(kName, "row_program_elements",
                     flat_grid(limits, program.rows * program.columns, false), kFlatThreads, by);
}

template <class T>
void append(std::vector<std::byte>& bytes, const T& value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof value);
}

/// Offset of dropout's keys in the parameters of generated code.
std::size_t first_key(const RowProgram& program) {
  return sizeof(std::int64_t) + sizeof(void*) * (program.inputs.size() + program.outputs.size());
}

Launch generated(const Limits& limits, const RowProgram& program, std::span<const RowArray> inputs,
                 std::span<const RowArray> outputs, std::uint64_t seed) {
  std::vector<NumberFormat> formats[2];
  bool aligned = true;
  const std::int64_t elements = program.rows * program.columns;
  std::vector<std::byte> parameters;
  append(parameters, program.is_flat() ? elements : program.rows);
  for (const auto& [arrays, its_formats] :
       {std::pair{inputs, &formats[0]}, std::pair{outputs, &formats[1]}})
    for (const RowArray& array : arrays) {
      its_formats->push_back(array.format);
      aligned &= all_packed(array.address);
      append(parameters, array.address);
    }
  for (const RowInstruction& by : program.instructions)
    if (by.op == RowOp::kDropout) append(parameters, std::uint32_t{});
  parameters.resize((parameters.size() + 7) / 8 * 8);  // the size of the struct
  const RowCodePlan plan = plan_row_code(program, aligned);
  require(plan.group == 0 || program.columns < std::int64_t{1} << 31, kName,
          "a row that is summed must be shorter than 2^31");
  RowCode code = row_code(program, formats[0], formats[1], plan);
  const unsigned blocks = plan.group > 0
                              ? blocks_for(program.rows * plan.group, kFlatThreads, limits)
                              : blocks_for(elements / plan.pack, kFlatThreads, limits);
  Launch launch{.kernel = std::move(code.kernel),
                .code = std::make_shared<const std::string>(std::move(code.text)),
                .grid = {blocks},
                .threads = kFlatThreads,
                .parameters = std::move(parameters)};
  set_row_program_seed(launch, program, seed);
  return launch;
}

}  // namespace

Launch run_row_program(const Limits& limits, const RowProgram& program,
                       std::span<const RowArray> inputs, std::span<const RowArray> outputs,
                       std::uint64_t seed, RowVariant variant) {
  require(program.rows > 0 && program.columns > 0, kName, "there must be at least one element");
  check_arrays(inputs, program.inputs.size(), "an input");
  check_arrays(outputs, program.outputs.size(), "an output");
  const auto launch = variant == RowVariant::kGenerated ? generated : interpreted;
  return launch(limits, program, inputs, outputs, seed);
}

void set_row_program_seed(Launch& launch, const RowProgram& program, std::uint64_t seed) {
  std::size_t place = first_key(program);
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const RowInstruction& by = program.instructions[i];
    if (by.op != RowOp::kDropout) continue;
    const std::uint32_t key = dropout_key(by.key, seed);
    if (!launch.code)
      place = offsetof(RowProgramParameters, code) + i * sizeof(DeviceRowInstruction) +
              offsetof(DeviceRowInstruction, key);
    std::memcpy(launch.parameters.data() + place, &key, sizeof key);
    place += sizeof key;
  }
}

}  // namespace headway::kernels::cuda
