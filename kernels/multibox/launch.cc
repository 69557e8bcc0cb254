// SPDX-License-Identifier: MIT
#include "kernels/multibox/launch.h"

#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {
namespace {

/// Sums per block: loss, positive rows, correct rows; or the number of picked rows.
constexpr std::int64_t kSums = 3;

/// Few blocks, because the second stage adds their parts one after the other.
unsigned blocks_of(const Limits& limits, const MultiboxShape& shape) {
  return blocks_for(shape.rows(), kFlatThreads, limits, 2);
}

Launch launch(std::string kernel, unsigned blocks, const MultiboxShape& shape,
              const MultiboxArrays& arrays) {
  return make_launch("multibox", std::move(kernel), {blocks}, kFlatThreads,
                     MultiboxParameters{shape, arrays});
}
void require_shape(const char* kernel, const MultiboxShape& s) {
  require(s.images > 0 && s.anchors > 0 && s.classes > 1, kernel,
          "images, anchors and two classes at least are needed");
}

}  // namespace

std::int64_t multibox_scratch_doubles(const Limits& limits, const MultiboxShape& shape) {
  return kSums * blocks_of(limits, shape);
}

Launch background_losses(const Limits& limits, NumberFormat format, const MultiboxShape& shape,
                         const MultiboxArrays& a) {
  constexpr const char* kKernel = "background_losses";
  require_shape(kKernel, shape);
  require_flat(kKernel, format, 1, a.log_probabilities);
  require_aligned(a.labels, 4, kKernel, "the labels");
  require_aligned(a.losses, 4, kKernel, "the losses");
  return launch(kernel_name(kKernel, format), blocks_for(shape.rows(), kFlatThreads, limits), shape,
                a);
}

Launch pick_hard_negatives(const Limits& limits, const MultiboxShape& shape,
                           const MultiboxArrays& a) {
  constexpr const char* kKernel = "pick_hard_negatives";
  require_shape(kKernel, shape);
  require_aligned(a.losses, 4, kKernel, "the losses");
  require_aligned(a.picked, 1, kKernel, "what is picked");
  return launch(kKernel, blocks_for(shape.images, 1, limits), shape, a);
}

Launches compact(const Limits& limits, const MultiboxShape& shape, const MultiboxArrays& a) {
  constexpr const char* kKernel = "compact";
  require_shape(kKernel, shape);
  require_aligned(a.picked, 1, kKernel, "what is picked");
  require_aligned(a.places, 4, kKernel, "the places");
  require_aligned(a.parts, 8, kKernel, "the scratch memory");
  const unsigned blocks = blocks_of(limits, shape);
  return {launch("compact_count", blocks, shape, a), launch("compact_write", blocks, shape, a)};
}

Launches multibox_loss_forward(const Limits& limits, NumberFormat format,
                               const MultiboxShape& shape, const MultiboxArrays& a) {
  constexpr const char* kKernel = "multibox_loss_forward";
  require_shape(kKernel, shape);
  require_flat(kKernel, format, 1, a.log_probabilities, a.offsets);
  for (const void* each : {static_cast<const void*>(a.labels), static_cast<const void*>(a.targets),
                           static_cast<const void*>(a.places), static_cast<const void*>(a.figures)})
    require_aligned(each, 4, kKernel, "an array");
  require_aligned(a.parts, 8, kKernel, "the scratch memory");
  const unsigned blocks = blocks_of(limits, shape);
  // The second stage takes the number of parts from its own grid.
  return {launch(kernel_name("multibox_sums", format), blocks, shape, a),
          launch("multibox_figures", blocks, shape, a)};
}

Launches multibox_loss_backward(const Limits& limits, NumberFormat format,
                                const MultiboxShape& shape, const MultiboxArrays& a) {
  constexpr const char* kKernel = "multibox_loss_backward";
  require_shape(kKernel, shape);
  require_flat(kKernel, format, 1, a.offsets, a.dlog_probabilities, a.doffsets);
  for (const void* each : {static_cast<const void*>(a.labels), static_cast<const void*>(a.targets),
                           static_cast<const void*>(a.places)})
    require_aligned(each, 4, kKernel, "an array");
  require_aligned(a.parts, 8, kKernel, "the scratch memory");
  const unsigned blocks = blocks_of(limits, shape);
  return {launch(kernel_name("multibox_clear", format), blocks, shape, a),
          launch(kernel_name("multibox_scatter", format), blocks, shape, a)};
}

}  // namespace headway::kernels::cuda
