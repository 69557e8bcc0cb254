// SPDX-License-Identifier: MIT
#include "kernels/row_program/launch.h"

#include "kernels/cuda/row_arithmetic.cuh"

namespace headway::kernels::cuda {

__device__ __forceinline__ bool is_sum(RowOp op) {
  return op == RowOp::kRowMean || op == RowOp::kRowSum;
}

__device__ inline float execute(const DeviceRowInstruction& by, float a, float b,
                                std::int64_t element) {
  switch (by.op) {
    case RowOp::kAdd:
      return row_add(a, b);
    case RowOp::kSubtract:
      return row_subtract(a, b);
    case RowOp::kMultiply:
      return row_multiply(a, b);
    case RowOp::kScale:
    case RowOp::kSpread:
      return row_multiply(by.constant, a);
    case RowOp::kRelu:
      return relu(a);
    case RowOp::kReluBackward:
      return row_relu_backward(a, b);
    case RowOp::kGelu:
      return gelu(a);
    case RowOp::kGeluBackward:
      return row_gelu_backward(a, b);
    case RowOp::kTanh:
      return tanhf(a);
    case RowOp::kTanhBackward:
      return row_tanh_backward(a, b);
    case RowOp::kDropout:
      return row_dropout(a, element, by.key, by.limit, by.constant);
    case RowOp::kRsqrt:
      return row_rsqrt(a, by.constant);
    case RowOp::kRsqrtBackward:
      return row_rsqrt_backward(a, b);
    case RowOp::kRound:
      return by.format == NumberFormat::kTf32       ? round_to_tf32(a)
             : by.format == NumberFormat::kBfloat16 ? row_round<__nv_bfloat16>(a)
             : by.format == NumberFormat::kFloat16  ? row_round<__half>(a)
                                                    : a;
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

/// Computes the values of one element up to instruction `end`; sums along the row are in `sums`.
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
