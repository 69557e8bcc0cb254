// SPDX-License-Identifier: MIT
#include "analyzer/ranks/merge_traces.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "analyzer/analysis.h"
#include "tests/support/trace_builder.h"
#include "tests/support/training_trace.h"

namespace headway::analyzer {
namespace {

constexpr std::int64_t kUtc = 1'700'000'000'000'000'000;

/// A rank's recording that began `late` ns after the first.
trace::Trace rank(int number, std::int64_t late) {
  test::TraceBuilder builder;
  test::TrainingTrace().build(builder);
  builder.writer().set_meta("env.RANK", std::to_string(number));
  trace::Trace trace = builder.load();
  trace.start_utc_ns = kUtc + late;
  trace.path = "rank" + std::to_string(number) + ".sqlite";
  return trace;
}

bool sorted(const std::vector<TimeNs>& start) {
  return std::is_sorted(start.begin(), start.end());
}

}  // namespace

TEST_CASE("recordings of several ranks become one trace on one clock") {
  trace::Trace alone = rank(0, 0);
  std::vector<trace::Trace> traces;
  traces.reserve(3);
  traces.push_back(rank(0, 0));
  traces.push_back(rank(1, 250));
  traces.push_back(rank(2, -100));
  trace::Trace all = merge_traces(std::move(traces));
  CHECK(all.event_count() == 3 * alone.event_count());
  CHECK(all.processes.size() == 3 * alone.processes.size());
  CHECK(all.streams.size() == 3 * alone.streams.size());
  CHECK(sorted(all.ranges.start));
  CHECK(sorted(all.calls.start));
  CHECK(sorted(all.device_ops.start));
  // What belongs together still does, and each rank keeps its own distances.
  for (std::size_t i = 0; i < all.device_ops.size(); ++i) {
    trace::CallId call = all.device_ops.call[i];
    if (!call.valid()) continue;
    CHECK(all.streams[all.device_ops.stream[i].value].process ==
          all.threads[all.calls.thread[call.value].value].process);
  }
  for (std::size_t i = 0; i < all.ranges.size(); ++i) {
    trace::RangeId parent = all.ranges.parent[i];
    if (!parent.valid()) continue;
    CHECK(parent.value < i);
    CHECK(all.ranges.thread[parent.value] == all.ranges.thread[i]);
    CHECK(all.ranges.end[parent.value] >= all.ranges.end[i]);
  }
  std::vector<int> ranks;
  for (const trace::Process& process : all.processes) ranks.push_back(process.rank);
  CHECK(std::count(ranks.begin(), ranks.end(), 2) ==
        static_cast<std::ptrdiff_t>(alone.processes.size()));
  auto first_range = [&](const trace::Trace& trace, int of_rank) {
    for (std::size_t i = 0; i < trace.ranges.size(); ++i) {
      trace::ProcessId process = trace.threads[trace.ranges.thread[i].value].process;
      if (trace.processes[process.value].rank == of_rank) return trace.ranges.start[i].ns;
    }
    return std::int64_t{-1};
  };
  CHECK(first_range(all, 1) == first_range(all, 0) + 250);
  CHECK(first_range(all, 2) == first_range(all, 0) - 100);
  CHECK(!analyze(all).findings.empty());
}

TEST_CASE("recordings that were not made at one time begin together, and a doubt says so") {
  std::vector<trace::Trace> traces;
  traces.reserve(3);
  traces.push_back(rank(0, 0));
  traces.push_back(rank(1, std::int64_t{3600} * 1'000'000'000));
  TimeNs end = traces[0].end;
  trace::Trace all = merge_traces(std::move(traces));
  CHECK(all.end == end);
  CHECK(std::any_of(all.losses.begin(), all.losses.end(),
                    [](const auto& loss) { return loss.name == "begin_together"; }));
}

}  // namespace headway::analyzer
