// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "common/interval_set.h"
#include "tests/analyzer/planted_run.h"
#include "tests/support/property.h"

namespace headway::analyzer {
namespace {

using test::TraceBuilder;
using trace::DeviceCallKind;
using trace::DeviceOpKind;
using trace::Phase;
using trace::RangeKind;

/// Anything a trace may hold, in any relation: ops before their launch, overlapping streams, waits
/// inside waits.
void random_trace(TraceBuilder& builder) {
  constexpr std::int64_t kEnd = 3000;
  auto time = [&](std::int64_t from) { return *rc::gen::inRange<std::int64_t>(from, kEnd); };
  int steps = *rc::gen::inRange(0, 5);
  for (int i = 0; i < steps; ++i)
    builder.range(1, "step", i * 600, i * 600 + *rc::gen::inRange(1, 600),
                  {.kind = RangeKind::kStep, .step = i});
  int ranges = *rc::gen::inRange(0, 10);
  for (int i = 0; i < ranges; ++i) {
    std::int64_t start = time(0);
    auto kind = static_cast<RangeKind>(*rc::gen::inRange(0, 10));
    if (kind == RangeKind::kStep) kind = RangeKind::kOther;
    builder.range(*rc::gen::inRange(1, 4), "range", start, time(start),
                  {.kind = kind, .batch = *rc::gen::inRange(-1, 3)});
  }
  int calls = *rc::gen::inRange(0, 10);
  for (int i = 0; i < calls; ++i) {
    std::int64_t start = time(0);
    builder.call(*rc::gen::inRange(1, 3), static_cast<DeviceCallKind>(*rc::gen::inRange(0, 13)),
                 start, time(start), *rc::gen::inRange(1, 3), *rc::gen::inRange(0, 3));
  }
  int ops = *rc::gen::inRange(1, 25);
  for (int i = 0; i < ops; ++i) {
    std::int64_t launched = time(0);
    std::int64_t start = *rc::gen::inRange(0, 4) ? time(launched) : time(0);
    builder.launch(*rc::gen::inRange(1, 3), launched, time(launched), start, time(start),
                   {.stream = *rc::gen::inRange(1, 4),
                    .kind = static_cast<DeviceOpKind>(*rc::gen::inRange(1, 9)),
                    .phase = static_cast<Phase>(*rc::gen::inRange(0, 7))});
  }
}

}  // namespace

TEST_CASE(
    "in any trace the classes sum to each step exactly and the segments cover it without gap or "
    "overlap") {
  test::check_property("partition", [] {
    TraceBuilder builder;
    random_trace(builder);
    test::AnalyzedRun run(builder);
    for (const DevicePartition& device : run.analysis.partitions) {
      TimeNs last_end = TimeNs::min();
      for (const DeviceStep& step : device.steps) {
        RC_ASSERT(step.interval.begin >= last_end);
        last_end = step.interval.end;
        RC_ASSERT(step.times.total() == step.interval.length());
        TimeNs now = step.interval.begin;
        ClassTimes sum;
        for (std::uint32_t i = 0; i < step.segment_count; ++i) {
          const Segment& segment = device.segments[step.first_segment + i];
          RC_ASSERT(segment.interval.begin == now);
          RC_ASSERT(segment.interval.end > now);
          now = segment.interval.end;
          sum[segment.time_class] += segment.interval.length();
        }
        RC_ASSERT(now == step.interval.end);
        for (std::size_t c = 0; c < kTimeClassCount; ++c) RC_ASSERT(sum.of[c] == step.times.of[c]);
      }
    }
  });
}

TEST_CASE("busy classes of the partition are the union of the device's ops, whatever overlaps") {
  test::check_property("busy", [] {
    TraceBuilder builder;
    random_trace(builder);
    test::AnalyzedRun run(builder);
    for (const DevicePartition& device : run.analysis.partitions) {
      std::vector<Interval> ops;
      for (std::uint32_t i = 0; i < run.trace.device_ops.size(); ++i) {
        if (run.trace.streams[run.trace.device_ops.stream[i].value].device == device.device)
          ops.push_back(run.trace.device_ops.interval({i}));
      }
      IntervalSet busy = IntervalSet::from_unsorted(ops);
      for (const DeviceStep& step : device.steps) {
        DurationNs idle;
        for (std::uint32_t i = 0; i < step.segment_count; ++i) {
          const Segment& segment = device.segments[step.first_segment + i];
          // A gap explained by an event of another stream carries a busy class while nothing runs
          // here; on one device that cannot be, so every busy segment must lie inside the union.
          if (busy.total_in(segment.interval) != segment.interval.length())
            idle += segment.interval.length();
        }
        RC_ASSERT(step.interval.length() - idle == busy.total_in(step.interval));
      }
    }
  });
}

TEST_CASE("the device view adds up to its span") {
  test::check_property("device view", [] {
    TraceBuilder builder;
    random_trace(builder);
    test::AnalyzedRun run(builder);
    for (const DeviceView& view : run.analysis.device_views) {
      RC_ASSERT((view.compute + view.exposed_comm + view.exposed_copy + view.idle) == view.span);
      RC_ASSERT(view.idle.ns >= 0);
      RC_ASSERT(view.overlap + view.exposed_comm == view.comm);
    }
  });
}

}  // namespace headway::analyzer
