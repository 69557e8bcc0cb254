// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "analyzer/kernels/families.h"
#include "common/gpu_models.h"
#include "trace/trace.h"

/// What a device can do at best: the table of common/gpu_models.h, and what the recording says.
namespace headway::analyzer {

/// Limits of one device, from the recording, else from the table; 0 where neither has the figure.
struct DeviceLimits {
  const GpuModel* model = nullptr;
  std::int32_t multiprocessors = 0;
  double memory_bytes_per_second = 0;
  double fp32_flops = 0;
  /// Peak of the matrix units for the fastest number type that training on this device uses without
  /// touching the model: TF32 where there is one, FP16 on older ones.
  double easy_tensor_flops = 0;
  bool easy_is_tf32 = false;
  enum class TensorCores : std::uint8_t { kUnknown, kAbsent, kPresent };
  TensorCores tensor_cores = TensorCores::kUnknown;
  bool bf16 = false;  ///< its matrix units take BF16
  /// Peak for inputs of type `precision` on the matrix units or the general ones; 0: unknown.
  double peak_flops(trace::MathUnit unit, Precision precision) const;
};

/// `architecture`: the highest that any kernel name of the device requires; 0: unknown.
DeviceLimits limits_of(const trace::Device& device, std::uint16_t architecture);

}  // namespace headway::analyzer
