// SPDX-License-Identifier: MIT
#include "kernels/trust_ratio/op.h"

#include <cmath>
#include <mutex>

#include "kernels/loops/loops.h"
#include "kernels/tensor_list.h"

namespace headway::kernels {
namespace {

/// Floats whose squares are summed before the sum becomes a double.
constexpr std::int64_t kBlock = 4096;

double squares_of(const float* values, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; i += kBlock)
    sum += loops().row_squares(std::min(kBlock, count - i), values + i, 0);
  return sum;
}

template <class Tensor>
std::size_t index_in(std::span<const Tensor> tensors, const Tensor& tensor) {
  return static_cast<std::size_t>(&tensor - tensors.data());
}

}  // namespace

void squared_norms(std::span<const NormTensor> tensors, std::span<double> sums) {
  for (double& sum : sums) sum = 0;
  std::mutex mutex;
  for_each_piece(tensors, [&](const NormTensor& t, std::int64_t from, std::int64_t to) {
    const double part = squares_of(t.values + from, to - from);
    std::scoped_lock lock(mutex);
    sums[index_in(tensors, t)] += part;
  });
}

void lamb_directions(std::span<const AdamTensor> tensors, const AdamStep& by,
                     std::span<float* const> directions) {
  for_each_piece(tensors, [&](const AdamTensor& t, std::int64_t from, std::int64_t to) {
    loops().adam_direction(to - from, t.trained() + from, t.mean + from, t.variance + from,
                           t.gradient + from, by, directions[index_in(tensors, t)] + from);
  });
}

void lamb_apply(std::span<const AdamTensor> tensors, const AdamStep& by,
                std::span<float* const> directions, std::span<const double> parameter_squares,
                std::span<const double> direction_squares) {
  for_each_piece(tensors, [&](const AdamTensor& t, std::int64_t from, std::int64_t to) {
    const std::size_t i = index_in(tensors, t);
    const float ratio = lamb_ratio(parameter_squares[i], direction_squares[i]);
    loops().sgd_apply(to - from, directions[i] + from, by.rate * ratio, t.trained() + from);
    if (t.master) loops().round_to(t.format, to - from, t.master + from, t.parameter + from);
  });
}

void lars_apply(std::span<const AdamTensor> tensors, const LarsStep& by,
                std::span<const double> parameter_squares,
                std::span<const double> gradient_squares) {
  for_each_piece(tensors, [&](const AdamTensor& t, std::int64_t from, std::int64_t to) {
    const std::size_t i = index_in(tensors, t);
    const float step = by.rate * lars_ratio(by, parameter_squares[i], gradient_squares[i]);
    float* p = t.trained() + from;
    float* v = t.mean + from;
    const float* g = t.gradient + from;
    const std::int64_t n = to - from;
    loops().sgd_scale(n, by.momentum, v);
    loops().sgd_apply(n, g, -step * by.gradient_scale, v);
    loops().sgd_apply(n, p, -step * by.decay, v);
    loops().sgd_apply(n, v, 1, p);
    if (t.master) loops().round_to(t.format, n, t.master + from, t.parameter + from);
  });
}

float lamb_ratio(double parameter_squares, double direction_squares) {
  if (!(parameter_squares > 0) || !(direction_squares > 0)) return 1;
  return static_cast<float>(std::sqrt(parameter_squares / direction_squares));
}

float lars_ratio(const LarsStep& by, double parameter_squares, double gradient_squares) {
  const double p = std::sqrt(parameter_squares);
  const double g = std::sqrt(gradient_squares) * by.gradient_scale;
  if (!(p > 0) || !(g > 0)) return by.trust;
  return static_cast<float>(by.trust * p / (g + by.decay * p));
}

}  // namespace headway::kernels
