// SPDX-License-Identifier: MIT
#include "kernels/softmax_cross_entropy/launch.h"

#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

// The scratch memory: loss and correctness of each row, then the number of counted rows.

__device__ inline float gradient_share(const SoftmaxCrossEntropyParameters& a) {
  const float counted = a.arrays.scratch[2 * a.shape.rows];
  const float scale = a.arrays.state ? exp2f(16 + a.arrays.state[0]) : 1.0F;
  return counted > 0 ? scale / counted : 0.0F;
}

/// Writes a row's figures; one of its threads calls it.
__device__ inline void write_row(const SoftmaxCrossEntropyParameters& a, std::int64_t row,
                                 float loss, bool correct) {
  const bool counts = a.arrays.labels[row] >= 0;
  a.arrays.scratch[2 * row] = counts ? loss : 0.0F;
  a.arrays.scratch[2 * row + 1] = counts && correct ? 1.0F : 0.0F;
}

/// Stores eight classes from `column` on: probabilities and gradients, where requested.
template <class T>
__device__ __forceinline__ void store_results(const SoftmaxCrossEntropyParameters& a,
                                              std::int64_t at, std::int64_t column,
                                              std::int64_t valid, std::int32_t label, float share,
                                              float (&p)[kPack]) {
  if (a.arrays.probabilities)
    store8(static_cast<T*>(a.arrays.probabilities) + at, a.packed, valid, p);
  if (!a.arrays.dlogits) return;
#pragma unroll
  for (int i = 0; i < kPack; ++i)
    p[i] = label < 0 ? 0.0F : share * (p[i] - (column + i == label ? 1.0F : 0.0F));
  store8(static_cast<T*>(a.arrays.dlogits) + at, a.packed, valid, p);
}

/// kGroup threads per row. Where kPacks > 0, they hold the row in registers; otherwise they read it
/// for every sum.
template <class T, int kGroup, int kPacks>
__device__ void rows_body(const SoftmaxCrossEntropyParameters& a) {
  constexpr int kGroups = 256 / kGroup;
  constexpr bool kHeld = kPacks > 0;
  const T* logits = static_cast<const T*>(a.arrays.logits);
  const std::int64_t n = a.shape.classes;
  const int own = threadIdx.x % kGroup;
  const float share = a.arrays.dlogits ? gradient_share(a) : 0.0F;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kGroups + threadIdx.x / kGroup;
       row < a.shape.rows; row += static_cast<std::int64_t>(gridDim.x) * kGroups) {
    const std::int32_t label = a.arrays.labels[row];
    const float wanted = label < 0 ? 0.0F : to_float(logits[row * n + label]);
    float held[kHeld ? kPacks : 1][kPack];
    // Calls body(column, valid, x) for this thread's packs; `load` is true the first time.
    auto each = [&](bool load, const auto& body) {
      if constexpr (kHeld) {
#pragma unroll
        for (int k = 0; k < kPacks; ++k) {
          const std::int64_t column = (k * kGroup + own) * kPack;
          if (column >= n) break;
          if (load) load8(logits + row * n + column, a.packed, n - column, held[k]);
          body(column, n - column, held[k]);
        }
      } else {
#pragma unroll 1
        for (std::int64_t column = static_cast<std::int64_t>(own) * kPack; column < n;
             column += kGroup * kPack) {
          load8(logits + row * n + column, a.packed, n - column, held[0]);
          body(column, n - column, held[0]);
        }
      }
    };
    float largest = -INFINITY;
    float earlier = -INFINITY;  // largest before the label; of equal logits the first is the answer
    each(true, [&](std::int64_t column, std::int64_t valid, float(&x)[kPack]) {
#pragma unroll
      for (int i = 0; i < kPack; ++i)
        if (i < valid) {
          largest = fmaxf(largest, x[i]);
          if (column + i < label) earlier = fmaxf(earlier, x[i]);
        }
    });
    largest = group_largest<kGroup>(largest);
    earlier = group_largest<kGroup>(earlier);
    float sum = 0;
    each(false, [&](std::int64_t, std::int64_t valid, float(&x)[kPack]) {
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        x[i] = i < valid ? expf(x[i] - largest) : 0.0F;
        sum += x[i];
      }
    });
    sum = group_sum<kGroup>(sum);
    const float scale = 1.0F / sum;
    each(false, [&](std::int64_t column, std::int64_t valid, float(&x)[kPack]) {
#pragma unroll
      for (int i = 0; i < kPack; ++i) x[i] = (kHeld ? x[i] : expf(x[i] - largest)) * scale;
      store_results<T>(a, row * n + column, column, valid, label, share, x);
    });
    if (own == 0)
      write_row(a, row, logf(sum) - (wanted - largest), wanted == largest && earlier < largest);
  }
}

template <class T>
__device__ void warp_body(const SoftmaxCrossEntropyParameters& a) {
  rows_body<T, 32, 4>(a);
}
template <class T>
__device__ void block_body(const SoftmaxCrossEntropyParameters& a) {
  rows_body<T, 256, 4>(a);
}
template <class T>
__device__ void naive_body(const SoftmaxCrossEntropyParameters& a) {
  rows_body<T, 256, 0>(a);
}

/// The gradient from probabilities; one warp per row.
template <class T>
__device__ void backward_body(const SoftmaxCrossEntropyParameters& a) {
  const std::int64_t n = a.shape.classes;
  const float share = gradient_share(a);
  for (std::int64_t row = global_thread() / kLanes; row < a.shape.rows;
       row += global_threads() / kLanes) {
    const std::int32_t label = a.arrays.labels[row];
    for (std::int64_t column = (threadIdx.x % kLanes) * kPack; column < n;
         column += kLanes * kPack) {
      float p[kPack];
      load8(static_cast<const T*>(a.arrays.probabilities) + row * n + column, a.packed, n - column,
            p);
#pragma unroll
      for (int i = 0; i < kPack; ++i)
        p[i] = label < 0 ? 0.0F : share * (p[i] - (column + i == label ? 1.0F : 0.0F));
      store8(static_cast<T*>(a.arrays.dlogits) + row * n + column, a.packed, n - column, p);
    }
  }
}

/// The loss from log probabilities; one warp per row.
template <class T>
__device__ void nll_body(const SoftmaxCrossEntropyParameters& a) {
  const T* logs = static_cast<const T*>(a.arrays.logits);
  const std::int64_t n = a.shape.classes;
  for (std::int64_t row = global_thread() / kLanes; row < a.shape.rows;
       row += global_threads() / kLanes) {
    const std::int32_t label = a.arrays.labels[row];
    float before = -INFINITY;  // of equal values the first is the answer
    float after = -INFINITY;
    for (std::int64_t column = threadIdx.x % kLanes; column < n; column += kLanes) {
      const float x = to_float(logs[row * n + column]);
      (column < label ? before : after) = fmaxf(column < label ? before : after, x);
    }
    before = warp_largest(before);
    after = warp_largest(after);
    const float own = label < 0 ? 0.0F : to_float(logs[row * n + label]);
    if (threadIdx.x % kLanes == 0) write_row(a, row, -own, own == after && before < own);
  }
}

template <class T>
__device__ void nll_backward_body(const SoftmaxCrossEntropyParameters& a) {
  const float share = gradient_share(a);
  for (std::int64_t i = global_thread(); i < a.shape.rows * a.shape.classes; i += global_threads())
    static_cast<T*>(a.arrays.dlogits)[i] =
        from_float<T>(i % a.shape.classes == a.arrays.labels[i / a.shape.classes] ? -share : 0.0F);
}

HEADWAY_KERNEL_PER_FORMAT(nll_rows, 256, SoftmaxCrossEntropyParameters, nll_body)
HEADWAY_KERNEL_PER_FORMAT(nll_backward, 256, SoftmaxCrossEntropyParameters, nll_backward_body)
HEADWAY_KERNEL_PER_FORMAT(softmax_loss_warp, 256, SoftmaxCrossEntropyParameters, warp_body)
HEADWAY_KERNEL_PER_FORMAT(softmax_loss_block, 256, SoftmaxCrossEntropyParameters, block_body)
HEADWAY_KERNEL_PER_FORMAT(softmax_loss_naive, 256, SoftmaxCrossEntropyParameters, naive_body)
HEADWAY_KERNEL_PER_FORMAT(softmax_loss_backward, 256, SoftmaxCrossEntropyParameters, backward_body)

/// One block counts the rows that count. The gradient is divided by this number, so the kernel runs
/// first.
HEADWAY_KERNEL(loss_count, 256, SoftmaxCrossEntropyParameters) {
  float counted = 0;
  for (std::int64_t row = threadIdx.x; row < a.shape.rows; row += blockDim.x)
    counted += a.arrays.labels[row] >= 0 ? 1.0F : 0.0F;
  counted = group_sum<256>(counted);
  if (threadIdx.x == 0) a.arrays.scratch[2 * a.shape.rows] = counted;
}

/// One block computes the mean loss and the number of correct rows, in double.
HEADWAY_KERNEL(loss_figures, 256, SoftmaxCrossEntropyParameters) {
  double loss = 0;
  float correct = 0;
  for (std::int64_t row = threadIdx.x; row < a.shape.rows; row += blockDim.x) {
    loss += a.arrays.scratch[2 * row];
    correct += a.arrays.scratch[2 * row + 1];
  }
  loss = group_sum<256>(loss);
  correct = group_sum<256>(correct);
  if (threadIdx.x != 0) return;
  const float counted = a.arrays.scratch[2 * a.shape.rows];
  a.arrays.figures->loss = counted > 0 ? static_cast<float>(loss / counted) : 0.0F;
  a.arrays.figures->correct = correct;
  a.arrays.figures->counted = counted;
}

}  // namespace headway::kernels::cuda
