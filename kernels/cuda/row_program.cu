// SPDX-License-Identifier: MIT
#include "kernels/cuda/row_program.h"

#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

__device__ __forceinline__ bool is_sum(RowOp op) {
  return op == RowOp::kRowMean || op == RowOp::kRowSum;
}

__device__ inline float rounded_to(NumberFormat format, float x) {
  switch (format) {
    case NumberFormat::kTf32:
      return round_to_tf32(x);
    case NumberFormat::kBfloat16:
      return to_float(from_float<__nv_bfloat16>(x));
    case NumberFormat::kFloat16:
      return to_float(from_float<__half>(x));
    case NumberFormat::kFloat32:
      break;
  }
  return x;
}

__device__ inline float execute(const DeviceRowInstruction& by, float a, float b,
                                std::int64_t element) {
  switch (by.op) {
    case RowOp::kAdd:
      return a + b;
    case RowOp::kSubtract:
      return a - b;
    case RowOp::kMultiply:
      return a * b;
    case RowOp::kScale:
    case RowOp::kSpread:
      return by.constant * a;
    case RowOp::kRelu:
      return relu(a);
    case RowOp::kReluBackward:
      return a > 0 ? b : 0.0F;
    case RowOp::kGelu:
      return gelu(a);
    case RowOp::kGeluBackward:
      return b * gelu_slope(a);
    case RowOp::kTanh:
      return tanhf(a);
    case RowOp::kTanhBackward:
      return b * (1.0F - a * a);
    case RowOp::kDropout:
      return keeps(static_cast<std::uint64_t>(element), by.key, by.limit) ? a * by.constant : 0.0F;
    case RowOp::kRsqrt:
      return 1.0F / sqrtf(a + by.constant);
    case RowOp::kRsqrtBackward:
      return a * a * a * b * -0.5F;
    case RowOp::kRound:
      return rounded_to(by.format, a);
    case RowOp::kRowMean:
    case RowOp::kRowSum:
      break;
  }
  return a;
}

__device__ inline float load_value(const void* array, NumberFormat format, std::int64_t at) {
  switch (format) {
    case NumberFormat::kBfloat16:
      return to_float(static_cast<const __nv_bfloat16*>(array)[at]);
    case NumberFormat::kFloat16:
      return to_float(static_cast<const __half*>(array)[at]);
    case NumberFormat::kFloat32:
    case NumberFormat::kTf32:
      break;
  }
  return static_cast<const float*>(array)[at];
}

__device__ inline void store_value(void* array, NumberFormat format, std::int64_t at, float value) {
  if (format == NumberFormat::kBfloat16)
    static_cast<__nv_bfloat16*>(array)[at] = from_float<__nv_bfloat16>(value);
  else if (format == NumberFormat::kFloat16)
    static_cast<__half*>(array)[at] = from_float<__half>(value);
  else
    static_cast<float*>(array)[at] = value;
}

/// The values of one element up to `end` instructions; sums along the row are in `sums`.
__device__ inline void evaluate(const RowProgramParameters& a, std::int64_t row,
                                std::int64_t column, int end, const float* sums,
                                float (&values)[kMostRowValues]) {
  const std::int64_t element = row * a.columns + column;
  for (int i = 0; i < a.inputs; ++i)
    values[i] = load_value(a.from[i], a.formats[i],
                           a.kinds[i] == RowKind::kFull     ? element
                           : a.kinds[i] == RowKind::kPerRow ? row
                                                            : column);
  for (int n = 0; n < end; ++n) {
    const DeviceRowInstruction& by = a.code[n];
    values[a.inputs + n] = is_sum(by.op)
                               ? sums[n]
                               : execute(by, values[by.a], by.b < 0 ? 0.0F : values[by.b], element);
  }
}

__device__ inline void write(const RowProgramParameters& a, std::int64_t row, std::int64_t column,
                             const float (&values)[kMostRowValues]) {
  for (int i = a.inputs; i < a.inputs + a.instructions; ++i) {
    if (!a.to[i]) continue;
    if (a.kinds[i] == RowKind::kFull)
      store_value(a.to[i], a.formats[i], row * a.columns + column, values[i]);
    else if (a.kinds[i] == RowKind::kPerRow && column == 0)
      store_value(a.to[i], a.formats[i], row, values[i]);
    else if (a.kinds[i] == RowKind::kPerColumn && row == 0)
      store_value(a.to[i], a.formats[i], column, values[i]);
  }
}

HEADWAY_KERNEL(row_program_elements, 256, RowProgramParameters) {
  float values[kMostRowValues];
  for (std::int64_t i = global_thread(); i < a.rows * a.columns; i += global_threads()) {
    evaluate(a, i / a.columns, i % a.columns, a.instructions, nullptr, values);
    write(a, i / a.columns, i % a.columns, values);
  }
}

HEADWAY_KERNEL(row_program_rows, 256, RowProgramParameters) {
  __shared__ float sums[kMostRowInstructions];
  float values[kMostRowValues];
  for (std::int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    for (int n = 0; n < a.instructions; ++n) {
      if (!is_sum(a.code[n].op)) continue;
      float sum = 0;
      for (std::int64_t column = threadIdx.x; column < a.columns; column += blockDim.x) {
        evaluate(a, row, column, n, sums, values);
        sum += values[a.code[n].a];
      }
      sum = group_sum<256>(sum);
      if (threadIdx.x == 0)
        sums[n] = a.code[n].op == RowOp::kRowSum ? sum : sum / static_cast<float>(a.columns);
      __syncthreads();
    }
    for (std::int64_t column = threadIdx.x; column < a.columns; column += blockDim.x) {
      evaluate(a, row, column, a.instructions, sums, values);
      write(a, row, column, values);
    }
    __syncthreads();
  }
}

}  // namespace headway::kernels::cuda
