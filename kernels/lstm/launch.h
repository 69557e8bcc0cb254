// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/lstm/op.h"

namespace headway::kernels::cuda {

/// A recurrent layer (kernels/lstm/op.h) on arrays of one format; arithmetic and what is carried from step to step
/// backwards is FP32. How many steps the batch uses is known on the device only: `used` is written there first.
struct LstmArrays {
  const std::int32_t* used = nullptr;  ///< one number, by lstm_used
  const void* input = nullptr;         ///< forward: [steps·rows][4·hidden]
  const void* weights =
      nullptr;  ///< whole layer only; forward: [hidden][4·hidden], else [4·hidden][hidden]
  const float* product = nullptr;  ///< step by step: [rows][4·hidden], h before by the weights
  void* gates = nullptr;
  void* cell = nullptr;
  void* h = nullptr;
  void* before = nullptr;
  const void* dh = nullptr;  ///< backward, as the rest
  void* dgates = nullptr;
  float* dh_later =
      nullptr;  ///< step by step: [rows][hidden], dgates of the later step by the weights
  float* dcell = nullptr;  ///< step by step: [rows][hidden], from step to step
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

/// Steps that some sequence uses: one more than the last with a token >= 0.
Launch lstm_used(const LstmShape& shape, const std::int32_t* tokens, std::int32_t* used);

/// What follows the product of one step: gates, cell, h and h before; zeros from `used` on. Forward in the order of
/// steps. Step 0 has no product.
Launch lstm_cell_forward(const Limits& limits, NumberFormat format, const LstmShape& shape,
                         std::int64_t step, const LstmArrays& arrays);
/// The gradient of one step's gates, last step first; `dh_later` is not read in the last step that is used.
Launch lstm_cell_backward(const Limits& limits, NumberFormat format, const LstmShape& shape,
                          std::int64_t step, const LstmArrays& arrays);

/// Widest layer that the kernels of whole layers take.
inline constexpr std::int64_t kMostLstmHidden = 2048;
/// The whole layer in one kernel. A block keeps some sequences over all steps and meets no other; it reads the weights
/// once a step, from the second-level cache. Made for many launches' sake: small layers, where a step's product and
/// cell take less time than their launches.
Launch lstm_forward(const Limits& limits, NumberFormat format, const LstmShape& shape,
                    const LstmArrays& arrays);
Launch lstm_backward(const Limits& limits, NumberFormat format, const LstmShape& shape,
                     const LstmArrays& arrays);

}  // namespace headway::kernels::cuda
