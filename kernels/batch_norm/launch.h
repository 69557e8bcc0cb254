// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/batch_norm/op.h"
#include "kernels/column_sum/launch.h"

namespace headway::kernels::cuda {

/// Batch normalisation (kernels/batch_norm/op.h) of arrays of one format; per-channel arrays are
/// FP32. The mask of Add-ReLU has one bit per element: byte row · mask_row_bytes + channel/8, bit
/// channel%8.
struct BatchNormArrays {
  const void* x = nullptr;
  const void* residual = nullptr;  ///< kAddRelu
  const void* dy = nullptr;        ///< backward
  const float* gamma = nullptr;
  const float* beta = nullptr;
  float* running_mean = nullptr;
  float* running_variance = nullptr;
  float* saved_mean = nullptr;
  float* saved_rstd = nullptr;
  std::uint8_t* mask = nullptr;  ///< kAddRelu
  void* y = nullptr;             ///< forward
  void* dx = nullptr;            ///< backward, as the three below
  void* dresidual = nullptr;     ///< kAddRelu
  float* dgamma = nullptr;
  float* dbeta = nullptr;
  float* scratch = nullptr;
};
constexpr std::int64_t mask_row_bytes(int channels) {
  return (channels + 7) / 8;
}
/// Floats of `scratch`; enough for either direction.
std::int64_t batch_norm_scratch_floats(const Limits& limits, BatchNormShape shape);

/// Each thread computes statistics by Welford's update; Chan's formula joins them in two stages.
/// One more pass normalises.
Launches batch_norm_forward(const Limits& limits, NumberFormat format, BatchNormShape shape,
                            Epilogue epilogue, float epsilon, float momentum,
                            const BatchNormArrays& arrays);
Launches batch_norm_inference(const Limits& limits, NumberFormat format, BatchNormShape shape,
                              Epilogue epilogue, float epsilon, const BatchNormArrays& arrays);
Launches batch_norm_backward(const Limits& limits, NumberFormat format, BatchNormShape shape,
                             Epilogue epilogue, const BatchNormArrays& arrays);

struct BatchNormParameters {
  ColumnTiles tiles;
  BatchNormArrays arrays;
  const float* variance;  ///< inference: rstd = 1 / sqrt(variance + epsilon); else null
  float epsilon;
};
struct BatchNormFinishParameters {
  BatchNormArrays arrays;
  std::int64_t rows;
  std::int64_t channels;
  int parts;
  float epsilon;
  float momentum;
};

}  // namespace headway::kernels::cuda
