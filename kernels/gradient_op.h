// SPDX-License-Identifier: MIT
#pragma once

#include <variant>

#include "kernels/compress_half.h"
#include "kernels/compress_int8.h"
#include "kernels/compress_top.h"
#include "kernels/gradient_list.h"
#include "kernels/power_sgd.h"

namespace headway::kernels {

/// What ranks do with gradients before and after they are sent, as data, so that every device can make a kernel of it:
/// kernels::run on a processor, kernels::cuda::launches on a GPU. All arrays are the device's.
using GradientOp = std::variant<PackGradients, UnpackGradients, AddUpGradients, AddVector,
                                CompressHalf, DecompressHalf, CompressInt8, DecompressInt8,
                                CompressTop, DecompressTop, PowerFirst, PowerSecond, PowerRestore>;

inline void run(const GradientOp& op) {
  std::visit([](const auto& each) { run(each); }, op);
}
inline Work work_of(const GradientOp& op) {
  return std::visit([](const auto& each) { return work_of(each); }, op);
}

}  // namespace headway::kernels
