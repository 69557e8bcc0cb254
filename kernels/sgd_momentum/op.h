// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

#include "kernels/loops/sgd_parameters.h"
#include "kernels/work.h"

namespace headway::kernels {

/// One parameter tensor. No two pointers overlap.
struct SgdTensor {
  float* parameter = nullptr;       ///< read and written
  float* velocity = nullptr;        ///< read and written
  const float* gradient = nullptr;  ///< read
  std::int64_t count = 0;
};

/// The whole update of one tensor in one pass: 3 reads, 2 writes.
void sgd_momentum(const SgdTensor& tensor, SgdParameters parameters);
/// The whole update of all tensors in one call; threads share the elements, not the tensors.
void sgd_momentum_multi_tensor(std::span<const SgdTensor> tensors, SgdParameters parameters);
constexpr Work sgd_momentum_work(std::int64_t count) {
  return {5 * count, 20 * count};
}

/// SGD as four elementwise passes per tensor, as in an unfused framework. The bits may differ from
/// the fused form where the compiler contracts a multiplication and an addition.
void sgd_decay(std::int64_t count, const float* gradient, const float* parameter, float decay,
               float* direction);                                 ///< d = g + decay · p
void sgd_scale(std::int64_t count, float factor, float* values);  ///< v = factor · v
void sgd_accumulate(std::int64_t count, const float* direction, float* velocity);  ///< v = v + d
void sgd_apply(std::int64_t count, const float* velocity, float rate,
               float* parameter);  ///< p = p - rate · v
constexpr Work sgd_decay_work(std::int64_t count) {
  return {2 * count, 12 * count};
}
constexpr Work sgd_scale_work(std::int64_t count) {
  return {count, 8 * count};
}
constexpr Work sgd_accumulate_work(std::int64_t count) {
  return {count, 12 * count};
}
constexpr Work sgd_apply_work(std::int64_t count) {
  return {2 * count, 12 * count};
}

namespace reference {
/// Computed in double, rounded once at the end.
void sgd_momentum(const SgdTensor& tensor, SgdParameters parameters);
}  // namespace reference

}  // namespace headway::kernels
