// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/graph/graph.h"

namespace headway::trainer::ops {

/// Input indices of the fused products conv2d_fused and linear_fused. Their inputs are x, weights,
/// bias, and an optional residual.
inline constexpr std::size_t kFusedBias = 2;
inline constexpr std::size_t kFusedResidual = 3;

/// Whether `node` is a conv2d_fused or a linear_fused.
bool is_fused_product(const Node& node);
inline const FusedProductAttributes& fused_product(const Node& node) {
  return std::get<FusedProductAttributes>(node.attributes);
}

}  // namespace headway::trainer::ops
