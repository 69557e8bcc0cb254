// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/whatif/editor.h"

namespace headway::analyzer {

/// The kernels of one attention in one pass, in order on their stream.
struct Attention {
  std::vector<trace::DeviceOpId> kernels;
  bool backward = false;
  bool masked = false;
};

/// Finds attentions by the order of kernels on each stream: a softmax between products, and kernels
/// that only move data beside them. In the backward pass, each product has two gradients.
std::vector<Attention> find_attentions(const Predictor& predictor);

}  // namespace headway::analyzer
