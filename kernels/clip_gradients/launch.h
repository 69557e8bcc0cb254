// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/clip_gradients/op.h"
#include "kernels/cuda/launch.h"

namespace headway::kernels::cuda {

struct ClipGradientsParameters {
  ClipGradients op;
  std::int64_t blocks;  ///< of kClipBlock values
  bool packed;
};

/// Two launches: the sums of blocks, then the clipping, for which each block sums them up again.
Launches launches(const Limits& limits, const ClipGradients& op);

}  // namespace headway::kernels::cuda
