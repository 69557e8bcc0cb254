// SPDX-License-Identifier: MIT
#pragma once

namespace headway::kernels {

/// Stochastic gradient descent with momentum and L2 decay, as frameworks define it:
///   d = g + decay · p;   v = momentum · v + d;   p = p - rate · v
/// in float, elementwise; p, g and v may have any memory layout that they share.
struct SgdParameters {
  float rate = 0;
  float momentum = 0;
  float decay = 0;
};

}  // namespace headway::kernels
