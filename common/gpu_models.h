// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

/// Peak figures of GPUs: a table with a source per row. The analyzer compares recordings with it;
/// the trainer's simulated device computes durations from it.
namespace headway {

/// One model. Dense peaks at boost clock; 0: the model has no such unit, or the vendor states none.
struct GpuModel {
  std::string_view id;              ///< "h100-sxm": stable; users may ask for it
  std::string_view pattern;         ///< part of the lower-case device name; `*` is any text
  std::int64_t memory_below_bytes;  ///< the row is for devices with less memory; 0: any
  std::int32_t multiprocessors;
  std::int64_t memory_bytes_per_second;
  double fp32_flops;  ///< per second, general cores
  double tf32_flops;  ///< matrix units, TF32 or XF32
  double half_flops;  ///< matrix units, FP16; BF16 as well where bf16 is true
  double fp8_flops;   ///< matrix units
  double
      int8_ops;  ///< matrix units; Volta has none, and four times its FP32 on general cores (dp4a)
  bool bf16;     ///< matrix units take BF16
  std::int64_t l2_bytes;
  std::int64_t link_bytes_per_second;  ///< NVLink or Infinity Fabric, both directions; 0 none
  int pcie_generation;                 ///< of the slot with 16 lanes that it takes
  int compute_major;  ///< CUDA compute capability: 7 Volta and Turing, 8 Ampere and Ada, 9 Hopper; 0 not CUDA
  std::string_view source;
};
std::span<const GpuModel> gpu_models();

/// The model for a device name; null when none matches. Caches the last answer of each thread.
const GpuModel* find_gpu(std::string_view device_name, std::int64_t memory_bytes = 0);

}  // namespace headway
