// SPDX-License-Identifier: MIT
// Images are copied to the device as decoded 8-bit pixels, and the device augments and
// normalises them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "analyzer/evidence/loader.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/kernel_rates.h"
#include "analyzer/whatif/loader_pools.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Two kernels: one resizes, one changes colours and normalises.
constexpr int kKernels = 2;

/// Sizes in the stages of one batch.
struct Sizes {
  std::int64_t decoded = 0;    ///< bytes of pixels
  std::int64_t augmented = 0;  ///< bytes that are copied now
};

struct Stages {
  std::map<std::int64_t, Sizes> of_batch;
  DurationNs time;  ///< of augmenting, in all ranges

  /// Remaining share of the bytes of all batches if pixels are copied.
  double share() const {
    double decoded = 0;
    double augmented = 0;
    for (const auto& [batch, sizes] : of_batch) {
      decoded += static_cast<double>(sizes.decoded);
      augmented += static_cast<double>(sizes.augmented);
    }
    return augmented > 0 ? std::min(1.0, decoded / augmented) : 1;
  }
};

Stages read_stages(const Trace& trace) {
  Stages stages;
  for (std::uint32_t r = 0; r < trace.ranges.size(); ++r) {
    const RangeInfo* info = trace.info(RangeId{r});
    if (!info) continue;
    if (info->kind == RangeKind::kAugment) {
      stages.time += trace.ranges.interval(RangeId{r}).length();
      auto& most = stages.of_batch[info->batch].augmented;
      most = std::max(most, info->bytes);
    } else if (info->kind == RangeKind::kDecode) {
      stages.of_batch[info->batch].decoded = info->bytes;
    }
  }
  std::erase_if(stages.of_batch, [](const auto& each) {
    const auto& [batch, sizes] = each;
    return batch < 0 || sizes.decoded <= 0 || sizes.augmented <= 0;
  });
  return stages;
}

/// The run in which a batch's decoded pixels are copied to the device.
struct Crossing {
  Scenario scenario;
  std::int64_t copies = 0;
  DurationNs kernels;  ///< their time on the device, over all copies
};

Crossing crossing(const Predictor& predictor, const Stages& stages, double rate) {
  const DeviceOps& ops = predictor.trace().device_ops;
  const DurationNs least = shortest_kernel(ops);
  Editor editor(predictor);
  Crossing result;
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (ops.kind[i] != DeviceOpKind::kCopyHostToDevice) continue;
    const auto found = stages.of_batch.find(ops.batch[i]);
    if (found == stages.of_batch.end() || ops.bytes[i] != found->second.augmented) continue;
    const auto decoded = static_cast<double>(found->second.decoded);
    const auto augmented = static_cast<double>(found->second.augmented);
    // The copy's time includes the kernels after it on its stream. They read the pixels; write
    // bytes at the training size (a quarter of the floats' bytes), read them for the mean luma and
    // again; and write floats.
    const DurationNs kernels =
        least * kKernels + DurationNs{std::llround((decoded + 1.75 * augmented) / rate)};
    const DurationNs now = ops.interval(DeviceOpId{i}).length();
    editor.set_transfer(
        DeviceOpId{i},
        DurationNs{std::llround(static_cast<double>(now.ns) * decoded / augmented)} + kernels,
        true);
    result.kernels += kernels;
    ++result.copies;
  }
  result.scenario = editor.take();
  scale_stage(predictor, RangeKind::kAugment, 0, result.scenario);
  scale_stage(predictor, RangeKind::kCollate, stages.share(), result.scenario);
  return result;
}

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const DevicePartition& partition = predictor.analysis().partitions[predictor.steps().partition];
  const Stages stages = read_stages(trace);
  if (stages.time.ns == 0) return not_here("no range marks augmentation");
  if (!partition.device.valid() || trace.devices[partition.device.value].type == DeviceType::kHost)
    return not_here("the device is the CPU");
  const double rate = memory_bytes_per_ns(predictor, partition.device);
  if (rate <= 0) return not_here("the device's memory bandwidth is unknown");
  Crossing pixels = crossing(predictor, stages, rate);
  const auto batches = std::max<std::int64_t>(1, std::ssize(stages.of_batch));
  std::string text =
      fmt::format("saves {} of augmentation per batch", format_duration(stages.time / batches));
  if (pixels.copies > 0)
    text +=
        fmt::format("; device kernels take {}", format_duration(pixels.kernels / pixels.copies));
  Proposal proposal{true, std::move(text), std::move(pixels.scenario)};
  proposal.scenario.at_least = least_for_storage(predictor);
  return proposal;
}

}  // namespace

const Fix kAugmentOnDevice{
    "augment-on-device",
    "Augment on the device",
    "input-bound",
    FixKind::kModelled,
    0.15,
    "--augment-on device",
    "Augmentation ranges take no time. Collation and batch copies shrink to 8-bit pixels. Copies "
    "grow by two kernels that convert pixels to floats at memory bandwidth.",
    "box transforms in the same ranges, which stay in the loader",
    propose};

}  // namespace headway::analyzer
