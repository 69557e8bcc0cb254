// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/lstm/op.h"

namespace headway::kernels::cuda {

/// A recurrent layer (kernels/lstm/op.h) on arrays of one format; arithmetic, and values carried
/// from step to step in the backward pass, are FP32. The number of steps that the batch uses is
/// known only on the device: lstm_used must write `used` first.
struct LstmArrays {
  const std::int32_t* used = nullptr;  ///< one number, by lstm_used
  const void* input = nullptr;         ///< forward: [steps·rows][4·hidden]
  const void* weights =
      nullptr;  ///< whole layer only; forward: [hidden][4·hidden], else [4·hidden][hidden]
  const float* product = nullptr;  ///< step by step: [rows][4·hidden], h before times the weights
  void* gates = nullptr;
  void* cell = nullptr;
  void* h = nullptr;
  void* before = nullptr;
  const void* dh = nullptr;  ///< backward, as the rest
  void* dgates = nullptr;
  float* dh_later =
      nullptr;  ///< step by step: [rows][hidden], dgates of the later step by the weights
  float* dcell = nullptr;  ///< step by step: [rows][hidden], passed from step to step
};
struct LstmParameters {
  LstmShape shape;
  LstmArrays arrays;
  std::int64_t step;
  int rows_per_block;  ///< whole layer only
};
struct LstmUsedParameters {
  LstmShape shape;
  const std::int32_t* tokens;
  std::int32_t* used;
};

/// Writes the number of steps that some sequence uses: one more than the last step with a token >=
/// 0.
Launch lstm_used(const LstmShape& shape, const std::int32_t* tokens, std::int32_t* used);

/// The part of one step after the product: gates, cell, h and h before; zeros from `used` on. Call
/// it for steps in ascending order. Step 0 has no product.
Launch lstm_cell_forward(const Limits& limits, NumberFormat format, const LstmShape& shape,
                         std::int64_t step, const LstmArrays& arrays);
/// The gradient of one step's gates. Call it for the last step first; `dh_later` is not read in the
/// last step that is used.
Launch lstm_cell_backward(const Limits& limits, NumberFormat format, const LstmShape& shape,
                          std::int64_t step, const LstmArrays& arrays);

/// The widest layer that the whole-layer kernels accept.
inline constexpr std::int64_t kMostLstmHidden = 2048;
/// The whole layer in one kernel. A block processes some sequences over all steps and does not
/// synchronise with other blocks. It reads the weights once per step, from the second-level cache.
/// It saves launches for small layers, where a step's product and cell take less time than their
/// launches.
Launch lstm_forward(const Limits& limits, NumberFormat format, const LstmShape& shape,
                    const LstmArrays& arrays);
Launch lstm_backward(const Limits& limits, NumberFormat format, const LstmShape& shape,
                     const LstmArrays& arrays);

}  // namespace headway::kernels::cuda
