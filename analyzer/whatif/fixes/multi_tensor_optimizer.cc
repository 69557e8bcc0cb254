// SPDX-License-Identifier: MIT
// One kernel updates all parameters, instead of several kernels for each parameter.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/fixes/loss_scaling.h"
#include "analyzer/whatif/kernel_bound.h"
#include "analyzer/whatif/kernel_rates.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Fewer kernels than this are a multi-tensor update already.
constexpr std::size_t kFew = 12;
/// Bytes of a fused update as a share of those of separate passes: 28 of 72 per parameter for Adam
/// and its variants, 20 of 44 for SGD with momentum.
constexpr double kFusedAdam = 28.0 / 72;
constexpr double kFusedSgd = 20.0 / 44;

/// Rate of a fused update in bytes/ns: that of the update's largest kernel if it fills the device
/// or nothing else is known; at most the calibrated rate or near the device's peak. 0 if neither is
/// known.
double bytes_per_ns(const Predictor& predictor, std::span<const DeviceOpId> update,
                    DurationNs shortest) {
  const Trace& trace = predictor.trace();
  const DeviceOps& ops = trace.device_ops;
  const StreamId stream = ops.stream[update.front().value];
  const double known = memory_bytes_per_ns(predictor, trace.streams[stream.value].device);
  const DeviceOpId largest =
      *std::ranges::max_element(update, {}, [&](DeviceOpId op) { return ops.bytes[op.value]; });
  const DurationNs moving = ops.interval(largest).length() - shortest;
  const auto limits = limits_of_steps(predictor);
  const bool fills =
      limits && limits->multiprocessors > 0 &&
      static_cast<std::int64_t>(ops.blocks[largest.value]) >= 2 * limits->multiprocessors;
  if (moving.ns <= 0 || (known > 0 && !fills)) return known;
  const double reached =
      static_cast<double>(ops.bytes[largest.value]) / static_cast<double>(moving.ns);
  return known > 0 ? std::min(known, reached) : reached;
}

bool says(std::string_view text, std::string_view word) {
  const auto same = [](char a, char b) { return (a | 0x20) == b; };
  return std::search(text.begin(), text.end(), word.begin(), word.end(), same) != text.end();
}

/// True if one kernel per parameter already does the whole update, besides kernels that unscale its
/// gradient (FP16) or compute norms (LARS; LAMB, which also needs the norm of the update). Then a
/// fused update moves as many bytes.
bool in_one_pass(const Trace& trace, std::span<const DeviceOpId> update) {
  constexpr double kNearlyAll = 0.8;
  std::map<StringId, std::size_t> kernels;  // by name
  std::size_t all = 0;
  for (DeviceOpId op : update) {
    const StringId name = trace.device_ops.name[op.value];
    if (says(trace.strings[name], "norm") || scales_losses(trace.strings[name])) continue;
    ++kernels[name];
    ++all;
  }
  std::size_t most = 0;
  bool lamb = false;
  for (const auto& [name, count] : kernels) {
    most = std::max(most, count);
    lamb = lamb || says(trace.strings[name], "lamb");
  }
  return static_cast<double>(most * (lamb ? 2 : 1)) >= kNearlyAll * static_cast<double>(all);
}

/// The share for this update's optimizer, by the names of its kernels and of the ranges around
/// them.
double fused_share(const Predictor& predictor, std::span<const DeviceOpId> update) {
  const Trace& trace = predictor.trace();
  if (in_one_pass(trace, update)) return 1;
  auto is_adam = [&](StringId name) {
    const std::string_view text = trace.strings[name];
    return says(text, "adam") || says(text, "lamb");
  };
  const DeviceOpId op = *std::ranges::find_if(update, [&](DeviceOpId one) {
    return !scales_losses(trace.strings[trace.device_ops.name[one.value]]);
  });
  if (is_adam(trace.device_ops.name[op.value])) return kFusedAdam;
  for (RangeId range = predictor.analysis().attribution.range_of[op.value]; range.valid();
       range = trace.ranges.parent[range.value])
    if (is_adam(trace.ranges.name[range.value])) return kFusedAdam;
  return kFusedSgd;
}

/// Time of a fused kernel for the data of `update`; nothing if the bytes or the rate are not known.
std::optional<DurationNs> by_bytes(const Predictor& predictor, std::span<const DeviceOpId> update,
                                   DurationNs shortest) {
  const Trace& trace = predictor.trace();
  double passes = 0;
  double unscaling = 0;  // one pass before, of one kernel for all parameters as well
  for (DeviceOpId op : update) {
    const std::int64_t bytes = trace.device_ops.bytes[op.value];
    if (bytes <= 0) return std::nullopt;
    const bool scales = scales_losses(trace.strings[trace.device_ops.name[op.value]]);
    (scales ? unscaling : passes) += static_cast<double>(bytes);
  }
  const double rate = bytes_per_ns(predictor, update, shortest);
  if (rate <= 0) return std::nullopt;
  return DurationNs{std::llround((fused_share(predictor, update) * passes + unscaling) / rate)};
}

/// The kernels that update parameters in a step of a device, by start.
std::vector<DeviceOpId> update_of(const Predictor& predictor, const DevicePartition& partition,
                                  Interval step) {
  const DeviceOps& ops = predictor.trace().device_ops;
  std::vector<DeviceOpId> update;
  auto i = static_cast<std::size_t>(
      std::lower_bound(ops.start.begin(), ops.start.end(), step.begin) - ops.start.begin());
  for (; i < ops.size() && ops.start[i] < step.end; ++i) {
    if (ops.kind[i] == DeviceOpKind::kKernel &&
        predictor.analysis().attribution.phase_of[i] == Phase::kUpdate &&
        predictor.trace().streams[ops.stream[i].value].device == partition.device)
      update.push_back(DeviceOpId::from(i));
  }
  return update;
}

struct Sums {
  std::size_t most = 0;  ///< kernels of an update
  DurationNs before;     ///< their time, over all counted steps
  DurationNs after;
};

Sums fuse(const Predictor& predictor, const DevicePartition& partition, Editor& editor) {
  const DeviceOps& ops = predictor.trace().device_ops;
  Sums sums;
  for (const DeviceStep& step : partition.steps) {
    const std::vector<DeviceOpId> update = update_of(predictor, partition, step.interval);
    sums.most = std::max(sums.most, update.size());
    if (update.size() < kFew) continue;
    // A fused kernel needs the time that the kernels spend on data: the time of each beyond the
    // shortest kernel's, which is only start and end.
    DurationNs shortest = ops.interval(update.front()).length();
    DurationNs sum;
    for (DeviceOpId op : update) {
      shortest = std::min(shortest, ops.interval(op).length());
      sum += ops.interval(op).length();
    }
    DurationNs fused = sum - shortest * static_cast<std::int64_t>(update.size() - 1);
    if (const auto data = by_bytes(predictor, update, shortest))
      fused = std::min(fused, shortest + *data);
    editor.join(update);
    for (DeviceOpId op : update) {
      const double own = static_cast<double>(ops.interval(op).length().ns);
      editor.set_op(op, {static_cast<std::int64_t>(own * ratio(fused, sum))}, true);
    }
    if (counts(predictor.analysis().steps, step)) {
      sums.before += sum;
      sums.after += fused;
    }
  }
  return sums;
}

Proposal propose(const Predictor& predictor) {
  const std::vector<DevicePartition>& partitions = predictor.analysis().partitions;
  Editor editor(predictor);
  Sums told;
  // On every rank of the recording: an unchanged rank would delay the others.
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    if (!partitions[i].device.valid()) continue;
    const Sums sums = fuse(predictor, partitions[i], editor);
    if (i == predictor.steps().partition) told = sums;
  }
  if (told.most < kFew)
    return not_here(fmt::format("the update has at most {} kernels", told.most));
  const std::int64_t steady =
      std::max<std::int64_t>(1, partitions[predictor.steps().partition].steady_steps);
  return {true,
          fmt::format("{} update kernels become one: {} → {} per step", told.most,
                      format_duration(told.before / steady), format_duration(told.after / steady)),
          editor.take()};
}

}  // namespace

const Fix kMultiTensorOptimizer{
    "multi-tensor-optimizer",
    "Update all parameters in one kernel",
    "unfused-optimizer",
    FixKind::kModelled,
    0.15,
    "--fused-optimizer multi-tensor",
    "One launch replaces all. Its kernel takes the shortest kernel's time (fixed cost) plus the "
    "others' time beyond that, or their bytes at memory bandwidth if known and shorter.",
    "the fused kernel's share of memory bandwidth",
    propose};

}  // namespace headway::analyzer
