// SPDX-License-Identifier: MIT
#include "kernels/simota/launch.h"

#include <initializer_list>

#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {
namespace {

Launch launch(const Limits& limits, const char* kernel, std::int64_t work, unsigned threads,
              const Simota& op) {
  require(op.shape.match.pairs() > 0, kernel, "images, boxes and anchors must be positive");
  require(op.shape.classes > 1, kernel, "two classes at least are needed, one is the background");
  require_aligned(op.labels, 4, kernel, "the labels");
  return make_launch("simota", kernel, {blocks_for(work, threads, limits)}, kFlatThreads,
                     SimotaParameters{op});
}

void require_boxes(const char* kernel, std::initializer_list<const float*> arrays) {
  for (const float* array : arrays) require_aligned(array, 16, kernel, "four numbers of a box");
}

void require_numbers(const char* kernel, std::initializer_list<const void*> arrays) {
  for (const void* array : arrays) require_aligned(array, 4, kernel, "an array of numbers");
}

}  // namespace

Launch simota_decode(const Limits& limits, const Simota& op) {
  constexpr const char* kKernel = "simota_decode";
  require_boxes(kKernel, {op.boxes, op.anchors, op.regions, op.offsets, op.predicted});
  require_aligned(op.candidates, 1, kKernel, "the candidates");
  return launch(limits, kKernel, op.shape.rows(), kFlatThreads, op);
}

Launch simota_overlaps(const Limits& limits, const Simota& op) {
  constexpr const char* kKernel = "simota_overlaps";
  require_boxes(kKernel, {op.boxes, op.predicted});
  require_aligned(op.candidates, 1, kKernel, "the candidates");
  require_numbers(kKernel, {op.overlaps});
  return launch(limits, kKernel, op.shape.match.pairs(), kFlatThreads, op);
}

Launch simota_costs(const Limits& limits, const Simota& op) {
  constexpr const char* kKernel = "simota_costs";
  require_boxes(kKernel, {op.boxes, op.regions});
  require_aligned(op.candidates, 1, kKernel, "the candidates");
  require_numbers(kKernel, {op.log_probabilities, op.overlaps, op.costs});
  return launch(limits, kKernel, op.shape.match.pairs(), kFlatThreads, op);
}

Launch simota_topk(const Limits& limits, const Simota& op) {
  constexpr const char* kKernel = "simota_topk";
  require_numbers(kKernel, {op.overlaps, op.costs, op.last});
  return launch(limits, kKernel, op.shape.places(), 1, op);
}

Launch simota_targets(const Limits& limits, const Simota& op) {
  constexpr const char* kKernel = "simota_targets";
  require_boxes(kKernel, {op.boxes, op.anchors, op.targets});
  require_numbers(kKernel, {op.costs, op.last, op.anchor_labels});
  return launch(limits, kKernel, op.shape.rows(), kFlatThreads, op);
}

}  // namespace headway::kernels::cuda
