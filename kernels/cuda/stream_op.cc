// SPDX-License-Identifier: MIT
#include "kernels/cuda/stream_op.h"

#include "kernels/cuda/compress_half.h"
#include "kernels/cuda/compress_int8.h"
#include "kernels/cuda/compress_top.h"
#include "kernels/cuda/gradient_list.h"
#include "kernels/cuda/image_shift.h"
#include "kernels/cuda/jpeg_blocks.h"
#include "kernels/cuda/picture_colours.h"
#include "kernels/cuda/picture_resize.h"
#include "kernels/cuda/power_sgd.h"

namespace headway::kernels::cuda {

Launches launches(const Limits& limits, const StreamOp& op) {
  return std::visit([&](const auto& each) { return launches(limits, each); }, op);
}

}  // namespace headway::kernels::cuda
