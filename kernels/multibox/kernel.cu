// SPDX-License-Identifier: MIT
#include "kernels/multibox/launch.h"

#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

constexpr int kSumsPerBlock = 3;  // as in launch.cc
constexpr int kBins = 256;

__device__ __forceinline__ std::int64_t rows_of(const MultiboxShape& s) {
  return s.images * s.anchors;
}

template <class T>
__device__ void background_losses_body(const MultiboxParameters& p) {
  const MultiboxArrays& a = p.arrays;
  for (std::int64_t row = global_thread(); row < rows_of(p.shape); row += global_threads()) {
    // The logarithm of a probability of 1 may be slightly above 0.
    const float loss =
        fmaxf(0.0F, -to_float(static_cast<const T*>(a.log_probabilities)[row * p.shape.classes]));
    const std::int32_t label = a.labels[row];
    a.losses[row] = label == 0 ? loss : label > 0 ? kPositiveRow : kUncountedRow;
  }
}
HEADWAY_KERNEL_PER_FORMAT(background_losses, 256, MultiboxParameters, background_losses_body)

/// Losses of negatives are not negative numbers, so their bits have the same order.
__device__ __forceinline__ std::uint32_t bits_of_loss(float loss) {
  union {
    float value;
    std::uint32_t bits;
  } u{loss + 0.0F};  // turns -0 into 0
  return u.bits;
}

/// The bits of the `wanted`-th largest negative loss (1: the largest), and the number of losses
/// above it. All threads of the block must call it; 1 <= wanted <= negatives.
__device__ inline std::uint32_t nth_largest(const float* losses, std::int64_t count,
                                            std::int64_t wanted, std::int64_t* above) {
  __shared__ unsigned bins[kBins];
  __shared__ std::uint32_t prefix;
  __shared__ long long left;
  if (threadIdx.x == 0) {
    prefix = 0;
    left = wanted;
  }
  for (int shift = 24; shift >= 0; shift -= 8) {
    for (int b = threadIdx.x; b < kBins; b += blockDim.x) bins[b] = 0;
    __syncthreads();
    for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) {
      if (!(losses[i] >= 0)) continue;
      const std::uint32_t bits = bits_of_loss(losses[i]);
      const bool same = shift == 24 || bits >> (shift + 8) == prefix >> (shift + 8);
      if (same) atomicAdd(&bins[bits >> shift & 0xFFU], 1U);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      int b = kBins - 1;
      while (b > 0 && left > static_cast<long long>(bins[b])) left -= bins[b--];
      prefix |= static_cast<std::uint32_t>(b) << shift;
    }
    __syncthreads();
  }
  *above = wanted - left;
  const std::uint32_t result = prefix;
  __syncthreads();  // before the next image begins
  return result;
}

/// Sums of one number per thread: over the threads before this one, and over all.
struct Places {
  int before;
  int all;
};
__device__ inline Places count_before(bool mine) {
  __shared__ int warps[8];
  const unsigned votes = __ballot_sync(kFullWarp, mine);
  const int lane = threadIdx.x % kLanes;
  const int warp = threadIdx.x / kLanes;
  __syncthreads();  // the previous counts may still be read
  if (lane == 0) warps[warp] = __popc(votes);
  __syncthreads();
  Places places{__popc(votes & ((1U << lane) - 1U)), 0};
  for (int w = 0; w < 8; ++w) {
    if (w < warp) places.before += warps[w];
    places.all += warps[w];
  }
  return places;
}

HEADWAY_KERNEL(pick_hard_negatives, 256, MultiboxParameters) {
  const std::int64_t n = a.shape.anchors;
  for (std::int64_t image = blockIdx.x; image < a.shape.images; image += gridDim.x) {
    const float* losses = a.arrays.losses + image * n;
    std::uint8_t* picked = a.arrays.picked + image * n;
    int positives = 0;
    int negatives = 0;
    for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x) {
      positives += losses[i] == kPositiveRow;
      negatives += losses[i] >= 0;
    }
    positives = group_sum<256>(positives);
    negatives = group_sum<256>(negatives);
    const std::int64_t most = kNegativesPerPositive * positives;
    const std::int64_t wanted = most < negatives ? most : negatives;
    std::int64_t above = 0;
    const std::uint32_t last = wanted > 0 ? nth_largest(losses, n, wanted, &above) : 0xFFFFFFFFU;
    // Of losses equal to the last one, the first rows are taken.
    std::int64_t equals = 0;
    for (std::int64_t begin = 0; begin < n; begin += blockDim.x) {
      const std::int64_t i = begin + threadIdx.x;
      const bool negative = i < n && losses[i] >= 0;
      const std::uint32_t bits = negative ? bits_of_loss(losses[i]) : 0U;
      const bool equal = negative && bits == last;
      const Places places = count_before(equal);
      if (i < n)
        picked[i] = losses[i] == kPositiveRow || (negative && bits > last) ||
                    (equal && equals + places.before < wanted - above);
      equals += places.all;
    }
  }
}

/// The rows of a block: a contiguous piece.
struct Piece {
  std::int64_t begin;
  std::int64_t end;
};
__device__ __forceinline__ Piece piece_of(std::int64_t rows) {
  const std::int64_t each = (rows + gridDim.x - 1) / gridDim.x;
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * each;
  return {begin, begin + each < rows ? begin + each : rows};
}

HEADWAY_KERNEL(compact_count, 256, MultiboxParameters) {
  const Piece piece = piece_of(rows_of(a.shape));
  double count = 0;
  for (std::int64_t i = piece.begin + threadIdx.x; i < piece.end; i += blockDim.x)
    count += a.arrays.picked[i] != 0;
  count = group_sum<256>(count);
  if (threadIdx.x == 0) a.arrays.parts[blockIdx.x] = count;
}

HEADWAY_KERNEL(compact_write, 256, MultiboxParameters) {
  const std::int64_t rows = rows_of(a.shape);
  const Piece piece = piece_of(rows);
  double before = 0;
  double all = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
    if (b < blockIdx.x) before += a.arrays.parts[b];
    all += a.arrays.parts[b];
  }
  std::int64_t at = static_cast<std::int64_t>(group_sum<256>(before));
  const std::int64_t total = static_cast<std::int64_t>(group_sum<256>(all));
  for (std::int64_t begin = piece.begin; begin < piece.end; begin += blockDim.x) {
    const std::int64_t i = begin + threadIdx.x;
    const bool mine = i < piece.end && a.arrays.picked[i] != 0;
    const Places places = count_before(mine);
    if (mine) a.arrays.places[at + places.before] = static_cast<std::int32_t>(i);
    at += places.all;
    // The picked rows' places are below `total`, so no other thread writes here.
    if (i < piece.end && i >= total) a.arrays.places[i] = -1;
  }
}

__device__ __forceinline__ double smooth_l1(double difference) {
  const double size = fabs(difference);
  return size < 1 ? size * size / 2 : size - 0.5;
}

/// A thread computes a listed row: its loss, and whether the first of its largest logarithms is the
/// label's.
template <class T>
__device__ void multibox_sums_body(const MultiboxParameters& p) {
  const MultiboxArrays& a = p.arrays;
  const std::int64_t classes = p.shape.classes;
  double loss = 0;
  double positives = 0;
  double correct = 0;
  for (std::int64_t i = global_thread(); i < rows_of(p.shape); i += global_threads()) {
    const std::int64_t row = a.places[i];
    if (row < 0) break;
    const T* const x = static_cast<const T*>(a.log_probabilities) + row * classes;
    const std::int32_t label = a.labels[row];
    const float own = to_float(x[label]);
    loss -= own;
    if (label == 0) continue;
    bool right = true;
    for (std::int64_t c = 0; c < classes; ++c) {
      const float other = to_float(x[c]);
      right = right && (c < label ? other < own : other <= own);
    }
    positives += 1;
    correct += right;
    for (int k = 0; k < 4; ++k)
      loss +=
          smooth_l1(static_cast<double>(to_float(static_cast<const T*>(a.offsets)[4 * row + k])) -
                    static_cast<double>(a.targets[4 * row + k]));
  }
  const double sums[kSumsPerBlock] = {group_sum<256>(loss), group_sum<256>(positives),
                                      group_sum<256>(correct)};
  if (threadIdx.x == 0)
    for (int s = 0; s < kSumsPerBlock; ++s) a.parts[blockIdx.x * kSumsPerBlock + s] = sums[s];
}
HEADWAY_KERNEL_PER_FORMAT(multibox_sums, 256, MultiboxParameters, multibox_sums_body)

/// Launched with the grid of the sums; the first thread of the first block adds all parts.
HEADWAY_KERNEL(multibox_figures, 256, MultiboxParameters) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  double sums[kSumsPerBlock] = {};
  for (unsigned b = 0; b < gridDim.x; ++b)
    for (int s = 0; s < kSumsPerBlock; ++s) sums[s] += a.arrays.parts[b * kSumsPerBlock + s];
  LossFigures figures;
  figures.loss = static_cast<float>(sums[0] / (sums[1] > 1 ? sums[1] : 1.0));
  figures.correct = static_cast<float>(sums[2]);
  figures.counted = static_cast<float>(sums[1]);
  *a.arrays.figures = figures;
}

/// Writes zeros everywhere, and counts the listed rows that are positive.
template <class T>
__device__ void multibox_clear_body(const MultiboxParameters& p) {
  const MultiboxArrays& a = p.arrays;
  const std::int64_t rows = rows_of(p.shape);
  for (std::int64_t i = global_thread(); i < rows * p.shape.classes; i += global_threads())
    static_cast<T*>(a.dlog_probabilities)[i] = from_float<T>(0.0F);
  for (std::int64_t i = global_thread(); i < rows * 4; i += global_threads())
    static_cast<T*>(a.doffsets)[i] = from_float<T>(0.0F);
  double positives = 0;
  for (std::int64_t i = global_thread(); i < rows && a.places[i] >= 0; i += global_threads())
    positives += a.labels[a.places[i]] > 0;
  positives = group_sum<256>(positives);
  if (threadIdx.x == 0) a.parts[blockIdx.x] = positives;
}
HEADWAY_KERNEL_PER_FORMAT(multibox_clear, 256, MultiboxParameters, multibox_clear_body)

template <class T>
__device__ void multibox_scatter_body(const MultiboxParameters& p) {
  const MultiboxArrays& a = p.arrays;
  double positives = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) positives += a.parts[b];
  positives = group_sum<256>(positives);
  const float scale = a.state ? exp2f(16.0F + a.state[0]) : 1.0F;
  const float share = scale / static_cast<float>(positives > 1 ? positives : 1.0);
  for (std::int64_t i = global_thread(); i < rows_of(p.shape); i += global_threads()) {
    const std::int64_t row = a.places[i];
    if (row < 0) break;
    const std::int32_t label = a.labels[row];
    static_cast<T*>(a.dlog_probabilities)[row * p.shape.classes + label] = from_float<T>(-share);
    if (label == 0) continue;
    for (int k = 0; k < 4; ++k) {
      const float difference =
          to_float(static_cast<const T*>(a.offsets)[4 * row + k]) - a.targets[4 * row + k];
      static_cast<T*>(a.doffsets)[4 * row + k] =
          from_float<T>(share * fminf(fmaxf(difference, -1.0F), 1.0F));
    }
  }
}
HEADWAY_KERNEL_PER_FORMAT(multibox_scatter, 256, MultiboxParameters, multibox_scatter_body)

}  // namespace headway::kernels::cuda
