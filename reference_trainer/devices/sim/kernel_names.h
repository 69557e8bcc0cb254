// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "common/gpu_models.h"
#include "reference_trainer/graph/graph.h"

namespace headway::trainer::sim {

/// The elements of a kernel's name besides its op.
struct KernelName {
  std::string_view part;      ///< for a node of several kernels; empty: the node has one kernel
  std::string_view operands;  ///< "f32", "tf32", "f16" or "bf16"; empty where nothing multiplies
  bool tensor_cores = false;
  bool large = false;     ///< enough blocks for large tiles
  int access_bytes = 16;  ///< how many bytes a product can read at once
};

/// The name that a profiler shows: products have the names of cuBLAS and cuDNN with number types
/// and tile, attention has FlashAttention's or CUTLASS's, clusters have Triton's, and other ops
/// have their own: "sim::bn_relu". The libraries' kernels are those of the GPU's generation.
std::string kernel_name(const GpuModel& gpu, const Node& node, const KernelName& by);

}  // namespace headway::trainer::sim
