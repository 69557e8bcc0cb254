// SPDX-License-Identifier: MIT
#include "analyzer/whatif/overlap_slowdown.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include "common/interval_set.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// A slope is used only with this many kernels and this much variation of their overlap (a sum of
/// squares).
constexpr std::int64_t kEnough = 50;
constexpr double kVariation = 2;
/// Limit of the slope, twice the time; a steeper slope has another cause.
const double kMost = std::log(2.0);

struct Group {
  std::vector<double> share;
  std::vector<double> log_ns;
};

void for_each_kernel(const Predictor& predictor, DeviceId device,
                     const std::function<void(DeviceOpId, double)>& visit) {
  const Trace& trace = predictor.trace();
  const DeviceOps& ops = trace.device_ops;
  const Attribution& attribution = predictor.analysis().attribution;
  std::vector<Interval> transfers;
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (trace.streams[ops.stream[i].value].device == device &&
        attribution.class_of[i] == TimeClass::kCommTransfer)
      transfers.push_back(ops.interval(DeviceOpId{i}));
  }
  const IntervalSet communication = IntervalSet::from_unsorted(std::move(transfers));
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (trace.streams[ops.stream[i].value].device != device) continue;
    const TimeClass its = attribution.class_of[i];
    if (its != TimeClass::kComputeTensor && its != TimeClass::kComputeOther) continue;
    const Interval interval = ops.interval(DeviceOpId{i});
    if (interval.length().ns > 0)
      visit(DeviceOpId{i}, ratio(communication.total_in(interval), interval.length()));
  }
}

}  // namespace

double OverlapSlowdown::stretch(double share) const {
  return std::exp(log_per_overlap * share);
}

void for_each_overlapped(const Predictor& predictor, DeviceId device,
                         const std::function<void(DeviceOpId, double)>& visit) {
  for_each_kernel(predictor, device, [&](DeviceOpId op, double share) {
    if (share > 0) visit(op, share);
  });
}

OverlapSlowdown fit_overlap_slowdown(const Predictor& predictor, DeviceId device) {
  const DeviceOps& ops = predictor.trace().device_ops;
  std::map<std::tuple<StringId, std::uint32_t, std::uint16_t>, Group> groups;
  for_each_kernel(predictor, device, [&](DeviceOpId op, double share) {
    const std::uint32_t i = op.value;
    Group& group = groups[{ops.name[i], ops.blocks[i], ops.block_threads[i]}];
    group.share.push_back(share);
    group.log_ns.push_back(std::log(static_cast<double>(ops.interval(op).length().ns)));
  });
  OverlapSlowdown result;
  double both = 0;
  double square = 0;
  for (const auto& [kernel, group] : groups) {
    const double share = mean(group.share);
    const double log_ns = mean(group.log_ns);
    const double before = square;
    for (std::size_t i = 0; i < group.share.size(); ++i) {
      both += (group.share[i] - share) * (group.log_ns[i] - log_ns);
      square += (group.share[i] - share) * (group.share[i] - share);
    }
    if (square > before) result.kernels += static_cast<std::int64_t>(group.share.size());
  }
  if (result.kernels < kEnough || square < kVariation) return {};
  result.log_per_overlap = std::clamp(both / square, 0.0, kMost);
  return result;
}

void slow_down_less(const Predictor& predictor, DeviceId device, double less, Editor& editor) {
  const OverlapSlowdown slowdown = fit_overlap_slowdown(predictor, device);
  if (slowdown.log_per_overlap <= 0) return;
  const Points& points = predictor.program().graph().points();
  for_each_overlapped(predictor, device, [&](DeviceOpId op, double share) {
    const auto now = static_cast<double>(predictor.trace().device_ops.interval(op).length().ns);
    editor.set_duration(points.task(op), {std::llround(now / slowdown.stretch(share * less))},
                        true);
  });
}

}  // namespace headway::analyzer
