// SPDX-License-Identifier: MIT
// Generated code of row programs against the interpreter, bit by bit where no sums are added, and against double precision.
#include <doctest/doctest.h>

#include <deque>
#include <random>

#include "common/error.h"
#include "kernels/row_program/launch.h"
#include "kernels/row_program/launch_code.h"
#include "tests/kernels/cuda/gpu.h"
#include "tests/kernels/cuda/row_reference.h"
#include "tests/kernels/random_array.h"

namespace headway::test {
namespace {

using namespace kernels::cuda;
using kernels::RowInstruction;
using kernels::RowKind;
using kernels::RowOp;
using kernels::RowProgram;
using enum RowOp;

constexpr NumberFormat kFull = NumberFormat::kFloat32;
constexpr std::uint64_t kSeed = 5;

bool can_generate() {
  if (!gpu().library().compiles()) MESSAGE("[skipped] ", gpu().no_compiler());
  return gpu().library().compiles();
}

/// One program over random inputs. Arrays with more than a value per column lie in `format`, `offset` elements behind a multiple
/// of 16 bytes.
struct Case {
  const RowProgram& program;
  NumberFormat format = kFull;
  std::size_t offset = 0;

  NumberFormat format_of(RowKind kind) const {
    return kind == RowKind::kPerColumn ? kFull : format;
  }
  std::vector<std::vector<float>> inputs() const {
    std::vector<std::vector<float>> in;
    for (RowKind kind : program.inputs) {
      in.push_back(
          random_floats(size_of(kind, program), 10 + static_cast<std::uint32_t>(in.size())));
      if (in.size() == 1)
        for (float& x : in.back()) x = std::abs(x);  // what a root may be taken of
      in.back() = rounded(format_of(kind), in.back());
    }
    return in;
  }
  std::vector<std::vector<float>> run(RowVariant variant) const {
    std::vector<RowArray> in, out;
    std::deque<Array> arrays;
    std::size_t place = 0;
    for (const auto& values : inputs()) {
      const NumberFormat lies = format_of(program.inputs[place++]);
      in.push_back({arrays.emplace_back(lies, values, offset).get(), lies});
    }
    const auto kinds = program.kinds();
    for (int value : program.outputs) {
      const RowKind kind = kinds[static_cast<std::size_t>(value)];
      const NumberFormat lies = format_of(kind);
      out.push_back({arrays.emplace_back(lies, size_of(kind, program), offset).get(), lies});
    }
    gpu().run(run_row_program(gpu().limits(), program, in, out, kSeed, variant));
    std::vector<std::vector<float>> results;
    for (std::size_t i = in.size(); i < arrays.size(); ++i) results.push_back(arrays[i].read());
    return results;
  }
  std::vector<std::vector<float>> expected() const {
    const RowReference reference(program, inputs(), kSeed);
    std::vector<std::vector<float>> all;
    for (int value : program.outputs) {
      const Doubles& exact = reference.value(value);
      all.emplace_back(exact.begin(), exact.end());
    }
    return all;
  }
};

double difference(const std::vector<std::vector<float>>& a,
                  const std::vector<std::vector<float>>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, largest_difference(a[i], b[i]));
  return largest;
}

/// Two full inputs, one per row, one per column; then every instruction but sums, with every kind of operand that it takes.
RowProgram every_instruction(std::int64_t rows, std::int64_t columns) {
  RowProgram program{rows,
                     columns,
                     {RowKind::kFull, RowKind::kFull, RowKind::kPerRow, RowKind::kPerColumn},
                     {{kSpread, 2, -1, 0.75F}, {kScale, 3, -1, 3.0F}, {kRelu, 2}},
                     {}};
  for (RowOp op : {kScale, kRelu, kGelu, kTanh, kDropout, kRsqrt})
    program.instructions.push_back({op, 0, -1, 0.25F, 3});
  for (RowOp op :
       {kAdd, kSubtract, kMultiply, kReluBackward, kGeluBackward, kTanhBackward, kRsqrtBackward})
    for (int other : {1, 2, 3}) program.instructions.push_back({op, 0, other});
  program.instructions.push_back({kMultiply, 2, 0});
  for (NumberFormat format : {NumberFormat::kTf32, NumberFormat::kFloat16, NumberFormat::kBfloat16})
    program.instructions.push_back({kRound, 1, -1, 0, 0, format});
  for (std::size_t i = 0; i < program.instructions.size(); ++i)
    program.outputs.push_back(static_cast<int>(program.inputs.size() + i));
  return program;
}

/// mean, x - mean, its square's mean, rsqrt, times gamma, plus beta.
RowProgram layer_norm(std::int64_t rows, std::int64_t columns) {
  return {rows,
          columns,
          {RowKind::kFull, RowKind::kPerColumn, RowKind::kPerColumn},
          {{kRowMean, 0},
           {kSubtract, 0, 3},
           {kMultiply, 4, 4},
           {kRowMean, 5},
           {kRsqrt, 6, -1, 1e-5F},
           {kMultiply, 4, 7},
           {kMultiply, 8, 1},
           {kAdd, 9, 2}},
          {4, 7, 10}};
}

/// Instructions over whatever comes before them.
RowProgram random_program(std::uint32_t seed, std::int64_t rows, std::int64_t columns, bool sums) {
  std::mt19937 engine(seed);
  auto below = [&](std::size_t count) { return static_cast<int>(engine() % count); };
  RowProgram program{rows,
                     columns,
                     {RowKind::kFull, RowKind::kFull, RowKind::kPerRow, RowKind::kPerColumn},
                     {},
                     {}};
  const RowOp unary[] = {kScale, kRelu, kGelu, kTanh, kDropout, kRound};
  const RowOp binary[] = {kAdd, kSubtract, kMultiply, kReluBackward, kGeluBackward, kTanhBackward};
  for (int n = 0; n < 16; ++n) {
    const auto kinds = program.kinds();
    const int a = below(kinds.size());
    const RowKind kind = kinds[static_cast<std::size_t>(a)];
    RowInstruction by{kTanh, a};
    if (sums && n % 5 == 2 && kind == RowKind::kFull) {
      by.op = below(2) == 0 ? kRowMean : kRowSum;
    } else if (below(3) == 0) {
      by = {kind == RowKind::kFull ? unary[below(std::size(unary))] : kTanh, a, -1, 0.5F,
            static_cast<std::uint32_t>(n)};
    } else {
      by = {binary[below(std::size(binary))], a, below(kinds.size())};
    }
    program.instructions.push_back(by);
    if (n % 3 == 0 || n == 15) program.outputs.push_back(static_cast<int>(kinds.size()));
  }
  return program;
}

}  // namespace

TEST_CASE("generated code has the interpreter's bits, every instruction, format and alignment") {
  if (!can_generate()) return;
  for (auto [rows, columns] : {std::pair{1L, 1L}, {7L, 33L}, {5L, 300L}, {40L, 64L}}) {
    CAPTURE(columns);
    const RowProgram program = every_instruction(rows, columns);
    for (NumberFormat format : kFormats) {
      CAPTURE(name_of(format));
      const Case aligned{program, format};
      const auto generated = aligned.run(RowVariant::kGenerated);
      CHECK(generated == aligned.run(RowVariant::kInterpreted));
      CHECK(difference(generated, aligned.expected()) < tolerance(format));
      CHECK(Case{program, format, 1}.run(RowVariant::kGenerated) == generated);
    }
  }
}

TEST_CASE(
    "generated code of a program to which rows mean nothing has the interpreter's bits at any "
    "size") {
  if (!can_generate()) return;
  for (auto [rows, columns] : {std::pair{1L, 1L}, {1L, 7L}, {2L, 4L}, {17L, 59L}, {30L, 1000L}}) {
    CAPTURE(columns);
    const RowProgram program{rows,
                             columns,
                             {RowKind::kFull, RowKind::kFull},
                             {{kDropout, 0, -1, 0.25F, 3}, {kAdd, 2, 1}, {kGelu, 3}},
                             {3, 4}};
    for (NumberFormat format : kFormats)
      for (std::size_t offset : {0, 1}) {
        const Case one{program, format, offset};
        const auto generated = one.run(RowVariant::kGenerated);
        CHECK(generated == one.run(RowVariant::kInterpreted));
        CHECK(difference(generated, one.expected()) < tolerance(format));
      }
  }
}

TEST_CASE("generated sums along rows agree with double precision at every width") {
  if (!can_generate()) return;
  for (std::int64_t columns : {1, 7, 64, 100, 257, 768, 1024, 1025, 2048, 4100, 12288, 20480}) {
    CAPTURE(columns);
    const RowProgram program = layer_norm(columns > 4000 ? 3 : 50, columns);
    const Case fp32{program};
    CHECK(difference(fp32.run(RowVariant::kGenerated), fp32.expected()) < 2e-5);
    const Case bf16{program, NumberFormat::kBfloat16, columns % 3 == 0 ? 1U : 0U};
    CHECK(difference(bf16.run(RowVariant::kGenerated), bf16.expected()) <
          tolerance(NumberFormat::kBfloat16));
  }
}

TEST_CASE("generated code of several sums, of sums of sums and of nothing but sums") {
  if (!can_generate()) return;
  for (std::int64_t columns : {5, 96, 1536}) {
    CAPTURE(columns);
    const RowProgram sums{9,
                          columns,
                          {RowKind::kFull, RowKind::kFull, RowKind::kPerColumn},
                          {{kRowSum, 0}, {kRowMean, 1}, {kRowSum, 2}, {kRowSum, 3}, {kAdd, 3, 4}},
                          {3, 4, 5, 6, 7}};
    CHECK(difference(Case{sums}.run(RowVariant::kGenerated), Case{sums}.expected()) < 2e-5);
    // A layer norm's gradient: two sums that do not need one another.
    const RowProgram gradient{9,
                              columns,
                              {RowKind::kFull, RowKind::kFull, RowKind::kPerRow},
                              {{kMultiply, 0, 1},
                               {kRowMean, 0},
                               {kRowMean, 3},
                               {kMultiply, 1, 5},
                               {kSubtract, 0, 4},
                               {kSubtract, 7, 6},
                               {kMultiply, 8, 2}},
                              {9}};
    CHECK(difference(Case{gradient}.run(RowVariant::kGenerated), Case{gradient}.expected()) < 2e-5);
  }
}

TEST_CASE("generated code of random programs: the interpreter's bits, or nearly, with sums") {
  if (!can_generate()) return;
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const bool sums = seed % 2 == 0;
    const std::int64_t columns = std::int64_t{1} + seed * seed * 37 % 700;
    const RowProgram program = random_program(seed, 11, columns, sums);
    const NumberFormat format = kFormats[seed % 3];
    const Case one{program, format, seed % 4 == 3 ? 3U : 0U};
    const auto generated = one.run(RowVariant::kGenerated);
    const auto interpreted = one.run(RowVariant::kInterpreted);
    if (sums)
      CHECK(difference(generated, interpreted) < 2 * tolerance(format));
    else
      CHECK(generated == interpreted);
  }
}

TEST_CASE("generated code may write over what it reads, and its seed changes in place") {
  if (!can_generate()) return;
  const RowProgram program{30,
                           264,
                           {RowKind::kFull},
                           {{kRowMean, 0}, {kSubtract, 0, 1}, {kDropout, 2, -1, 0.5F, 7}},
                           {3}};
  const auto x = random_floats(30 * 264, 4);
  const Array apart(kFull, x), result(kFull, 30 * 264), over(kFull, x);
  auto launch = [&](const Array& from, const Array& to, std::uint64_t seed) {
    const RowArray in[] = {{from.get()}};
    const RowArray out[] = {{to.get()}};
    return run_row_program(gpu().limits(), program, in, out, seed, RowVariant::kGenerated);
  };
  gpu().run(launch(apart, result, 1));
  gpu().run(launch(over, over, 1));
  CHECK(over.read() == result.read());
  Launch changed = launch(apart, result, 1);
  const Launch other = launch(apart, result, 2);
  CHECK(changed.parameters != other.parameters);
  CHECK(*changed.code == *other.code);
  set_row_program_seed(changed, program, 2);
  CHECK(changed.parameters == other.parameters);
  gpu().run(changed);
  CHECK(over.read() != result.read());
}

TEST_CASE("code that does not compile fails with the compiler's log") {
  if (!can_generate()) return;
  Launch launch{.kernel = "broken",
                .code = std::make_shared<const std::string>("this is no code;\n"),
                .grid = {},
                .parameters = std::vector<std::byte>(8)};
  std::string message;
  try {
    gpu().run(launch);
  } catch (const Error& error) {
    message = error.what();
  }
  CAPTURE(message);
  CHECK(message.find(" cannot compile broken for ") != std::string::npos);
  CHECK(message.find("error") != std::string::npos);
  CHECK(message.find("this") != std::string::npos);
}

}  // namespace headway::test
