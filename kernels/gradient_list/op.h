// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

#include "kernels/number_format.h"
#include "kernels/work.h"

namespace headway::kernels {

/// A gradient in device memory. `rows` > 1: a matrix [rows, count / rows], as PowerSGD needs it.
struct GradientTensor {
  void* values = nullptr;  ///< `count` values in `format`; null where the device does not compute
  std::int64_t count = 0;  ///< includes the layout's padding, which is always zero
  std::int64_t rows = 1;
  NumberFormat format = NumberFormat::kFloat32;  ///< in memory: FP32, FP16 or BF16, never TF32
  /// By value: 1, or 0 for padding, which then stays zero whatever is unpacked. Null: an exchange
  /// leaves padding alone. Only on a processor.
  const float* mask = nullptr;
};

/// flat = all tensors, one after the other, in FP32. `tensors` must outlive the op, here and in the
/// ops below.
struct PackGradients {
  std::span<const GradientTensor> tensors;
  float* flat = nullptr;
};

/// tensors = flat · factor, rounded to each tensor's format. A processor keeps values of 16 bits in
/// FP32 and rounds them to `values`.
struct UnpackGradients {
  std::span<const GradientTensor> tensors;
  const float* flat = nullptr;
  float factor = 1;
  NumberFormat values = NumberFormat::kFloat32;
};

/// Adds up the gradients of micro batches in `sums` (FP32, one tensor after the other). The first
/// micro batch starts the sums. The last sets tensors = (sums + tensors) · factor instead of
/// storing sums.
struct AddUpGradients {
  std::span<const GradientTensor> tensors;
  float* sums = nullptr;
  bool first = false;
  bool last = false;
  float factor = 1;
};

/// to = to + from: how a parameter server adds a received vector.
struct AddVector {
  std::int64_t count = 0;
  const float* from = nullptr;
  float* to = nullptr;
};

void run(const PackGradients& op);
void run(const UnpackGradients& op);
void run(const AddUpGradients& op);
void run(const AddVector& op);

Work work_of(const PackGradients& op);
Work work_of(const UnpackGradients& op);
Work work_of(const AddUpGradients& op);
constexpr Work work_of(const AddVector& op) {
  return {op.count, 12 * op.count};
}

}  // namespace headway::kernels
