// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "analyzer/kernels/families.h"
#include "trace/trace.h"

/// What a device can do at best: a table with a source per row, and what the recording says.
namespace headway::analyzer {

/// One model. Dense peaks at boost clock; 0: the model has no such unit, or its maker states none.
struct GpuModel {
  std::string_view id;              ///< "h100-sxm": stable, what a user may ask for
  std::string_view pattern;         ///< in the device's name, lower case, `*` stands for any text
  std::int64_t memory_below_bytes;  ///< the row is for devices with less memory; 0: any
  std::int32_t multiprocessors;
  std::int64_t memory_bytes_per_second;
  double fp32_flops;  ///< per second, general cores
  double tf32_flops;  ///< matrix units, TF32 or XF32
  double half_flops;  ///< matrix units, FP16; BF16 as well where bf16 is true
  double fp8_flops;   ///< matrix units
  bool bf16;          ///< matrix units take BF16
  std::int64_t l2_bytes;
  std::int64_t link_bytes_per_second;  ///< NVLink or Infinity Fabric, both directions; 0 none
  std::string_view source;
};
std::span<const GpuModel> gpu_models();

/// The model that a device name means; null when none is known.
const GpuModel* find_gpu(std::string_view device_name, std::int64_t memory_bytes = 0);

/// Limits of one device: what the recording says first, then the table; 0 where neither knows.
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
  /// Peak for inputs of this type on the matrix units, or the general ones; 0 unknown.
  double peak_flops(trace::MathUnit unit, Precision precision) const;
};

/// `architecture`: the highest that any kernel name of the device asks for, 0 unknown.
DeviceLimits limits_of(const trace::Device& device, std::uint16_t architecture);

}  // namespace headway::analyzer
