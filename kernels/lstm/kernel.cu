// SPDX-License-Identifier: MIT
#include "kernels/lstm/launch.h"

#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

constexpr int kLstmThreads = 512;
constexpr int kLstmShared = 8192;  // floats; as in launch.cc
constexpr int kLstmRows = 4;       // largest number of sequences of a block
constexpr int kLstmUnits = 4;      // largest number of units of a thread: 2048 / 512

HEADWAY_KERNEL(lstm_used, 256, LstmUsedParameters) {
  const LstmShape& s = a.shape;
  float last = -1;  // exact: there are fewer steps than 2^24
  for (std::int64_t i = threadIdx.x; i < s.steps * s.rows; i += blockDim.x)
    if (a.tokens[i] >= 0) last = fmaxf(last, static_cast<float>(i / s.rows));
  last = group_largest<256>(last);
  if (threadIdx.x == 0) *a.used = static_cast<std::int32_t>(last) + 1;
}

/// Writes one unit's gates, cell and h, and the h before; returns h as it was rounded.
template <class T>
__device__ __forceinline__ float store_unit(const LstmShape& s, const LstmArrays& a,
                                            std::int64_t row, std::int64_t unit, const LstmUnit& u,
                                            float h_before) {
  const std::int64_t n = s.hidden;
  const std::int64_t at = row * n + unit;
  T* const gates = static_cast<T*>(a.gates) + row * 4 * n + unit;
  gates[0] = from_float<T>(u.i);
  gates[n] = from_float<T>(u.f);
  gates[2 * n] = from_float<T>(u.g);
  gates[3 * n] = from_float<T>(u.o);
  static_cast<T*>(a.cell)[at] = from_float<T>(u.cell);
  static_cast<T*>(a.before)[at] = from_float<T>(h_before);
  const T h = from_float<T>(u.h);
  static_cast<T*>(a.h)[at] = h;
  return to_float(h);
}

template <class T>
__device__ __forceinline__ LstmUnit load_unit(const LstmShape& s, const LstmArrays& a,
                                              std::int64_t row, std::int64_t unit) {
  const std::int64_t n = s.hidden;
  const T* const gates = static_cast<const T*>(a.gates) + row * 4 * n + unit;
  return {to_float(gates[0]),
          to_float(gates[n]),
          to_float(gates[2 * n]),
          to_float(gates[3 * n]),
          to_float(static_cast<const T*>(a.cell)[row * n + unit]),
          0};
}

template <class T>
__device__ __forceinline__ void store_gradient(const LstmShape& s, const LstmArrays& a,
                                               std::int64_t row, std::int64_t unit,
                                               const LstmGradient& d) {
  const std::int64_t n = s.hidden;
  T* const to = static_cast<T*>(a.dgates) + row * 4 * n + unit;
  to[0] = from_float<T>(d.i);
  to[n] = from_float<T>(d.f);
  to[2 * n] = from_float<T>(d.g);
  to[3 * n] = from_float<T>(d.o);
}

/// The value one step before; 0 for the first step.
template <class T>
__device__ __forceinline__ float one_before(const LstmShape& s, const void* from, std::int64_t step,
                                            std::int64_t at) {
  return step > 0 ? to_float(static_cast<const T*>(from)[at - s.rows * s.hidden]) : 0.0F;
}

/// A thread handles one unit of one sequence.
template <class T>
__device__ void cell_forward_body(const LstmParameters& p) {
  const LstmShape& s = p.shape;
  const LstmArrays& a = p.arrays;
  const bool used = p.step < *a.used;
  for (std::int64_t i = global_thread(); i < s.rows * s.hidden; i += global_threads()) {
    const std::int64_t unit = i % s.hidden;
    const std::int64_t row = p.step * s.rows + i / s.hidden;
    if (!used) {
      store_unit<T>(s, a, row, unit, {}, 0);
      continue;
    }
    float z[4];
#pragma unroll
    for (int g = 0; g < 4; ++g) {
      z[g] = to_float(static_cast<const T*>(a.input)[(row * 4 + g) * s.hidden + unit]);
      if (p.step > 0) z[g] += a.product[(i / s.hidden * 4 + g) * s.hidden + unit];
    }
    const std::int64_t at = row * s.hidden + unit;
    store_unit<T>(s, a, row, unit,
                  lstm_unit(z[0], z[1], z[2], z[3], one_before<T>(s, a.cell, p.step, at)),
                  one_before<T>(s, a.h, p.step, at));
  }
}

template <class T>
__device__ void cell_backward_body(const LstmParameters& p) {
  const LstmShape& s = p.shape;
  const LstmArrays& a = p.arrays;
  const std::int64_t used = *a.used;
  for (std::int64_t i = global_thread(); i < s.rows * s.hidden; i += global_threads()) {
    const std::int64_t unit = i % s.hidden;
    const std::int64_t row = p.step * s.rows + i / s.hidden;
    if (p.step >= used) {
      store_gradient<T>(s, a, row, unit, {});
      continue;
    }
    const std::int64_t at = row * s.hidden + unit;
    const bool last = p.step + 1 == used;
    float dh = to_float(static_cast<const T*>(a.dh)[at]);
    if (!last) dh += a.dh_later[i];
    float dcell = last ? 0.0F : a.dcell[i];
    store_gradient<T>(s, a, row, unit,
                      lstm_unit_gradient(load_unit<T>(s, a, row, unit),
                                         one_before<T>(s, a.cell, p.step, at), dh, dcell));
    a.dcell[i] = dcell;
  }
}

/// A block handles some sequences; a thread handles some units of all of them. h of the step before
/// is in shared memory, in two halves: one is read while the other is written.
template <class T>
__device__ void layer_forward_body(const LstmParameters& p) {
  __shared__ float shared[kLstmShared];
  const LstmShape& s = p.shape;
  const LstmArrays& a = p.arrays;
  const std::int64_t n = s.hidden;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * p.rows_per_block;
  const int rows =
      static_cast<int>(s.rows - first < p.rows_per_block ? s.rows - first : p.rows_per_block);
  const std::int64_t used = *a.used;
  const T* const weights = static_cast<const T*>(a.weights);
  for (std::int64_t step = 0; step < s.steps; ++step) {
    const float* const h = shared + (step % 2) * p.rows_per_block * n;
    float* const h_next = shared + (1 - step % 2) * p.rows_per_block * n;
    for (std::int64_t unit = threadIdx.x; unit < n; unit += kLstmThreads) {
      float z[kLstmRows][4] = {};
      if (step > 0 && step < used) {
        for (std::int64_t k = 0; k < n; ++k) {
          float w[4];
#pragma unroll
          for (int g = 0; g < 4; ++g) w[g] = to_float(weights[(k * 4 + g) * n + unit]);
#pragma unroll
          for (int r = 0; r < kLstmRows; ++r) {
            if (r >= rows) break;
            const float of = h[r * n + k];
#pragma unroll
            for (int g = 0; g < 4; ++g) z[r][g] += of * w[g];
          }
        }
      }
#pragma unroll
      for (int r = 0; r < kLstmRows; ++r) {
        if (r >= rows) break;
        const std::int64_t row = step * s.rows + first + r;
        if (step >= used) {
          store_unit<T>(s, a, row, unit, {}, 0);
          continue;
        }
#pragma unroll
        for (int g = 0; g < 4; ++g)
          z[r][g] += to_float(static_cast<const T*>(a.input)[(row * 4 + g) * n + unit]);
        // This thread wrote the cell of the step before.
        const float cell_before = one_before<T>(s, a.cell, step, row * n + unit);
        h_next[r * n + unit] = store_unit<T>(
            s, a, row, unit, lstm_unit(z[r][0], z[r][1], z[r][2], z[r][3], cell_before),
            step > 0 ? h[r * n + unit] : 0.0F);
      }
    }
    __syncthreads();
  }
}

/// The backward pass in the same way: the gradients of the later step's gates are in shared memory;
/// the gradient of the cell stays in its thread.
template <class T>
__device__ void layer_backward_body(const LstmParameters& p) {
  __shared__ float shared[kLstmShared];
  const LstmShape& s = p.shape;
  const LstmArrays& a = p.arrays;
  const std::int64_t n = s.hidden;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * p.rows_per_block;
  const int rows =
      static_cast<int>(s.rows - first < p.rows_per_block ? s.rows - first : p.rows_per_block);
  const std::int64_t used = *a.used;
  const T* const weights = static_cast<const T*>(a.weights);
  float dcell[kLstmUnits][kLstmRows] = {};
  for (std::int64_t step = s.steps - 1; step >= 0; --step) {
    float dh[kLstmUnits][kLstmRows] = {};
#pragma unroll
    for (int u = 0; u < kLstmUnits; ++u) {
      const std::int64_t unit = threadIdx.x + static_cast<std::int64_t>(u) * kLstmThreads;
      if (unit >= n || step + 1 >= used) break;
      for (std::int64_t g = 0; g < 4 * n; ++g) {
        const float w = to_float(weights[g * n + unit]);
#pragma unroll
        for (int r = 0; r < kLstmRows; ++r) {
          if (r >= rows) break;
          dh[u][r] += shared[r * 4 * n + g] * w;
        }
      }
    }
    __syncthreads();  // all threads have read the later step's values
#pragma unroll
    for (int u = 0; u < kLstmUnits; ++u) {
      const std::int64_t unit = threadIdx.x + static_cast<std::int64_t>(u) * kLstmThreads;
      if (unit >= n) break;
#pragma unroll
      for (int r = 0; r < kLstmRows; ++r) {
        if (r >= rows) break;
        const std::int64_t row = step * s.rows + first + r;
        LstmGradient d{};
        if (step < used) {
          const std::int64_t at = row * n + unit;
          d = lstm_unit_gradient(load_unit<T>(s, a, row, unit), one_before<T>(s, a.cell, step, at),
                                 to_float(static_cast<const T*>(a.dh)[at]) + dh[u][r], dcell[u][r]);
        }
        store_gradient<T>(s, a, row, unit, d);
        float* const to = shared + r * 4 * n + unit;
        to[0] = d.i, to[n] = d.f, to[2 * n] = d.g, to[3 * n] = d.o;
      }
    }
    __syncthreads();
  }
}

HEADWAY_KERNEL_PER_FORMAT(lstm_cell_forward, 256, LstmParameters, cell_forward_body)
HEADWAY_KERNEL_PER_FORMAT(lstm_cell_backward, 256, LstmParameters, cell_backward_body)
HEADWAY_KERNEL_PER_FORMAT(lstm_forward, 512, LstmParameters, layer_forward_body)
HEADWAY_KERNEL_PER_FORMAT(lstm_backward, 512, LstmParameters, layer_backward_body)

}  // namespace headway::kernels::cuda
