// SPDX-License-Identifier: MIT
#pragma once

namespace headway::kernels {

/// Adam with decoupled decay (AdamW, Loshchilov and Hutter 2019), t counted from 1:
///   g' = gradient_scale · g
///   m = beta1·m + (1-beta1)·g';   v = beta2·v + (1-beta2)·g'²
///   p = p·(1 - rate·decay) - rate · (m·correction1) / (sqrt(v·correction2) + epsilon)
///   correction_i = 1 / (1 - beta_i^t)
/// in float, elementwise; the arrays may have any memory layout that they share.
struct AdamStep {
  float rate = 0;
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float epsilon = 1e-8F;
  float decay = 0;
  float correction1 = 1;
  float correction2 = 1;
  float gradient_scale = 1;  ///< 1 / loss scale
};

}  // namespace headway::kernels
