// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <deque>

#include "kernels/row_program/launch.h"
#include "kernels/softmax/launch.h"
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

constexpr NumberFormat kFull = NumberFormat::kFloat32;

/// Runs the program here and there, and compares all outputs. Arrays of more than a row lie in `format`.
void check_program(const RowProgram& program, double bound = 2e-6, NumberFormat format = kFull) {
  std::vector<std::vector<float>> in, out;
  std::vector<const float*> in_host;
  std::vector<float*> out_host;
  std::vector<RowArray> in_device, out_device;
  std::deque<Array> arrays;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    in.push_back(
        random_floats(size_of(program.inputs[i], program), 10 + static_cast<std::uint32_t>(i)));
    if (i == 0)
      for (float& x : in.back()) x = std::abs(x);  // what a root may be taken of
    const NumberFormat lies = program.inputs[i] == RowKind::kPerColumn ? kFull : format;
    in.back() = rounded(lies, in.back());
    in_device.push_back({arrays.emplace_back(lies, in.back()).get(), lies});
  }
  for (int value : program.outputs) {
    const std::int64_t count = size_of(program.kinds()[static_cast<std::size_t>(value)], program);
    out.emplace_back(static_cast<std::size_t>(count));
    out_device.push_back({arrays.emplace_back(format, count).get(), format});
  }
  for (auto& values : in) in_host.push_back(values.data());
  for (auto& values : out) out_host.push_back(values.data());
  kernels::run_row_program(program, in_host, out_host, 5);
  gpu().run(run_row_program(gpu().limits(), program, in_device, out_device, 5));
  for (std::size_t i = 0; i < out.size(); ++i)
    CHECK(largest_difference(arrays[in.size() + i].read(), out[i]) < bound);
}

}  // namespace

TEST_CASE("every elementwise instruction does what the processor's does, alone") {
  const RowOp unary[] = {RowOp::kScale, RowOp::kRelu,    RowOp::kGelu,
                         RowOp::kTanh,  RowOp::kDropout, RowOp::kRsqrt};
  const RowOp binary[] = {RowOp::kAdd,          RowOp::kSubtract,     RowOp::kMultiply,
                          RowOp::kReluBackward, RowOp::kGeluBackward, RowOp::kTanhBackward,
                          RowOp::kRsqrtBackward};
  for (auto [rows, columns] : {std::pair{1L, 1L}, {7L, 33L}, {40L, 300L}}) {
    CAPTURE(columns);
    for (RowOp op : unary) {
      CAPTURE(static_cast<int>(op));
      check_program({rows, columns, {RowKind::kFull}, {{op, 0, -1, 0.25F, 3}}, {1}});
    }
    for (RowOp op : binary) {
      CAPTURE(static_cast<int>(op));
      check_program({rows, columns, {RowKind::kFull, RowKind::kFull}, {{op, 0, 1}}, {2}});
      check_program({rows, columns, {RowKind::kFull, RowKind::kPerRow}, {{op, 0, 1}}, {2}});
      check_program({rows, columns, {RowKind::kFull, RowKind::kPerColumn}, {{op, 0, 1}}, {2}});
    }
    for (NumberFormat format :
         {NumberFormat::kTf32, NumberFormat::kFloat16, NumberFormat::kBfloat16})
      check_program({rows, columns, {RowKind::kFull}, {{RowOp::kRound, 0, -1, 0, 0, format}}, {1}},
                    1e-9);
    check_program({rows, columns, {RowKind::kPerRow}, {{RowOp::kSpread, 0, -1, 0.5F}}, {1}});
    check_program(
        {rows, columns, {RowKind::kFull}, {{RowOp::kRowMean, 0}, {RowOp::kRowSum, 0}}, {1, 2}},
        2e-5);
  }
}

TEST_CASE("a layer norm of elementwise ops, as the graph compiler joins it, is one launch") {
  // mean, x - mean, its square's mean, rsqrt, times gamma, plus beta: what comes out is needed later, too.
  const RowProgram program{50,
                           257,
                           {RowKind::kFull, RowKind::kPerColumn, RowKind::kPerColumn},
                           {{RowOp::kRowMean, 0},
                            {RowOp::kSubtract, 0, 3},
                            {RowOp::kMultiply, 4, 4},
                            {RowOp::kRowMean, 5},
                            {RowOp::kRsqrt, 6, -1, 1e-5F},
                            {RowOp::kMultiply, 4, 7},
                            {RowOp::kMultiply, 8, 1},
                            {RowOp::kAdd, 9, 2}},
                           {4, 7, 10}};
  check_program(program, 2e-5);
}

TEST_CASE("a program reads and writes arrays of every format") {
  for (NumberFormat format : kFormats) {
    CAPTURE(name_of(format));
    check_program({13,
                   65,
                   {RowKind::kFull, RowKind::kPerRow, RowKind::kPerColumn},
                   {{RowOp::kAdd, 0, 1}, {RowOp::kMultiply, 3, 2}, {RowOp::kRowSum, 4}},
                   {4, 5}},
                  tolerance(format), format);
  }
}

TEST_CASE("the seed of a launch is changed in place") {
  const RowProgram program{3,
                           40,
                           {RowKind::kFull},
                           {{RowOp::kScale, 0, -1, 2.0F}, {RowOp::kDropout, 1, -1, 0.5F, 7}},
                           {2}};
  const Array x(kFull, std::vector<float>(120, 1.0F));
  const Array y(kFull, 120);
  const RowArray in[] = {{x.get()}};
  const RowArray out[] = {{y.get()}};
  Launch launch = run_row_program(gpu().limits(), program, in, out, 1);
  const Launch other = run_row_program(gpu().limits(), program, in, out, 2);
  CHECK(launch.parameters != other.parameters);
  set_row_program_seed(launch, program, 2);
  CHECK(launch.parameters == other.parameters);
}

TEST_CASE("a program that is too long is refused") {
  RowProgram program{2, 2, {RowKind::kFull}, {}, {65}};
  for (int i = 0; i < 65; ++i) program.instructions.push_back({RowOp::kRelu, i});
  const Array x(kFull, {1, 2, 3, 4});
  const RowArray in[] = {{x.floats()}};
  const RowArray out[] = {{x.floats()}};
  CHECK_THROWS_WITH(run_row_program(gpu().limits(), program, in, out, 0),
                    "Kernel row_program: the program has more than 64 instructions or 96 values.");
}

TEST_CASE("softmax, log-softmax and their gradients agree with double precision at every width") {
  for (NumberFormat format : kFormats) {
    CAPTURE(name_of(format));
    for (auto [rows, columns] : {std::pair{1L, 1L},
                                 {40L, 7L},
                                 {33L, 64L},
                                 {9L, 1024L},
                                 {5L, 1025L},
                                 {3L, 8192L},
                                 {3L, 9001L}}) {
      CAPTURE(columns);
      const std::int64_t count = rows * columns;
      const auto x = rounded(format, random_floats(count, 1, 0, 2)),
                 dy = rounded(format, random_floats(count, 2));
      std::vector<float> soft(x), logs(x), dsoft(x), dlogs(x);
      const Array dev_x(format, x), dev_dy(format, dy), y(format, count), log_y(format, count),
          dx(format, count);
      gpu().run(softmax_forward(gpu().limits(), format, rows, columns, dev_x.get(), y.get()));
      gpu().run(
          log_softmax_forward(gpu().limits(), format, rows, columns, dev_x.get(), log_y.get()));
      const auto got_y = y.read(), got_logs = log_y.read();
      for (std::int64_t row = 0; row < rows; ++row) {
        const auto first = static_cast<std::size_t>(row * columns),
                   end = first + static_cast<std::size_t>(columns);
        double sum = 0, both = 0, all = 0;
        for (std::size_t i = first; i < end; ++i) {
          sum += std::exp(double{x[i]});
          both += double{got_y[i]} * dy[i];
          all += dy[i];
        }
        for (std::size_t i = first; i < end; ++i) {
          soft[i] = static_cast<float>(std::exp(double{x[i]}) / sum);
          logs[i] = static_cast<float>(x[i] - std::log(sum));
          dsoft[i] = static_cast<float>(got_y[i] * (dy[i] - both));
          dlogs[i] = static_cast<float>(dy[i] - std::exp(double{got_logs[i]}) * all);
        }
      }
      CHECK(largest_difference(got_y, soft) < tolerance(format));
      CHECK(largest_difference(got_logs, logs) < tolerance(format));
      gpu().run(
          softmax_backward(gpu().limits(), format, rows, columns, y.get(), dev_dy.get(), dx.get()));
      CHECK(largest_difference(dx.read(), dsoft) < tolerance(format));
      gpu().run(log_softmax_backward(gpu().limits(), format, rows, columns, log_y.get(),
                                     dev_dy.get(), dx.get()));
      CHECK(largest_difference(dx.read(), dlogs) < tolerance(format));
      gpu().run(softmax_forward(gpu().limits(), format, rows, columns, dev_x.get(), dev_x.get()));
      CHECK(dev_x.read() == got_y);
    }
  }
}

}  // namespace headway::test
