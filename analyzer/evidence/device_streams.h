// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/evidence/rule.h"
#include "analyzer/hardware/gpus.h"
#include "analyzer/partition/steady_ops.h"

/// Helpers of the rules that look at device kernels.
namespace headway::analyzer {

/// Calls `visit(step, ops)` for each stream of each counted step of `device`, `ops` in order of
/// start. Memory sets are left out, because they can stand between any two kernels. Returns the
/// number of counted steps.
template <class Visit>
std::int64_t for_each_stream(const RuleContext& context, const DevicePartition& device,
                             Visit visit) {
  using trace::DeviceOpId;
  std::vector<std::vector<DeviceOpId>> streams(context.trace.streams.size());
  std::vector<std::uint32_t> used;
  const DeviceStep* current = nullptr;
  auto flush = [&] {
    for (std::uint32_t s : used) {
      visit(*current, std::span<const DeviceOpId>(streams[s]));
      streams[s].clear();
    }
    used.clear();
  };
  std::int64_t steps = for_each_steady_op(
      context.trace, context.steps, device, [&](const DeviceStep& step, DeviceOpId op) {
        if (current != &step) {
          flush();
          current = &step;
        }
        if (context.trace.device_ops.kind[op.value] == trace::DeviceOpKind::kMemset) return;
        std::uint32_t stream = context.trace.device_ops.stream[op.value].value;
        if (streams[stream].empty()) used.push_back(stream);
        streams[stream].push_back(op);
      });
  flush();
  return steps;
}

/// The device where `measure(device, work)` finds most to recover, and its result there, which must
/// have a member `recoverable`. The device is null if no device has a steady step.
template <class Measure>
auto worst_device(const RuleContext& context, Measure measure) {
  using Result = decltype(measure(context.partitions[0], context.work[0]));
  std::pair<const DevicePartition*, Result> worst{nullptr, Result{}};
  for (std::size_t i = 0; i < context.partitions.size(); ++i) {
    // Partitions of host threads have no device.
    if (context.partitions[i].steady_steps == 0 || !context.partitions[i].device.valid()) continue;
    Result result = measure(context.partitions[i], context.work[i]);
    if (!worst.first || result.recoverable > worst.second.recoverable)
      worst = {&context.partitions[i], std::move(result)};
  }
  return worst;
}

/// The limits of the partition's device; empty for a host thread's partition.
DeviceLimits limits_of(const RuleContext& context, const DevicePartition& device);

inline DurationNs duration(const RuleContext& context, trace::DeviceOpId op) {
  return context.trace.device_ops.interval(op).length();
}

/// The name of a kernel, short enough for a sentence.
std::string short_name(const RuleContext& context, trace::DeviceOpId op);

/// Keeps the `limit` longest pieces of evidence while they are collected in any order.
class LongestEvidence {
 public:
  explicit LongestEvidence(std::size_t limit = 12) : limit_(limit) {}
  /// True when an interval of this length would be kept: ask before making a note.
  bool wants(DurationNs length) const {
    return kept_.size() < limit_ || length >= kept_.back().where.length();
  }
  void add(Interval where, trace::DeviceOpId op, std::string note);
  std::vector<Evidence> take() { return std::move(kept_); }

 private:
  std::size_t limit_;
  std::vector<Evidence> kept_;  ///< longest first, ties by start
};

}  // namespace headway::analyzer
