// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "common/gpu_models.h"
#include "reference_trainer/graph/graph.h"

namespace headway::trainer::sim {

/// What a kernel's name is made of besides its op.
struct KernelName {
  std::string_view part;      ///< of a node of several kernels; empty: its only one
  std::string_view operands;  ///< "f32", "tf32", "f16" or "bf16"; empty where nothing multiplies
  bool tensor_cores = false;
  bool large = false;     ///< enough blocks for large tiles
  int access_bytes = 16;  ///< that a product can read at once
};

/// As a profiler shows it: products by the names of cuBLAS and cuDNN with number types and tile, attention by FlashAttention's or
/// CUTLASS's, clusters by Triton's, and the rest by its op: "sim::bn_relu". The libraries' kernels are those of the GPU's
/// generation.
std::string kernel_name(const GpuModel& gpu, const Node& node, const KernelName& by);

}  // namespace headway::trainer::sim
