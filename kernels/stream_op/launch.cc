// SPDX-License-Identifier: MIT
#include "kernels/stream_op/launch.h"

#include "kernels/clip_gradients/launch.h"
#include "kernels/compress_half/launch.h"
#include "kernels/compress_int8/launch.h"
#include "kernels/compress_one_bit/launch.h"
#include "kernels/compress_top/launch.h"
#include "kernels/gradient_list/launch.h"
#include "kernels/image_shift/launch.h"
#include "kernels/jpeg_blocks/launch.h"
#include "kernels/picture_colours/launch.h"
#include "kernels/picture_resize/launch.h"
#include "kernels/power_sgd/launch.h"

namespace headway::kernels::cuda {

Launches launches(const Limits& limits, const StreamOp& op) {
  return std::visit([&](const auto& each) { return launches(limits, each); }, op);
}

}  // namespace headway::kernels::cuda
