// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/table.h"
#include "kernels/gradient_list/op.h"

namespace headway::kernels::cuda {

/// A gradient and its place in the flat FP32 array. One launch handles all formats: a block looks
/// up the format of its chunk.
struct GradientEntry {
  void* values = nullptr;
  float* flat = nullptr;  ///< its first value in the flat array
  std::int64_t count = 0;
  std::int32_t first_chunk = 0;
  NumberFormat format = NumberFormat::kFloat32;
};
struct GradientStep {
  float factor = 1;
  bool first = false;  ///< kernels/gradient_list/op.h, AddUpGradients
  bool last = false;
  std::int32_t tensors = 0;  ///< set by launch_tables, as the two below
  std::int32_t chunks = 0;
  std::int32_t chunk_offset = 0;
};

/// Elements of a chunk; a multiple of every pack.
inline constexpr std::int64_t kGradientChunk = 16384;

/// flat = values, and values = flat · factor, for arrays at any address.
Launches pack(const Limits& limits, std::span<const GradientEntry> entries);
Launches unpack(const Limits& limits, std::span<const GradientEntry> entries, float factor);

Launches launches(const Limits& limits, const PackGradients& op);
Launches launches(const Limits& limits, const UnpackGradients& op);
Launches launches(const Limits& limits, const AddUpGradients& op);
Launches launches(const Limits& limits, const AddVector& op);

}  // namespace headway::kernels::cuda
