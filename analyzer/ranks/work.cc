// SPDX-License-Identifier: MIT
#include "analyzer/ranks/work.h"

#include <algorithm>

namespace headway::analyzer {
namespace {

using namespace trace;

/// Adds `amount(op)` of every device op of the partition's device to the step in which it starts.
template <class Amount>
bool add_per_op(const Trace& trace, const DevicePartition& partition, std::vector<RankStep>& steps,
                Amount amount) {
  const std::vector<TimeNs>& starts = trace.device_ops.start;
  bool any = false;
  for (RankStep& step : steps) {
    step.work = 0;
    auto i = static_cast<std::size_t>(
        std::lower_bound(starts.begin(), starts.end(), step.time.begin) - starts.begin());
    for (; i < starts.size() && starts[i] < step.time.end; ++i) {
      if (trace.streams[trace.device_ops.stream[i].value].device != partition.device) continue;
      step.work += std::max<std::int64_t>(0, amount(i));
    }
    any = any || step.work > 0;
  }
  return any;
}

}  // namespace

std::int64_t elements_of_shapes(std::string_view shapes) {
  std::int64_t total = 0;
  std::int64_t product = 1;
  std::int64_t number = -1;
  int depth = 0;
  // Beyond any tensor; keeps a hostile text from overflowing.
  constexpr std::int64_t kMost = std::int64_t{1} << 50;
  auto take = [&] {
    if (number >= 0 && (number == 0 || product <= kMost / number)) product *= number;
    number = -1;
  };
  for (char c : shapes) {
    if (c >= '0' && c <= '9') {
      number = std::min<std::int64_t>(std::max<std::int64_t>(number, 0) * 10 + (c - '0'), 1 << 30);
    } else if (c == '[') {
      if (++depth > 2) return -1;
      product = 1;
    } else if (c == ']') {
      take();
      if (depth == 2) total = std::min(kMost, total + product);
      if (--depth < 0) return -1;
    } else if (c == ',') {
      take();
    } else if (c != ' ') {
      return -1;
    }
  }
  return depth == 0 && !shapes.empty() ? total : -1;
}

WorkMeasure add_work(const Trace& trace, const Attribution& attribution,
                     const DevicePartition& partition, std::vector<RankStep>& steps) {
  const DeviceOps& ops = trace.device_ops;
  if (add_per_op(trace, partition, steps, [&](std::size_t i) { return ops.flops[i]; }))
    return WorkMeasure::kFlops;
  std::vector<std::int64_t> elements(trace.strings.size(), -2);  // -2: not parsed yet
  auto of_op = [&](std::size_t i) -> std::int64_t {
    RangeId range = attribution.range_of[i];
    for (; range.valid(); range = trace.ranges.parent[range.value]) {
      const RangeInfo* info = trace.info(range);
      if (!info || info->shapes.value == 0 || info->shapes.value >= elements.size()) continue;
      std::int64_t& known = elements[info->shapes.value];
      if (known == -2) known = elements_of_shapes(trace.strings[info->shapes]);
      return known;
    }
    return 0;
  };
  if (add_per_op(trace, partition, steps, of_op)) return WorkMeasure::kInputElements;
  for (RankStep& step : steps) step.work = -1;
  return WorkMeasure::kNone;
}

std::string_view work_label(WorkMeasure measure) {
  switch (measure) {
    case WorkMeasure::kFlops:
      return "floating-point operations";
    case WorkMeasure::kInputElements:
      return "elements of the ops' inputs";
    case WorkMeasure::kNone:
      return "";
  }
  return "";
}

}  // namespace headway::analyzer
