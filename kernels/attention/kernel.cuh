// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/attention/launch.h"
#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

/// One window and head: the rows of its positions, and which positions see each other
/// (kernels/attention/op.h).
struct AttentionGroup {
  std::int64_t number;  // batch, window, head
  std::int64_t head;
  std::int64_t first_row;  // first row of the sequence
  int begin;               // the token of position 0
  int length, window;
  int split;  // positions from here on do not see those before; 0: all see all

  __device__ __forceinline__ AttentionGroup(const AttentionParameters& a, std::int64_t group)
      : number(group),
        head(group % a.heads),
        length(static_cast<int>(a.length)),
        window(static_cast<int>(a.window)) {
    const std::int64_t windows = a.length / a.window;
    const std::int64_t n = group / a.heads % windows;
    first_row = group / a.heads / windows * a.length;
    begin = static_cast<int>(n * a.window + a.shift);
    // In the last of the shifted windows, the roll wraps around.
    split = a.shift > 0 && n + 1 == windows ? static_cast<int>(a.window - a.shift) : 0;
  }
  /// The row, in the arrays, of position `w` of the window.
  __device__ __forceinline__ std::int64_t row(int w) const {
    const int token = begin + w;
    return first_row + (token < length ? token : token - length);
  }
  /// The first position that position i sees.
  __device__ __forceinline__ int first_seen(int i) const { return i >= split ? split : 0; }
};

}  // namespace headway::kernels::cuda
