// SPDX-License-Identifier: MIT
#pragma once

#include <variant>

#include "kernels/clip_gradients/op.h"
#include "kernels/compress_half/op.h"
#include "kernels/compress_int8/op.h"
#include "kernels/compress_one_bit/op.h"
#include "kernels/compress_top/op.h"
#include "kernels/gradient_list/op.h"
#include "kernels/image_shift/op.h"
#include "kernels/jpeg_blocks/op.h"
#include "kernels/picture_colours/op.h"
#include "kernels/picture_resize/op.h"
#include "kernels/power_sgd/op.h"

namespace headway::kernels {

/// Work that a stream runs besides the ops of a graph, as data, so that every device can make a
/// kernel of it: kernels::run on a processor, kernels::cuda::launches on a GPU. All arrays are in
/// device memory. First come the ops that ranks apply to gradients before and after an exchange,
/// then the ops that turn images into a graph's input.
using StreamOp =
    std::variant<PackGradients, UnpackGradients, AddUpGradients, AddVector, ClipGradients,
                 CompressHalf, DecompressHalf, CompressInt8, DecompressInt8, CompressOneBit,
                 DecompressOneBit, CompressTop, DecompressTop, PowerFirst, PowerSecond,
                 PowerRestore, ShiftImages, ResizePictures, ColourPictures, DecodeJpegBlocks>;

inline void run(const StreamOp& op) {
  std::visit([](const auto& each) { run(each); }, op);
}
inline Work work_of(const StreamOp& op) {
  return std::visit([](const auto& each) { return work_of(each); }, op);
}

}  // namespace headway::kernels
