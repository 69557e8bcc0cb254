// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <array>

#include "common/error.h"
#include "kernels/simota/launch.h"
#include "tests/kernels/cuda/gpu.h"
#include "tests/kernels/simota_example.h"

namespace headway::test {
namespace {

using namespace kernels::cuda;
using kernels::Simota;

constexpr NumberFormat kFull = NumberFormat::kFloat32;

void refill(const Array& array, const std::vector<float>& values) {
  cuda::upload(gpu().driver(), reinterpret_cast<CUdeviceptr>(array.get()), values.data(),
               values.size() * sizeof(float));
}

/// The operands of an example on the device; results are filled with other numbers.
struct OnDevice {
  explicit OnDevice(const SimotaExample& e)
      : boxes(kFull, e.boxes),
        anchors(kFull, e.anchors),
        regions(kFull, e.regions),
        log_probabilities(kFull, e.log_probabilities),
        offsets(kFull, e.offsets),
        predicted(kFull, e.predicted),
        overlaps(kFull, e.overlaps),
        costs(kFull, e.costs),
        targets(kFull, e.targets),
        labels(e.labels),
        last(e.last),
        anchor_labels(e.anchor_labels),
        candidates(e.candidates),
        op{.shape = e.shape,
           .boxes = boxes.floats(),
           .labels = labels.get(),
           .anchors = anchors.floats(),
           .regions = regions.floats(),
           .log_probabilities = log_probabilities.floats(),
           .offsets = offsets.floats(),
           .candidates = candidates.get(),
           .predicted = predicted.floats(),
           .overlaps = overlaps.floats(),
           .costs = costs.floats(),
           .last = last.get(),
           .anchor_labels = anchor_labels.get(),
           .targets = targets.floats()} {}

  Array boxes, anchors, regions, log_probabilities, offsets, predicted, overlaps, costs, targets;
  Plain<std::int32_t> labels, last, anchor_labels;
  Plain<std::uint8_t> candidates;
  Simota op;
};

}  // namespace

TEST_CASE("SimOTA matches as on the processor, ties, missing boxes and all") {
  for (bool coarse : {false, true}) {
    for (auto [images, boxes, cells, per_cell] :
         {std::array{1, 1, 1, 1}, {3, 5, 9, 2}, {2, 20, 19, 3}, {4, 7, 16, 1}}) {
      CAPTURE(coarse);
      CAPTURE(cells);
      SimotaExample e(images, boxes, cells, per_cell, 5, coarse, 21);
      const OnDevice device(e);
      e.run();
      gpu().run(simota_decode(gpu().limits(), device.op));
      CHECK(device.candidates.read() == e.candidates);
      CHECK(largest_difference(device.predicted.read(), e.predicted) < 1e-6);
      gpu().run(simota_overlaps(gpu().limits(), device.op));
      CHECK(largest_difference(device.overlaps.read(), e.overlaps) < 1e-5);
      // Later passes start from equal IoUs and costs: a tie that one rounds away is a tie no more.
      refill(device.overlaps, e.overlaps);
      gpu().run(simota_costs(gpu().limits(), device.op));
      const std::vector<float> costs = device.costs.read();
      for (std::size_t i = 0; i < costs.size(); ++i) {
        if (costs[i] == e.costs[i]) continue;  // infinite
        REQUIRE(costs[i] == doctest::Approx(e.costs[i]).epsilon(1e-6));
      }
      refill(device.costs, e.costs);
      gpu().run(
          {simota_topk(gpu().limits(), device.op), simota_targets(gpu().limits(), device.op)});
      CHECK(device.last.read() == e.last);
      CHECK(device.anchor_labels.read() == e.anchor_labels);
      CHECK(largest_difference(device.targets.read(), e.targets) < 2e-5);
    }
  }
}

TEST_CASE("SimOTA image by image has the bits of the whole batch") {
  const SimotaExample e(5, 6, 10, 3, 4, false, 8);
  const OnDevice whole(e), parts(e);
  for (auto pass : kSimotaLaunches) gpu().run(pass(gpu().limits(), whole.op));
  for (std::int64_t image = 0; image < 5; ++image)
    for (auto pass : kSimotaLaunches) gpu().run(pass(gpu().limits(), parts.op.images(image, 1)));
  CHECK(parts.costs.read() == whole.costs.read());
  CHECK(parts.last.read() == whole.last.read());
  CHECK(parts.anchor_labels.read() == whole.anchor_labels.read());
  CHECK(parts.targets.read() == whole.targets.read());
}

TEST_CASE("SimOTA refuses shapes and addresses that its kernels cannot take") {
  SimotaExample e(1, 1, 2, 1, 3, true, 1);
  Simota op = e.op();
  op.shape.match.boxes = 0;
  CHECK_THROWS_AS(simota_topk(gpu().limits(), op), Error);
  op = e.op();
  op.shape.classes = 1;
  CHECK_THROWS_AS(simota_costs(gpu().limits(), op), Error);
  op = e.op();
  op.offsets += 1;
  CHECK_THROWS_AS(simota_decode(gpu().limits(), op), Error);
}

}  // namespace headway::test
