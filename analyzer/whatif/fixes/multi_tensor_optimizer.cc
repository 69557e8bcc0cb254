// SPDX-License-Identifier: MIT
// The update in one kernel for all parameters instead of several for each.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/kernel_rates.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Fewer kernels than this are a multi-tensor update already.
constexpr std::size_t kFew = 12;
/// Of the bytes that the passes of an update move one by one, the share that a fused one moves: of Adam and what
/// builds on it 28 of 72 a parameter, of SGD with momentum 20 of 44.
constexpr double kFusedAdam = 28.0 / 72;
constexpr double kFusedSgd = 20.0 / 44;
/// A kernel of so many times the shortest one's time spends it on its bytes.
constexpr std::int64_t kLarge = 20;

/// Bytes a nanosecond that kernels reach: as calibrated, else near the device's peak; without either what the
/// largest kernels of the update reach. Zero when that is not known either.
double bytes_per_ns(const Predictor& predictor, std::span<const DeviceOpId> update,
                    DurationNs shortest) {
  const Trace& trace = predictor.trace();
  const DeviceOps& ops = trace.device_ops;
  const StreamId stream = ops.stream[update.front().value];
  const double known = memory_bytes_per_ns(predictor, trace.streams[stream.value].device);
  if (known > 0) return known;
  std::vector<double> rates;
  for (DeviceOpId op : update) {
    const DurationNs length = ops.interval(op).length();
    if (length > shortest * kLarge)
      rates.push_back(static_cast<double>(ops.bytes[op.value]) / static_cast<double>(length.ns));
  }
  if (rates.empty()) return 0;
  auto middle = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2);
  std::nth_element(rates.begin(), middle, rates.end());
  return *middle;
}

/// By the names of its kernels and of the ranges around them.
double fused_share(const Predictor& predictor, DeviceOpId op) {
  const Trace& trace = predictor.trace();
  auto is_adam = [&](StringId name) {
    const std::string_view text = trace.strings[name];
    const auto says = [&](std::string_view word) {
      return std::ranges::search(text, word, {}, [](char c) { return c | 0x20; }).begin() !=
             text.end();
    };
    return says("adam") || says("lamb");
  };
  if (is_adam(trace.device_ops.name[op.value])) return kFusedAdam;
  for (RangeId range = predictor.analysis().attribution.range_of[op.value]; range.valid();
       range = trace.ranges.parent[range.value])
    if (is_adam(trace.ranges.name[range.value])) return kFusedAdam;
  return kFusedSgd;
}

/// What a fused kernel needs for the data of `update`; nothing where their bytes or the rate are not known.
std::optional<DurationNs> by_bytes(const Predictor& predictor, std::span<const DeviceOpId> update,
                                   DurationNs shortest) {
  const Trace& trace = predictor.trace();
  std::int64_t bytes = 0;
  for (DeviceOpId op : update) {
    if (trace.device_ops.bytes[op.value] <= 0) return std::nullopt;
    bytes += trace.device_ops.bytes[op.value];
  }
  const double rate = bytes_per_ns(predictor, update, shortest);
  if (rate <= 0) return std::nullopt;
  return DurationNs{
      std::llround(fused_share(predictor, update.front()) * static_cast<double>(bytes) / rate)};
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
  DurationNs before;     ///< what they take, over all counted steps
  DurationNs after;
};

Sums fuse(const Predictor& predictor, const DevicePartition& partition, Editor& editor) {
  const DeviceOps& ops = predictor.trace().device_ops;
  Sums sums;
  for (const DeviceStep& step : partition.steps) {
    const std::vector<DeviceOpId> update = update_of(predictor, partition, step.interval);
    sums.most = std::max(sums.most, update.size());
    if (update.size() < kFew) continue;
    // A fused kernel needs the time that the kernels spend on data: what each takes beyond the
    // shortest, which is all start and end.
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
  // Every rank of the recording is changed alike: one that is not would hold the others up.
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    if (!partitions[i].device.valid()) continue;
    const Sums sums = fuse(predictor, partitions[i], editor);
    if (i == predictor.steps().partition) told = sums;
  }
  if (told.most < kFew)
    return not_here(fmt::format("the update has {} kernels at most", told.most));
  const std::int64_t steady =
      std::max<std::int64_t>(1, partitions[predictor.steps().partition].steady_steps);
  return {true,
          fmt::format("{} kernels of the update become one: {} → {} per step", told.most,
                      format_duration(told.before / steady), format_duration(told.after / steady)),
          editor.take()};
}

}  // namespace

const Fix kMultiTensorOptimizer{
    "multi-tensor-optimizer",
    "Update all parameters in one kernel",
    "unfused-optimizer",
    FixKind::kModelled,
    0.1,
    "--fused-optimizer multi-tensor",
    "One launch; its kernel takes the shortest one's time, which is start and end alone, and what "
    "the "
    "others take beyond that, or what their bytes need where those are known and that is less.",
    "how near the fused kernel comes to the memory's bandwidth",
    propose};

}  // namespace headway::analyzer
