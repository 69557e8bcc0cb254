// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"

namespace headway::kernels::cuda {

struct MeanPoolParameters {
  std::int64_t images;
  std::int64_t positions;
  std::int64_t channels;
  int across;  ///< forward: threads of a block side by side, a power of two up to 32
  const void* from;
  void* to;
  bool packed;
};

/// y[n,c] = mean over positions p of x[n,p,c], on channels-last arrays of one format; sums in
/// float. A block handles one image and some columns, so that no second stage is needed and the
/// order of the sum is the same in every run.
Launch mean_pool_forward(const Limits& limits, NumberFormat format, std::int64_t images,
                         std::int64_t positions, std::int64_t channels, const void* x, void* y);
/// dx[n,p,c] = dy[n,c] / positions.
Launch mean_pool_backward(const Limits& limits, NumberFormat format, std::int64_t images,
                          std::int64_t positions, std::int64_t channels, const void* dy, void* dx);

}  // namespace headway::kernels::cuda
