// SPDX-License-Identifier: MIT
// Convolutions as sums in double precision, rounded once: what the stand-in for cuDNN does (fake_cudnn.cc).
#pragma once

#include <cstdint>

namespace fake_cudnn {

enum class Form { kForward, kBackwardData, kBackwardWeights };
enum class Type { kFloat32, kFloat16, kBfloat16, kInt8 };

/// x [images][height][width][channels], w [filters][rows][columns][channels], y [images][out_height][out_width][filters];
/// with channels first x [images][channels][height][width] and so on.
struct Geometry {
  std::int64_t images, height, width, channels, filters, rows, columns, out_height, out_width;
  std::int64_t stride, padding;
  bool channels_first;
};

/// Writes y, x or w, as the form has it; of kInt8 the result is of 32 bits. `tf32`: operands are cut to TF32 before.
void convolve(Form form, Type type, bool tf32, const Geometry& geometry, void* x, void* w, void* y);

}  // namespace fake_cudnn
