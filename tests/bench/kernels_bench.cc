// SPDX-License-Identifier: MIT
// GB/s of every kernel beside the copy bandwidth measured in the same run (bytes as the op's Work
// counts them), and the gain of each fused form over its parts. The arrays are larger than the
// second-level cache, as activations of a training step are. Usage: headway_bench_kernels [--quick]
#include <fmt/format.h>

#include <cstring>
#include <span>
#include <string_view>

#include "kernels/adam/op.h"
#include "kernels/add/op.h"
#include "kernels/attention/op.h"
#include "kernels/batch_norm/op.h"
#include "kernels/bias_activation/op.h"
#include "kernels/box_match/op.h"
#include "kernels/image_shift/op.h"
#include "kernels/layer_norm/op.h"
#include "kernels/multibox/op.h"
#include "kernels/parallel.h"
#include "kernels/picture_colours/op.h"
#include "kernels/picture_resize/op.h"
#include "kernels/relu/op.h"
#include "kernels/sgd_momentum/op.h"
#include "kernels/simota/op.h"
#include "kernels/softmax_cross_entropy/op.h"
#include "tests/bench/bench_support.h"

namespace {

using namespace headway::kernels;
using headway::bench::median_seconds;

constexpr BatchNormShape kShape{64 * 28 * 28, 16};  // the first stage of ResNet-20 at batch 64
constexpr int kTensors = 65;                        // parameters of ResNet-20
constexpr std::int64_t kTensorFloats = 4096;

int repeats = 31;
double copy_gb_per_s = 1;

std::vector<float> filled(std::int64_t count, float value) {
  std::vector<float> result(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = value + static_cast<float>(i * 7919 % 1009) / 1009 - 0.5F;
  return result;
}

void print(std::string_view name, double seconds, Work work) {
  const double rate = static_cast<double>(work.bytes) / seconds / 1e9;
  fmt::print("{}: {:.2f} GB/s\n", name, rate);
  fmt::print("{}_time: {:.1f} us\n", name, seconds * 1e6);
  fmt::print("{}_of_copy: {:.0f} %\n", name, 100 * rate / copy_gb_per_s);
}

struct Arrays {
  std::vector<float> x = filled(kShape.elements(), 0.1F), r = filled(kShape.elements(), 0);
  std::vector<float> y = x, z = x, dy = filled(kShape.elements(), 0), dx = x, dr = x;
  std::vector<float> gamma = filled(16, 1), beta = filled(16, 0), mean = beta, variance = gamma,
                     saved_mean = beta, rstd = gamma, dgamma = beta, dbeta = beta;
  std::vector<std::uint8_t> mask = std::vector<std::uint8_t>(x.size());

  BatchNormForward forward() {
    return {x.data(),        r.data(), gamma.data(),      beta.data(), mean.data(),
            variance.data(), y.data(), saved_mean.data(), rstd.data(), mask.data()};
  }
  BatchNormBackward backward() {
    return {x.data(),    dy.data(), gamma.data(),  beta.data(),  saved_mean.data(), rstd.data(),
            mask.data(), dx.data(), dgamma.data(), dbeta.data(), dr.data()};
  }
};

double time_batch_norm(Arrays& a, Epilogue epilogue, std::string_view name) {
  const double forward = median_seconds(
      repeats, [&] { batch_norm_forward(kShape, epilogue, 1e-5F, 0.1F, a.forward()); });
  print(fmt::format("{}_forward", name), forward, batch_norm_forward_work(kShape, epilogue));
  const double backward =
      median_seconds(repeats, [&] { batch_norm_backward(kShape, epilogue, a.backward()); });
  print(fmt::format("{}_backward", name), backward, batch_norm_backward_work(kShape, epilogue));
  return forward + backward;
}

void bench_normalisation() {
  Arrays a;
  const std::int64_t n = kShape.elements();
  const double plain = time_batch_norm(a, Epilogue::kNone, "batch_norm");
  const double relu = median_seconds(repeats, [&] { relu_forward(n, a.y.data(), a.z.data()); });
  print("relu_forward", relu, relu_forward_work(n));
  const double back =
      median_seconds(repeats, [&] { relu_backward(n, a.y.data(), a.dy.data(), a.dx.data()); });
  print("relu_backward", back, relu_backward_work(n));
  const double sum = median_seconds(repeats, [&] { add(n, a.y.data(), a.r.data(), a.z.data()); });
  print("add", sum, add_work(n));
  const double fused = time_batch_norm(a, Epilogue::kRelu, "bn_relu");
  const double fused_add = time_batch_norm(a, Epilogue::kAddRelu, "bn_add_relu");
  fmt::print("bn_relu_gain: {:.2f} x\n", (plain + relu + back) / fused);
  fmt::print("bn_add_relu_gain: {:.2f} x\n", (plain + relu + back + sum) / fused_add);
}

void bench_optimizer() {
  constexpr std::int64_t kTotal = kTensors * kTensorFloats;
  std::vector<float> p = filled(kTotal, 0), v = filled(kTotal, 0), g = filled(kTotal, 0), d = g;
  std::vector<SgdTensor> tensors;
  for (int i = 0; i < kTensors; ++i) {
    const std::int64_t first = i * kTensorFloats;
    tensors.push_back({&p[first], &v[first], &g[first], kTensorFloats});
  }
  constexpr SgdParameters kBy{1e-3F, 0.9F, 1e-4F};
  const double passes = median_seconds(repeats, [&] {
    for (const SgdTensor& t : tensors) {
      sgd_decay(t.count, t.gradient, t.parameter, kBy.decay, d.data());
      sgd_scale(t.count, kBy.momentum, t.velocity);
      sgd_accumulate(t.count, d.data(), t.velocity);
      sgd_apply(t.count, t.velocity, kBy.rate, t.parameter);
    }
  });
  const Work work = sgd_momentum_work(kTotal);
  print("sgd_four_passes", passes,
        sgd_decay_work(kTotal) + sgd_scale_work(kTotal) + sgd_accumulate_work(kTotal) +
            sgd_apply_work(kTotal));
  const double each = median_seconds(repeats, [&] {
    for (const SgdTensor& t : tensors) sgd_momentum(t, kBy);
  });
  print("sgd_per_parameter", each, work);
  const double multi = median_seconds(repeats, [&] { sgd_momentum_multi_tensor(tensors, kBy); });
  print("sgd_multi_tensor", multi, work);
  fmt::print("sgd_one_pass_gain: {:.2f} x\n", passes / multi);
}

/// Transformer of 256 features at batch 8 and 128 tokens: what its elementwise and attention kernels
/// bring beside the same in parts.
void bench_transformer() {
  constexpr LayerNormShape kRows{1024, 256};
  constexpr std::int64_t kWide = 1024;
  const std::int64_t n = kRows.elements();
  std::vector<float> x = filled(n, 0.1F), r = filled(n, 0), sum = x, y = x, dy = r, dx = x;
  std::vector<float> gamma = filled(256, 1), beta = filled(256, 0), dgamma = beta, dbeta = beta;
  std::vector<float> mean = filled(1024, 0), rstd = mean;
  print("add_layer_norm_forward",
        median_seconds(repeats,
                       [&] {
                         layer_norm_forward(kRows, 1e-5F,
                                            {x.data(), r.data(), sum.data(), gamma.data(),
                                             beta.data(), y.data(), mean.data(), rstd.data()});
                       }),
        layer_norm_forward_work(kRows, true));
  print("add_layer_norm_backward",
        median_seconds(repeats,
                       [&] {
                         layer_norm_backward(
                             kRows, {sum.data(), dy.data(), gamma.data(), mean.data(), rstd.data(),
                                     r.data(), dx.data(), dgamma.data(), dbeta.data()});
                       }),
        layer_norm_backward_work(kRows, true));
  std::vector<float> wide = filled(1024 * kWide, 0), out = wide, bias = filled(kWide, 0);
  print("bias_gelu_forward",
        median_seconds(
            repeats, [&] { bias_gelu_forward(1024, kWide, wide.data(), bias.data(), out.data()); }),
        bias_gelu_forward_work(1024, kWide));
  constexpr AttentionShape kAttention{8, 128, 4, 64, 128, 0};
  std::vector<float> qkv = filled(3 * n, 0), lse = filled(kAttention.groups() * 128, 0), dqkv = qkv;
  const double forward = median_seconds(
      repeats, [&] { attention_forward(kAttention, qkv.data(), y.data(), lse.data()); });
  const double backward = median_seconds(repeats, [&] {
    attention_backward(kAttention, qkv.data(), y.data(), lse.data(), dy.data(), dqkv.data());
  });
  auto rate = [](Work work, double seconds) {
    return static_cast<double>(work.flops) / seconds / 1e9;
  };
  fmt::print("attention_forward: {:.1f} GFLOP/s\n",
             rate(attention_forward_work(kAttention), forward));
  fmt::print("attention_backward: {:.1f} GFLOP/s\n",
             rate(attention_backward_work(kAttention), backward));
  std::vector<AdamTensor> tensors;
  std::vector<float> p = filled(n, 0), m = p, v = filled(n, 1), g = p, scratch = p;
  for (std::int64_t i = 0; i < 64; ++i)
    tensors.push_back({&p[i * 4096], &m[i * 4096], &v[i * 4096], &g[i * 4096], nullptr, 4096, {}});
  const AdamStep step = at_step({1e-3F}, 1);
  const double together = median_seconds(repeats, [&] { adam_multi_tensor(tensors, step); });
  const double passes = median_seconds(repeats, [&] {
    for (const AdamTensor& t : tensors)
      for (int part = 0; part < kAdamPasses; ++part) adam_pass(part, t, step, scratch.data());
  });
  print("adam_multi_tensor", together, adam_work(64 * 4096));
  fmt::print("adam_one_pass_gain: {:.2f} x\n", passes / together);
}

/// SSD300 at batch 8: three boxes in each image, and the loss over 81 classes.
void bench_detection() {
  constexpr BoxMatchShape kBoxes{8, 3, 8732};
  constexpr MultiboxShape kLoss{8, 8732, 81};
  std::vector<float> anchors,
      boxes = {0.1F, 0.1F, 0.4F, 0.5F, 0.5F, 0.2F, 0.9F, 0.9F, 0.3F, 0.6F, 0.6F, 0.8F};
  for (std::int64_t i = 0; i < kBoxes.anchors; ++i) {
    const float x = static_cast<float>(i % 93) / 100;
    const float y = static_cast<float>(i / 93) / 100;
    anchors.insert(anchors.end(), {x, y, x + 0.2F, y + 0.2F});
  }
  for (int doubling = 0; doubling < 3; ++doubling)
    boxes.insert(boxes.end(), boxes.begin(), boxes.end());
  std::vector<std::int32_t> classes(24, 5), best(24), labels(8 * 8732), rows = labels;
  std::vector<float> overlaps(static_cast<std::size_t>(kBoxes.pairs())), offsets(4 * labels.size());
  print("box_overlaps",
        median_seconds(repeats,
                       [&] {
                         box_overlaps(kBoxes, boxes.data(), classes.data(), anchors.data(),
                                      overlaps.data());
                       }),
        box_overlaps_work(kBoxes));
  print("best_anchors",
        median_seconds(repeats, [&] { best_anchors(kBoxes, overlaps.data(), best.data()); }),
        best_anchors_work(kBoxes));
  print("match_targets",
        median_seconds(repeats,
                       [&] {
                         match_targets(kBoxes, boxes.data(), classes.data(), anchors.data(),
                                       overlaps.data(), best.data(), labels.data(), offsets.data());
                       }),
        match_targets_work(kBoxes));
  const std::vector<float> logarithms = filled(kLoss.rows() * kLoss.classes, -3);
  std::vector<float> regions, costs(overlaps.size()), predicted(offsets.size()),
      targets(offsets.size());
  for (std::size_t i = 0; i < anchors.size(); i += 4)
    regions.insert(regions.end(), {anchors[i] + 0.03F, anchors[i + 1] + 0.03F, anchors[i] + 0.17F,
                                   anchors[i + 1] + 0.17F});
  std::vector<std::uint8_t> candidates(labels.size());
  const Simota simota{.shape = {kBoxes, kLoss.classes},
                      .boxes = boxes.data(),
                      .labels = classes.data(),
                      .anchors = anchors.data(),
                      .regions = regions.data(),
                      .log_probabilities = logarithms.data(),
                      .offsets = offsets.data(),
                      .candidates = candidates.data(),
                      .predicted = predicted.data(),
                      .overlaps = overlaps.data(),
                      .costs = costs.data(),
                      .last = best.data(),
                      .anchor_labels = rows.data(),
                      .targets = targets.data()};
  for (const SimotaPass& pass : kSimotaPasses)
    print(fmt::format("simota_{}", pass.name), median_seconds(repeats, [&] { pass.run(simota); }),
          pass.work(simota.shape));
  std::vector<float> losses(labels.size()), dlogarithms(logarithms.size()),
      doffsets(offsets.size());
  std::vector<std::uint8_t> picked(labels.size());
  print("background_losses",
        median_seconds(
            repeats,
            [&] { background_losses(kLoss, logarithms.data(), labels.data(), losses.data()); }),
        background_losses_work(kLoss));
  print("pick_hard_negatives",
        median_seconds(repeats, [&] { pick_hard_negatives(kLoss, losses.data(), picked.data()); }),
        pick_hard_negatives_work(kLoss));
  print("compact",
        median_seconds(repeats, [&] { compact(kLoss.rows(), picked.data(), rows.data()); }),
        compact_work(kLoss.rows()));
  print("multibox_loss_backward",
        median_seconds(repeats,
                       [&] {
                         multibox_loss_backward(kLoss, labels.data(), offsets.data(),
                                                offsets.data(), rows.data(), dlogarithms.data(),
                                                doffsets.data());
                       }),
        multibox_loss_backward_work(kLoss));
}

/// Eight pictures of ImageNet's usual size for ResNet-50, and a batch of grey images for ResNet-20. These are bound by
/// arithmetic.
void bench_input() {
  constexpr int kHeight = 375, kWidth = 500, kSide = 224, kImages = 8;
  constexpr std::int64_t kSource = std::int64_t{3} * kHeight * kWidth;
  constexpr std::int64_t kValues = std::int64_t{3} * kSide * kSide;
  std::vector<std::uint8_t> pictures(kImages * kSource), pixels(kImages * kValues);
  for (std::size_t i = 0; i < pictures.size(); ++i)
    pictures[i] = static_cast<std::uint8_t>(i * 7919 % 1009);
  std::vector<PicturePart> parts;
  for (int i = 0; i < kImages; ++i)
    parts.push_back({i * kSource, kHeight, kWidth, 0, 0, kHeight, kWidth, i % 2});
  std::vector<float> floats(pixels.size());
  auto measure = [](std::string_view name, const auto& op) {
    print(name, median_seconds(repeats, [&] { run(op); }), work_of(op));
  };
  measure("resize_pictures", ResizePictures{kImages, kSide, kSide, kImages * kSource,
                                            pictures.data(), parts.data(), pixels.data()});
  const std::vector<ColourChange> changes(kImages, {0.9F, 1.1F, 1.2F});
  ColourPictures colours{
      kImages,       kSide,   kSide,        {0.485F, 0.456F, 0.406F}, {0.229F, 0.224F, 0.225F},
      pixels.data(), nullptr, floats.data()};
  measure("colour_pictures_normalise", colours);
  colours.changes = changes.data();
  measure("colour_pictures", colours);
  const std::vector<ImageShift> shifts(256, {-2, 1, 1});
  measure("shift_images",
          ShiftImages{256, 28, 28, 0.011F, -0.8F, pictures.data(), shifts.data(), floats.data()});
}

}  // namespace

int main(int argc, char** argv) {
  if (headway::bench::is_quick(argc, argv)) repeats = 3;
  const std::int64_t n = kShape.elements();
  std::vector<float> a = filled(n, 0);
  std::vector<float> b = filled(n, 0);
  const auto bytes = static_cast<std::size_t>(n) * sizeof(float);
  copy_gb_per_s =
      2 * static_cast<double>(bytes) / 1e9 / median_seconds(repeats, [&] {
        parallel_for(n, kFlatGrain, max_threads(), [&](auto begin, auto end) {
          std::memcpy(&b[static_cast<std::size_t>(begin)], &a[static_cast<std::size_t>(begin)],
                      static_cast<std::size_t>(end - begin) * sizeof(float));
        });
      });
  fmt::print("{} threads, arrays of {} bytes, median of {}\n", max_threads(), bytes, repeats);
  fmt::print("memcpy: {:.2f} GB/s\n", copy_gb_per_s);
  bench_normalisation();
  bench_optimizer();
  bench_transformer();
  bench_detection();
  bench_input();
  constexpr SoftmaxCrossEntropyShape kLoss{64, 10};
  std::vector<float> logits = filled(640, 0), probabilities = logits;
  std::vector<std::int32_t> labels(64, 3);
  LossFigures figures;
  print("softmax_cross_entropy_forward",
        median_seconds(repeats,
                       [&] {
                         softmax_cross_entropy_forward(kLoss, logits.data(), labels.data(),
                                                       probabilities.data(), &figures);
                       }),
        softmax_cross_entropy_forward_work(kLoss));
}
