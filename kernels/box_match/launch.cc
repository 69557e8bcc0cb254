// SPDX-License-Identifier: MIT
#include "kernels/box_match/launch.h"

#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {
namespace {

Launch launch(const Limits& limits, const char* kernel, std::int64_t work, unsigned threads,
              const BoxMatchShape& shape, const BoxMatchArrays& a) {
  require(shape.images > 0 && shape.boxes > 0 && shape.anchors > 0, kernel,
          "images, boxes and anchors must be positive");
  require_aligned(a.overlaps, 4, kernel, "the overlaps");
  return make_launch("box_match", kernel, {blocks_for(work, threads, limits)}, kFlatThreads,
                     BoxMatchParameters{shape, a});
}
void require_boxes(const char* kernel, const BoxMatchArrays& a) {
  for (const float* array : {a.boxes, a.anchors})
    require_aligned(array, 16, kernel, "four numbers of a box");
  require_aligned(a.labels, 4, kernel, "the labels");
}

}  // namespace

Launch box_overlaps(const Limits& limits, const BoxMatchShape& shape, const BoxMatchArrays& a) {
  require_boxes("box_overlaps", a);
  return launch(limits, "box_overlaps", shape.pairs(), kFlatThreads, shape, a);
}

Launch best_anchors(const Limits& limits, const BoxMatchShape& shape, const BoxMatchArrays& a) {
  require_aligned(a.best, 4, "best_anchors", "the best anchors");
  return launch(limits, "best_anchors", shape.images * shape.boxes, 1, shape, a);
}

Launch match_targets(const Limits& limits, const BoxMatchShape& shape, const BoxMatchArrays& a) {
  require_boxes("match_targets", a);
  require_aligned(a.best, 4, "match_targets", "the best anchors");
  require_aligned(a.anchor_labels, 4, "match_targets", "the anchors' labels");
  require_aligned(a.offsets, 16, "match_targets", "the offsets");
  return launch(limits, "match_targets", shape.images * shape.anchors, kFlatThreads, shape, a);
}

}  // namespace headway::kernels::cuda
