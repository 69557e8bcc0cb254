// SPDX-License-Identifier: MIT
#pragma once

#include <variant>

#include "kernels/compress_half/op.h"
#include "kernels/compress_int8/op.h"
#include "kernels/compress_top/op.h"
#include "kernels/gradient_list/op.h"
#include "kernels/image_shift/op.h"
#include "kernels/jpeg_blocks/op.h"
#include "kernels/picture_colours/op.h"
#include "kernels/picture_resize/op.h"
#include "kernels/power_sgd/op.h"

namespace headway::kernels {

/// What a stream runs beside the ops of a graph, as data, so that every device can make a kernel of it: kernels::run on a
/// processor, kernels::cuda::launches on a GPU. All arrays are the device's. First what ranks do with gradients before and
/// after they are sent, then what becomes of images before they are a graph's input.
using StreamOp = std::variant<PackGradients, UnpackGradients, AddUpGradients, AddVector,
                              CompressHalf, DecompressHalf, CompressInt8, DecompressInt8,
                              CompressTop, DecompressTop, PowerFirst, PowerSecond, PowerRestore,
                              ShiftImages, ResizePictures, ColourPictures, DecodeJpegBlocks>;

inline void run(const StreamOp& op) {
  std::visit([](const auto& each) { run(each); }, op);
}
inline Work work_of(const StreamOp& op) {
  return std::visit([](const auto& each) { return work_of(each); }, op);
}

}  // namespace headway::kernels
