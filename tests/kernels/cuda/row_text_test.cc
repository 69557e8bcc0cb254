// SPDX-License-Identifier: MIT
// The text of generated code, without a compiler: what it depends on, how rows are shared among threads, what is refused.
#include <doctest/doctest.h>

#include "common/error.h"
#include "kernels/row_program/launch.h"
#include "kernels/row_program/launch_code.h"

namespace headway::kernels::cuda {
namespace {

constexpr Limits kLimits;
constexpr auto kFull = RowKind::kFull;
constexpr auto kPerColumn = RowKind::kPerColumn;

/// Arrays at addresses that are never followed.
std::vector<RowArray> arrays(std::size_t count, NumberFormat format = NumberFormat::kFloat32,
                             std::uintptr_t first = 4096) {
  std::vector<RowArray> list;
  for (std::size_t i = 0; i < count; ++i)
    list.push_back({reinterpret_cast<void*>(first + 4096 * i), format});
  return list;
}

Launch generated(const RowProgram& program, const std::vector<RowArray>& in,
                 const std::vector<RowArray>& out, std::uint64_t seed = 0) {
  return run_row_program(kLimits, program, in, out, seed, RowVariant::kGenerated);
}

RowProgram bias_dropout(std::int64_t rows, std::int64_t columns, std::uint32_t key = 1) {
  return {rows,
          columns,
          {kFull, kPerColumn},
          {{RowOp::kAdd, 0, 1}, {RowOp::kDropout, 2, -1, 0.1F, key}},
          {3}};
}
RowProgram layer_norm(std::int64_t columns) {
  return {100,
          columns,
          {kFull},
          {{RowOp::kRowMean, 0},
           {RowOp::kSubtract, 0, 1},
           {RowOp::kMultiply, 2, 2},
           {RowOp::kRowMean, 3}},
          {2, 4}};
}

std::string refusal(const RowProgram& program, const std::vector<RowArray>& in) {
  try {
    generated(program, in, arrays(program.outputs.size()));
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("programs that differ in rows, addresses, seeds and dropout's keys are one text") {
  const Launch one = generated(bias_dropout(10, 64), arrays(2), arrays(1));
  const Launch other = generated(bias_dropout(999, 64, 7), arrays(2, {}, 65536), arrays(1), 5);
  CHECK(*one.code == *other.code);
  CHECK(one.kernel == other.kernel);
  CHECK(one.parameters != other.parameters);
  CHECK(one.parameters.size() == other.parameters.size());
  CHECK(one.kernel.starts_with("fused_add_dropout_"));
  CHECK(one.code->find("HEADWAY_KERNEL(" + one.kernel + ", ") != std::string::npos);
  CHECK(one.grid.x == 1);     // 80 packs of 8
  CHECK(other.grid.x == 32);  // 7992
}

TEST_CASE("columns, formats, constants and addresses that are no multiple of 16 are other texts") {
  const RowProgram program = bias_dropout(10, 64);
  const Launch usual = generated(program, arrays(2), arrays(1));
  auto differs = [&](const Launch& launch) {
    CHECK(launch.kernel != usual.kernel);
    CHECK(*launch.code != *usual.code);
  };
  differs(generated(bias_dropout(10, 72), arrays(2), arrays(1)));
  differs(generated(program, arrays(2, NumberFormat::kBfloat16), arrays(1)));
  differs(generated(program, arrays(2), arrays(1, NumberFormat::kFloat16)));
  differs(generated(program, arrays(2, {}, 4100), arrays(1)));
  RowProgram drops_more = program;
  drops_more.instructions[1].constant = 0.2F;
  differs(generated(drops_more, arrays(2), arrays(1)));
}

TEST_CASE("a program to which rows mean nothing is one text for every shape") {
  auto relu = [](std::int64_t rows, std::int64_t columns) {
    const RowProgram program{rows, columns, {kFull}, {{RowOp::kRelu, 0}}, {1}};
    return generated(program, arrays(1), arrays(1));
  };
  CHECK(relu(1, 1).kernel == relu(77, 3001).kernel);
  CHECK(relu(1, 1).kernel.starts_with("elementwise_relu_"));
}

TEST_CASE("a row is a warp's, a block's, or read again, as its width and what must be kept want") {
  auto check = [](const RowProgram& program, bool aligned, int pack, int group, int held) {
    CAPTURE(program.columns);
    const RowCodePlan plan = plan_row_code(program, aligned);
    CHECK(plan.pack == pack);
    CHECK(plan.group == group);
    CHECK(plan.held == held);
  };
  check(layer_norm(768), true, 8, 32, 3);
  check(layer_norm(1024), true, 8, 32, 4);
  check(layer_norm(64), true, 2, 32, 1);  // a pack for every thread
  check(layer_norm(300), true, 4, 32, 3);
  check(layer_norm(300), false, 1, 32, 10);
  check(layer_norm(257), true, 1, 32, 9);
  check(layer_norm(4096), true, 8, 256, 2);
  check(layer_norm(16384), true, 8, 256, 8);
  check(layer_norm(20480), true, 8, 256, 0);
  check(bias_dropout(4, 64), true, 8, 0, 0);
  check(bias_dropout(4, 20), true, 4, 0, 0);
  check(bias_dropout(4, 33), true, 1, 0, 0);
}

TEST_CASE("constants are written exactly, and what has no text is refused") {
  RowProgram program{1, 8, {kFull}, {{RowOp::kScale, 0, -1, 0.1F}}, {1}};
  const Launch scale = generated(program, arrays(1), arrays(1));
  CHECK(scale.code->find("row_multiply(0x1.99999ap-4F, v0)") != std::string::npos);
  CHECK(refusal(program, arrays(1, NumberFormat::kTf32)) ==
        "Kernel row_program: no array in memory has the format TF32.");
  CHECK(refusal(program, arrays(1, {}, 4098)).find("no multiple of 4 bytes") != std::string::npos);
  program.instructions[0].constant = std::numeric_limits<float>::infinity();
  CHECK(refusal(program, arrays(1)) ==
        "Kernel row_program: a constant of generated code must be finite.");
}

}  // namespace headway::kernels::cuda
