// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "common/error.h"
#include "kernels/box_match/launch.h"
#include "kernels/loss_scaler/op.h"
#include "kernels/multibox/launch.h"
#include "tests/kernels/cuda/gpu.h"
#include "tests/kernels/random_array.h"

namespace headway::test {
namespace {

using namespace kernels::cuda;
using kernels::BoxMatchShape;
using kernels::LossFigures;
using kernels::MultiboxShape;
using Values = std::vector<float>;
using Numbers = std::vector<std::int32_t>;

constexpr NumberFormat kFull = NumberFormat::kFloat32;

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

/// Boxes with corners on a grid of 1/16: overlaps are often equal, and one in nine boxes is empty.
Values boxes(std::int64_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  Values all;
  for (std::int64_t i = 0; i < count; ++i) {
    const float x = static_cast<float>(random() % 12) / 16,
                y = static_cast<float>(random() % 12) / 16;
    const bool empty = random() % 9 == 0;
    const float w = empty ? 0 : static_cast<float>(1 + random() % 4) / 16,
                h = static_cast<float>(1 + random() % 4) / 16;
    all.insert(all.end(), {x, y, x + w, y + h});
  }
  return all;
}
/// From `least` to `most`.
Numbers labels_from(std::int64_t count, int least, int most, std::uint32_t seed) {
  std::mt19937 random(seed);
  Numbers all(at(count));
  for (std::int32_t& label : all)
    label = least + static_cast<std::int32_t>(random() % static_cast<unsigned>(most - least + 1));
  return all;
}

/// A detector's loss: labels mostly background, some uncounted, some positive.
struct LossCase {
  NumberFormat format;
  MultiboxShape shape;
  Values logarithms, offsets, targets;
  Numbers labels;

  LossCase(NumberFormat f, const MultiboxShape& s, int one_in, std::uint32_t seed)
      : format(f), shape(s), labels(at(s.rows())) {
    std::mt19937 random(seed);
    for (std::int32_t& label : labels) {
      const auto kind = random() % static_cast<unsigned>(one_in);
      label = kind == 0
                  ? 1 + static_cast<std::int32_t>(random() % static_cast<unsigned>(s.classes - 1))
              : kind == 1 ? -1
                          : 0;
    }
    logarithms = random_floats(s.rows() * s.classes, seed + 1, -2, 0.5F);
    // Coarse values, so that many losses are equal.
    for (float& value : logarithms) value = std::min(0.0F, std::round(value * 8) / 8);
    logarithms = rounded(f, logarithms);
    offsets = rounded(f, random_floats(s.rows() * 4, seed + 2));
    targets = random_floats(s.rows() * 4, seed + 3);
  }
};

constexpr MultiboxShape kLosses[] = {{1, 1, 2}, {3, 50, 4}, {2, 700, 21}, {5, 257, 3}};

}  // namespace

TEST_CASE("anchors get the boxes that the processor gives them, ties, empty boxes and all") {
  for (const BoxMatchShape& shape :
       {BoxMatchShape{1, 1, 1}, {3, 5, 77}, {2, 20, 1000}, {4, 7, 256}}) {
    CAPTURE(shape.anchors);
    const std::int64_t pairs = shape.pairs(), places = shape.images * shape.boxes,
                       rows = shape.images * shape.anchors;
    const Values box = boxes(places, 1);
    Values anchor = boxes(shape.anchors, 2);
    for (std::int64_t i = 0; i < shape.anchors; ++i)  // an anchor is never empty
      anchor[at(4 * i + 2)] = std::max(anchor[at(4 * i + 2)], anchor[at(4 * i)] + 0.0625F);
    const Numbers labels = labels_from(places, -1, 5, 3);
    Values overlaps(at(pairs)), offsets(at(4 * rows));
    Numbers best(at(places)), anchor_labels(at(rows));
    kernels::box_overlaps(shape, box.data(), labels.data(), anchor.data(), overlaps.data());
    kernels::best_anchors(shape, overlaps.data(), best.data());
    kernels::match_targets(shape, box.data(), labels.data(), anchor.data(), overlaps.data(),
                           best.data(), anchor_labels.data(), offsets.data());
    const Array dev_boxes(kFull, box), dev_anchors(kFull, anchor), dev_overlaps(kFull, pairs),
        dev_offsets(kFull, 4 * rows);
    const Plain<std::int32_t> dev_labels(labels), dev_best(Numbers(at(places), 99)),
        dev_anchor_labels(Numbers(at(rows), 99));
    const BoxMatchArrays a{dev_boxes.floats(),    dev_labels.get(), dev_anchors.floats(),
                           dev_overlaps.floats(), dev_best.get(),   dev_anchor_labels.get(),
                           dev_offsets.floats()};
    gpu().run({box_overlaps(gpu().limits(), shape, a)});
    CHECK(largest_difference(dev_overlaps.read(), overlaps) < 1e-6);
    // The later passes from equal overlaps: a tie that one rounds away is a tie no more.
    cuda::upload(gpu().driver(), reinterpret_cast<CUdeviceptr>(dev_overlaps.get()), overlaps.data(),
                 overlaps.size() * sizeof(float));
    gpu().run({best_anchors(gpu().limits(), shape, a), match_targets(gpu().limits(), shape, a)});
    CHECK(dev_best.read() == best);
    CHECK(dev_anchor_labels.read() == anchor_labels);
    CHECK(largest_difference(dev_offsets.read(), offsets) < 2e-5);
  }
}

TEST_CASE("the anchors that count are those that the processor picks, in its order") {
  for (NumberFormat format : kFormats) {
    CAPTURE(name_of(format));
    for (const MultiboxShape& shape : kLosses) {
      for (int one_in : {2, 5, 40}) {
        CAPTURE(shape.anchors);
        CAPTURE(one_in);
        const LossCase c(format, shape, one_in, 11);
        const std::int64_t rows = shape.rows();
        Values losses(at(rows));
        std::vector<std::uint8_t> picked(at(rows));
        Numbers places(at(rows));
        kernels::background_losses(shape, c.logarithms.data(), c.labels.data(), losses.data());
        kernels::pick_hard_negatives(shape, losses.data(), picked.data());
        kernels::compact(rows, picked.data(), places.data());
        const Array logarithms(format, c.logarithms), dev_losses(kFull, rows);
        const Plain<std::int32_t> labels(c.labels), dev_places(Numbers(at(rows), 99));
        const Plain<std::uint8_t> dev_picked(std::vector<std::uint8_t>(at(rows), 9));
        const Plain<double> parts(
            std::vector<double>(at(multibox_scratch_doubles(gpu().limits(), shape))));
        MultiboxArrays a;
        a.log_probabilities = logarithms.get(), a.labels = labels.get();
        a.losses = dev_losses.floats(), a.picked = dev_picked.get();
        a.places = dev_places.get(), a.parts = parts.get();
        gpu().run(background_losses(gpu().limits(), format, shape, a));
        CHECK(dev_losses.read() == losses);
        gpu().run(pick_hard_negatives(gpu().limits(), shape, a));
        CHECK(dev_picked.read() == picked);
        gpu().run(compact(gpu().limits(), shape, a));
        CHECK(dev_places.read() == places);
      }
    }
  }
}

TEST_CASE("a detector's loss and its gradients agree with the processor's, loss scale included") {
  for (NumberFormat format : kFormats) {
    CAPTURE(name_of(format));
    for (const MultiboxShape& shape : kLosses) {
      for (int one_in : {2, 7}) {
        CAPTURE(shape.anchors);
        const LossCase c(format, shape, one_in, 23);
        const std::int64_t rows = shape.rows();
        Values losses(at(rows));
        std::vector<std::uint8_t> picked(at(rows));
        Numbers places(at(rows));
        kernels::background_losses(shape, c.logarithms.data(), c.labels.data(), losses.data());
        kernels::pick_hard_negatives(shape, losses.data(), picked.data());
        kernels::compact(rows, picked.data(), places.data());
        LossFigures figures;
        kernels::multibox_loss_forward(shape, c.logarithms.data(), c.labels.data(),
                                       c.offsets.data(), c.targets.data(), places.data(), &figures);
        constexpr float kExponent = -12;  // a loss scale of 16
        Values dlogarithms(c.logarithms), doffsets(c.offsets);
        kernels::multibox_loss_backward(shape, c.labels.data(), c.offsets.data(), c.targets.data(),
                                        places.data(), dlogarithms.data(), doffsets.data(), 16);
        const Array logarithms(format, c.logarithms), offsets(format, c.offsets),
            targets(kFull, c.targets), dev_dlogarithms(format, rows * shape.classes),
            dev_doffsets(format, rows * 4), state(kFull, Values{kExponent, 0, 0, 0});
        const Plain<std::int32_t> labels(c.labels), dev_places(places);
        const Plain<LossFigures> dev_figures(std::vector<LossFigures>(1));
        const Plain<double> parts(
            std::vector<double>(at(multibox_scratch_doubles(gpu().limits(), shape))));
        MultiboxArrays a;
        a.log_probabilities = logarithms.get(), a.labels = labels.get();
        a.places = dev_places.get(), a.offsets = offsets.get(), a.targets = targets.floats();
        a.figures = dev_figures.get(), a.parts = parts.get();
        a.dlog_probabilities = dev_dlogarithms.get(), a.doffsets = dev_doffsets.get();
        a.state = state.floats();
        gpu().run(multibox_loss_forward(gpu().limits(), format, shape, a));
        const LossFigures got = dev_figures.read()[0];
        CHECK(got.loss == doctest::Approx(figures.loss).epsilon(1e-5));
        CHECK(got.correct == figures.correct);
        CHECK(got.counted == figures.counted);
        gpu().run(multibox_loss_backward(gpu().limits(), format, shape, a));
        CHECK(largest_difference(dev_dlogarithms.read(), dlogarithms) < tolerance(format));
        CHECK(largest_difference(dev_doffsets.read(), doffsets) < tolerance(format));
      }
    }
  }
}

}  // namespace headway::test
