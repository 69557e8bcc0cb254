// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/multibox/op.h"

namespace headway::kernels::cuda {

/// The loss of a detector in parts (kernels/multibox/op.h). Logarithms, offsets and their gradients are in one format,
/// the rest FP32.
struct MultiboxArrays {
  const void* log_probabilities = nullptr;  ///< [rows][classes]
  const std::int32_t* labels = nullptr;
  float* losses = nullptr;  ///< as background, one per row
  std::uint8_t* picked = nullptr;
  std::int32_t* places = nullptr;  ///< of what is picked, then -1
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
/// Doubles of scratch memory of any of the launches below.
std::int64_t multibox_scratch_doubles(const Limits& limits, const MultiboxShape& shape);

Launch background_losses(const Limits& limits, NumberFormat format, const MultiboxShape& shape,
                         const MultiboxArrays& arrays);
/// A block per image finds the loss of the last negative that is picked by its bits, eight at a time; of equals the
/// first are picked.
Launch pick_hard_negatives(const Limits& limits, const MultiboxShape& shape,
                           const MultiboxArrays& arrays);
/// Counts of pieces of the rows, then the places: one block's result needs no other's.
Launches compact(const Limits& limits, const MultiboxShape& shape, const MultiboxArrays& arrays);
/// Sums in double, in an order that the shape and the GPU decide.
Launches multibox_loss_forward(const Limits& limits, NumberFormat format,
                               const MultiboxShape& shape, const MultiboxArrays& arrays);
Launches multibox_loss_backward(const Limits& limits, NumberFormat format,
                                const MultiboxShape& shape, const MultiboxArrays& arrays);

}  // namespace headway::kernels::cuda
