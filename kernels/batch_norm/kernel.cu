// SPDX-License-Identifier: MIT
#include "kernels/batch_norm/launch.h"

#include "kernels/column_sum/columns.cuh"

namespace headway::kernels::cuda {

/// Joins the moments of the block's threads that have the same columns, and writes them to the
/// block's part of the scratch memory: counts, means, squares.
__device__ inline void write_moments(const ColumnTiles& t, const ColumnPlace& place,
                                     Moments (&moments)[kPack], float* scratch) {
  __shared__ float counts[kColumnThreads];
  __shared__ float means[kColumnThreads];
  __shared__ float squares[kColumnThreads];
  const int down = kColumnThreads / t.across;
  const int y = threadIdx.x / t.across;
  float* to = scratch + static_cast<std::int64_t>(blockIdx.y) * 3 * t.columns + place.column;
#pragma unroll
  for (int i = 0; i < kPack; ++i) {
    for (int half = down / 2; half > 0; half /= 2) {
      __syncthreads();
      if (y >= half) {
        counts[threadIdx.x] = moments[i].count;
        means[threadIdx.x] = moments[i].mean;
        squares[threadIdx.x] = moments[i].squares;
      }
      __syncthreads();
      if (y < half) {
        const int other = threadIdx.x + half * t.across;
        moments[i].add(Moments{counts[other], means[other], squares[other]});
      }
    }
    if (y == 0 && i < place.valid) {
      to[i] = moments[i].count;
      to[t.columns + i] = moments[i].mean;
      to[2 * t.columns + i] = moments[i].squares;
    }
  }
}

template <class T>
__device__ void statistics_body(const BatchNormParameters& a) {
  const ColumnPlace place(a.tiles);
  Moments moments[kPack];
  for (std::int64_t row = place.row; row < a.tiles.rows; row += place.step) {
    float x[kPack];
    load8(static_cast<const T*>(a.arrays.x) + row * a.tiles.columns + place.column, a.tiles.packed,
          place.valid, x);
#pragma unroll
    for (int i = 0; i < kPack; ++i) moments[i].add(x[i]);
  }
  write_moments(a.tiles, place, moments, a.arrays.scratch);
}

HEADWAY_KERNEL_PER_FORMAT(bn_statistics, 256, BatchNormParameters, statistics_body)

HEADWAY_KERNEL(bn_finish, 256, BatchNormFinishParameters) {
  for (std::int64_t c = global_thread(); c < a.channels; c += global_threads()) {
    Moments all;
    for (int part = 0; part < a.parts; ++part) {
      const float* from = a.arrays.scratch + (static_cast<std::int64_t>(part) * 3) * a.channels + c;
      all.add(Moments{from[0], from[a.channels], from[2 * a.channels]});
    }
    const float rows = static_cast<float>(a.rows);
    const float unbiased = all.squares / (a.rows > 1 ? rows - 1 : 1.0F);
    a.arrays.saved_mean[c] = all.mean;
    a.arrays.saved_rstd[c] = 1.0F / sqrtf(all.squares / rows + a.epsilon);
    a.arrays.running_mean[c] += a.momentum * (all.mean - a.arrays.running_mean[c]);
    a.arrays.running_variance[c] += a.momentum * (unbiased - a.arrays.running_variance[c]);
  }
}

/// The parameters of a thread's eight channels.
struct Channels {
  float mean[kPack], rstd[kPack], gamma[kPack], beta[kPack];

  __device__ Channels(const BatchNormParameters& a, const ColumnPlace& place) {
    const std::int64_t valid = place.valid;
    const std::int64_t c = valid > 0 ? place.column : 0;
    load8(a.arrays.saved_mean + c, a.tiles.packed && valid > 0, valid, mean);
    load8((a.variance ? a.variance : a.arrays.saved_rstd) + c, a.tiles.packed && valid > 0, valid,
          rstd);
    load8(a.arrays.gamma + c, a.tiles.packed && valid > 0, valid, gamma);
    if (a.arrays.beta) load8(a.arrays.beta + c, a.tiles.packed && valid > 0, valid, beta);
    if (!a.variance) return;
#pragma unroll
    for (int i = 0; i < kPack; ++i) rstd[i] = 1.0F / sqrtf(rstd[i] + a.epsilon);
  }
  __device__ float normal(int i, float x) const {
    return (x - mean[i]) * rstd[i];
  }
};

template <class T, Epilogue kEpilogue>
__device__ void normalise(const BatchNormParameters& a) {
  const ColumnPlace place(a.tiles);
  const Channels channels(a, place);
  const std::int64_t mask_row = (a.tiles.columns + 7) / 8;
  for (std::int64_t row = place.row; row < a.tiles.rows; row += place.step) {
    const std::int64_t at = row * a.tiles.columns + place.column;
    float x[kPack];
    float r[kPack] = {};
    load8(static_cast<const T*>(a.arrays.x) + at, a.tiles.packed, place.valid, x);
    if constexpr (kEpilogue == Epilogue::kAddRelu)
      load8(static_cast<const T*>(a.arrays.residual) + at, a.tiles.packed, place.valid, r);
    unsigned bits = 0;
#pragma unroll
    for (int i = 0; i < kPack; ++i) {
      x[i] = channels.normal(i, x[i]) * channels.gamma[i] + channels.beta[i];
      if constexpr (kEpilogue == Epilogue::kAddRelu) x[i] += r[i];
      if constexpr (kEpilogue != Epilogue::kNone) x[i] = relu(x[i]);
      bits |= (x[i] > 0 ? 1U : 0U) << i;
    }
    store8(static_cast<T*>(a.arrays.y) + at, a.tiles.packed, place.valid, x);
    if constexpr (kEpilogue == Epilogue::kAddRelu)
      if (a.arrays.mask)
        a.arrays.mask[row * mask_row + place.column / 8] = static_cast<std::uint8_t>(bits);
  }
}

/// Loads dy of one thread's eight elements, masked by the epilogue, and x normalised.
template <class T, Epilogue kEpilogue>
__device__ __forceinline__ void load_gradient(const BatchNormParameters& a,
                                              const ColumnPlace& place, const Channels& channels,
                                              std::int64_t row, float (&normal)[kPack],
                                              float (&dz)[kPack]) {
  const std::int64_t at = row * a.tiles.columns + place.column;
  load8(static_cast<const T*>(a.arrays.x) + at, a.tiles.packed, place.valid, normal);
  load8(static_cast<const T*>(a.arrays.dy) + at, a.tiles.packed, place.valid, dz);
  unsigned bits = 0xFF;
  if constexpr (kEpilogue == Epilogue::kAddRelu)
    bits = a.arrays.mask[row * ((a.tiles.columns + 7) / 8) + place.column / 8];
#pragma unroll
  for (int i = 0; i < kPack; ++i) {
    normal[i] = channels.normal(i, normal[i]);
    bool passes = (bits >> i & 1U) != 0;
    if constexpr (kEpilogue == Epilogue::kRelu)
      passes = normal[i] * channels.gamma[i] + channels.beta[i] > 0;
    if (!passes) dz[i] = 0;
  }
}

template <class T, Epilogue kEpilogue>
__device__ void backward_sums(const BatchNormParameters& a) {
  const ColumnPlace place(a.tiles);
  const Channels channels(a, place);
  float sums[2][kPack] = {};
  for (std::int64_t row = place.row; row < a.tiles.rows; row += place.step) {
    float normal[kPack], dz[kPack];
    load_gradient<T, kEpilogue>(a, place, channels, row, normal, dz);
#pragma unroll
    for (int i = 0; i < kPack; ++i) {
      sums[0][i] += dz[i];
      sums[1][i] += dz[i] * normal[i];
    }
  }
  write_column_parts<2>(a.tiles, place, sums, a.arrays.scratch);
}

template <class T, Epilogue kEpilogue>
__device__ void backward_apply(const BatchNormParameters& a) {
  const ColumnPlace place(a.tiles);
  const Channels channels(a, place);
  const float share = 1.0F / static_cast<float>(a.tiles.rows);
  float first[kPack] = {}, second[kPack] = {};
  if (place.valid > 0) {
    load8(a.arrays.dbeta + place.column, a.tiles.packed, place.valid, first);
    load8(a.arrays.dgamma + place.column, a.tiles.packed, place.valid, second);
  }
  for (std::int64_t row = place.row; row < a.tiles.rows; row += place.step) {
    const std::int64_t at = row * a.tiles.columns + place.column;
    float normal[kPack], dz[kPack];
    load_gradient<T, kEpilogue>(a, place, channels, row, normal, dz);
    if constexpr (kEpilogue == Epilogue::kAddRelu)
      store8(static_cast<T*>(a.arrays.dresidual) + at, a.tiles.packed, place.valid, dz);
#pragma unroll
    for (int i = 0; i < kPack; ++i)
      dz[i] = channels.gamma[i] * channels.rstd[i] *
              (dz[i] - first[i] * share - normal[i] * second[i] * share);
    store8(static_cast<T*>(a.arrays.dx) + at, a.tiles.packed, place.valid, dz);
  }
}

#define HEADWAY_BN(prefix, kEpilogue, suffix, T)                              \
  HEADWAY_KERNEL(prefix##normalise_##suffix, 256, BatchNormParameters) {      \
    normalise<T, kEpilogue>(a);                                               \
  }                                                                           \
  HEADWAY_KERNEL(prefix##backward_sums_##suffix, 256, BatchNormParameters) {  \
    backward_sums<T, kEpilogue>(a);                                           \
  }                                                                           \
  HEADWAY_KERNEL(prefix##backward_apply_##suffix, 256, BatchNormParameters) { \
    backward_apply<T, kEpilogue>(a);                                          \
  }
#define HEADWAY_BN_PER_FORMAT(prefix, kEpilogue) \
  HEADWAY_BN(prefix, kEpilogue, f32, float)      \
  HEADWAY_BN(prefix, kEpilogue, f16, __half)     \
  HEADWAY_BN(prefix, kEpilogue, bf16, __nv_bfloat16)

HEADWAY_BN_PER_FORMAT(bn_, Epilogue::kNone)
HEADWAY_BN_PER_FORMAT(bn_relu_, Epilogue::kRelu)
HEADWAY_BN_PER_FORMAT(bn_add_relu_, Epilogue::kAddRelu)

}  // namespace headway::kernels::cuda
