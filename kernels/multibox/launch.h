// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/multibox/op.h"

namespace headway::kernels::cuda {

/// The loss of a detector as several ops (kernels/multibox/op.h). Log probabilities, offsets and
/// their gradients have one format, the rest is FP32.
struct MultiboxArrays {
  const void* log_probabilities = nullptr;  ///< [rows][classes]
  const std::int32_t* labels = nullptr;
  float* losses = nullptr;  ///< from background_losses, one per row
  std::uint8_t* picked = nullptr;
  std::int32_t* places = nullptr;  ///< indices of the picked rows, then -1
  const void* offsets = nullptr;   ///< [rows][4]
  const float* targets = nullptr;
  LossFigures* figures = nullptr;
  void* dlog_probabilities = nullptr;
  void* doffsets = nullptr;
  const float* state = nullptr;  ///< OptimizerState with the loss scale of the gradients; null: 1
  double* parts = nullptr;       ///< scratch: multibox_scratch_doubles
};
struct MultiboxParameters {
  MultiboxShape shape;
  MultiboxArrays arrays;
};
/// Doubles of scratch memory that any of the launches below needs.
std::int64_t multibox_scratch_doubles(const Limits& limits, const MultiboxShape& shape);

Launch background_losses(const Limits& limits, NumberFormat format, const MultiboxShape& shape,
                         const MultiboxArrays& arrays);
/// A block per image finds the loss of the last picked negative by its bits, eight at a time. Of
/// equal losses the first rows are picked.
Launch pick_hard_negatives(const Limits& limits, const MultiboxShape& shape,
                           const MultiboxArrays& arrays);
/// Counts picked rows by piece, then writes their indices; no block's result depends on another's.
Launches compact(const Limits& limits, const MultiboxShape& shape, const MultiboxArrays& arrays);
/// Sums in double, in an order that depends on the shape and the GPU only.
Launches multibox_loss_forward(const Limits& limits, NumberFormat format,
                               const MultiboxShape& shape, const MultiboxArrays& arrays);
Launches multibox_loss_backward(const Limits& limits, NumberFormat format,
                                const MultiboxShape& shape, const MultiboxArrays& arrays);

}  // namespace headway::kernels::cuda
