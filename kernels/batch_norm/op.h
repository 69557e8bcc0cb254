// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "kernels/loops/epilogue.h"
#include "kernels/work.h"

namespace headway::kernels {

/// Batch normalisation over a channels-last array of `rows` x `channels` (rows = N·H·W):
///   mean_c = E[x], var_c = E[(x - mean_c)²]          (training; biased variance)
///   z = (x - mean_c) / sqrt(var_c + epsilon) · gamma_c + beta_c
/// and, in the same pass, the operation that follows (kernels/loops/epilogue.h):
///   y = z                 Epilogue::kNone
///   y = max(z, 0)         Epilogue::kRelu
///   y = max(z + r, 0)     Epilogue::kAddRelu, r = the residual branch
///
/// Numerics: statistics in one pass, by tiles of 4096 floats, relative to the mean of the tiles
/// before. Sums are in float inside a tile and joined in double (Chan's update), so that a mean far
/// from zero costs no precision. The last bits depend on the number of threads.
/// Running statistics: running += momentum · (batch - running), with the unbiased variance, as in
/// frameworks.
struct BatchNormShape {
  std::int64_t rows = 0;
  int channels = 0;
  std::int64_t elements() const { return rows * channels; }
};

struct BatchNormForward {
  const float* x = nullptr;
  const float* residual = nullptr;  ///< kAddRelu only
  const float* gamma = nullptr;     ///< [channels]
  const float* beta = nullptr;      ///< [channels]
  float* running_mean = nullptr;    ///< [channels], read and written
  float* running_variance = nullptr;
  float* y = nullptr;            ///< may not alias x
  float* saved_mean = nullptr;   ///< [channels], for backward
  float* saved_rstd = nullptr;   ///< [channels], 1 / sqrt(var + epsilon)
  std::uint8_t* mask = nullptr;  ///< [rows·channels], kAddRelu only: 1 where y > 0
};

/// Training form. rows >= 1, channels >= 1.
void batch_norm_forward(BatchNormShape shape, Epilogue epilogue, float epsilon, float momentum,
                        const BatchNormForward& arguments);
Work batch_norm_forward_work(BatchNormShape shape, Epilogue epilogue);

/// Inference form: normalises with the running statistics and does not change them. Writes neither
/// saved statistics nor the mask (those pointers may be null).
void batch_norm_inference(BatchNormShape shape, Epilogue epilogue, float epsilon,
                          const BatchNormForward& arguments);
Work batch_norm_inference_work(BatchNormShape shape, Epilogue epilogue);

struct BatchNormBackward {
  const float* x = nullptr;
  const float* dy = nullptr;
  const float* gamma = nullptr;
  const float* beta = nullptr;  ///< kRelu only: the mask is recomputed from x
  const float* saved_mean = nullptr;
  const float* saved_rstd = nullptr;
  const std::uint8_t* mask = nullptr;  ///< kAddRelu only
  float* dx = nullptr;
  float* dgamma = nullptr;     ///< [channels]
  float* dbeta = nullptr;      ///< [channels]
  float* dresidual = nullptr;  ///< kAddRelu only: dy where the mask is set, else 0
};

/// With dz = dy masked by the epilogue and x^ = (x - mean) · rstd:
///   dbeta = sum dz,  dgamma = sum dz · x^,  dx = gamma · rstd · (dz - dbeta/rows - x^ ·
///   dgamma/rows)
void batch_norm_backward(BatchNormShape shape, Epilogue epilogue,
                         const BatchNormBackward& arguments);
Work batch_norm_backward_work(BatchNormShape shape, Epilogue epilogue);

/// The same mathematics in double precision, element by element; tests compare with it.
namespace reference {
void batch_norm_forward(BatchNormShape shape, Epilogue epilogue, float epsilon, float momentum,
                        const BatchNormForward& arguments);
void batch_norm_inference(BatchNormShape shape, Epilogue epilogue, float epsilon,
                          const BatchNormForward& arguments);
void batch_norm_backward(BatchNormShape shape, Epilogue epilogue,
                         const BatchNormBackward& arguments);
}  // namespace reference

}  // namespace headway::kernels
