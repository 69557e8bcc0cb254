// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/graph/graph.h"

namespace headway::trainer::ops {

/// Operands of conv2d_fused and linear_fused: x, weights, bias, and an optional residual.
inline constexpr std::size_t kFusedBias = 2;
inline constexpr std::size_t kFusedResidual = 3;

/// Whether `node` is one of the two.
bool is_fused_product(const Node& node);
inline const FusedProductAttributes& fused_product(const Node& node) {
  return std::get<FusedProductAttributes>(node.attributes);
}

}  // namespace headway::trainer::ops
