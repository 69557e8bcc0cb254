// SPDX-License-Identifier: MIT
// Tables over the host: calls, ranges, loader workers, processes, counters, losses.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyzer/stats/summary.h"
#include "analyzer/stats/tables.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

std::string thread_name(const Trace& trace, ThreadId id) {
  const Thread& thread = trace.threads[id.value];
  return thread.name.empty() ? fmt::format("thread {}", thread.tid) : thread.name;
}

std::string_view stage_label(RangeKind kind) {
  switch (kind) {
    case RangeKind::kBatch:
      return "whole batch";
    case RangeKind::kRead:
      return "read";
    case RangeKind::kDecode:
      return "decode";
    case RangeKind::kAugment:
      return "augment";
    case RangeKind::kCollate:
      return "collate";
    default:
      return "";
  }
}

}  // namespace

Table call_table(const Trace& trace, const Analysis&) {
  std::map<StringId, DurationSummary> by_name;
  for (std::size_t i = 0; i < trace.calls.size(); ++i)
    by_name[trace.calls.name[i]].add((trace.calls.end[i] - trace.calls.start[i]).ns);
  Table table{"calls", "API calls", "Over the whole trace, all threads.", {}, {}};
  table.columns = {{"call", "Call", ColumnKind::kText},
                   {"count", "Count", ColumnKind::kCount},
                   {"total_ns", "Total", ColumnKind::kDuration},
                   {"mean_ns", "Mean", ColumnKind::kDuration},
                   {"median_ns", "Median", ColumnKind::kDuration},
                   {"max_ns", "Largest", ColumnKind::kDuration}};
  for (const auto& [name, sum] : by_name) {
    table.rows.push_back({std::string(trace.strings[name]), sum.count(), sum.total(), sum.mean(),
                          sum.median(), sum.maximum()});
  }
  sort_by(table, 2);
  return table;
}

Table range_table(const Trace& trace, const Analysis&) {
  std::map<std::pair<DomainId, StringId>, DurationSummary> by_name;
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
    if (!trace.ranges.is({i}, Ranges::kMark))
      by_name[{trace.ranges.domain[i], trace.ranges.name[i]}].add(
          trace.ranges.interval({i}).length().ns);
  }
  Table table{"ranges",
              "NVTX ranges",
              "Over the whole trace, all threads; outer ranges include inner ones.",
              {},
              {}};
  table.columns = {
      {"range", "Range", ColumnKind::kText},      {"domain", "Domain", ColumnKind::kText},
      {"count", "Count", ColumnKind::kCount},     {"total_ns", "Total", ColumnKind::kDuration},
      {"mean_ns", "Mean", ColumnKind::kDuration}, {"median_ns", "Median", ColumnKind::kDuration},
      {"min_ns", "Least", ColumnKind::kDuration}, {"max_ns", "Largest", ColumnKind::kDuration}};
  for (const auto& [key, sum] : by_name) {
    table.rows.push_back({std::string(trace.strings[key.second]), trace.domains[key.first.value],
                          sum.count(), sum.total(), sum.mean(), sum.median(), sum.minimum(),
                          sum.maximum()});
  }
  sort_by(table, 3);
  return table;
}

Table loader_table(const Trace& trace, const Analysis&) {
  // Threads of one name in one process are one worker: some loaders start a thread for each batch.
  using Worker = std::pair<ProcessId, std::string>;
  struct Threads {
    std::int64_t count = 0;
    DurationNs life;  ///< summed
  };
  std::map<std::pair<Worker, RangeKind>, DurationSummary> by_stage;
  std::map<ThreadId, Interval> life;
  auto worker_of = [&](ThreadId thread) {
    return Worker{trace.threads[thread.value].process, thread_name(trace, thread)};
  };
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
    const trace::RangeInfo* info = trace.info({i});
    if (!info || stage_label(info->kind).empty()) continue;
    Interval interval = trace.ranges.interval({i});
    ThreadId thread = trace.ranges.thread[i];
    by_stage[{worker_of(thread), info->kind}].add(interval.length().ns, info->bytes);
    Interval& span = life.try_emplace(thread, interval).first->second;
    span = {std::min(span.begin, interval.begin), std::max(span.end, interval.end)};
  }
  std::map<Worker, Threads> threads_of;
  for (const auto& [thread, span] : life) {
    Threads& threads = threads_of[worker_of(thread)];
    ++threads.count;
    threads.life += span.length();
  }
  Table table{
      "loaders",
      "Loader workers",
      "Over the whole trace; shares are of the time between its threads' first and last ranges.",
      {},
      {}};
  table.columns = {
      {"worker", "Worker", ColumnKind::kText},       {"stage", "Stage", ColumnKind::kText},
      {"count", "Count", ColumnKind::kCount},        {"total_ns", "Total", ColumnKind::kDuration},
      {"share", "Share", ColumnKind::kPercent},      {"mean_ns", "Mean", ColumnKind::kDuration},
      {"max_ns", "Largest", ColumnKind::kDuration},  {"bytes", "Bytes", ColumnKind::kBytes},
      {"bytes_per_s", "Rate", ColumnKind::kByteRate}};
  for (const auto& [key, times] : by_stage) {
    const auto& [worker, stage] = key;
    const Threads& threads = threads_of[worker];
    DurationNs total{times.total()};
    bool has_bytes = times.bytes() > 0 && total.ns > 0;
    table.rows.push_back(
        {threads.count == 1 ? worker.second
                            : fmt::format("{} ({} threads)", worker.second, threads.count),
         std::string(stage_label(stage)), times.count(), total.ns, ratio(total, threads.life),
         times.mean(), times.maximum(), has_bytes ? Cell(times.bytes()) : Cell(),
         has_bytes ? Cell(static_cast<double>(times.bytes()) / total.seconds()) : Cell()});
  }
  return table;
}

Table process_table(const Trace& trace, const Analysis&) {
  Table table{"processes", "Processes", "", {}, {}};
  table.columns = {{"pid", "PID", ColumnKind::kText},
                   {"name", "Name", ColumnKind::kText},
                   {"start_ns", "Start", ColumnKind::kDuration},
                   {"life_ns", "Life", ColumnKind::kDuration},
                   {"ended", "Ended", ColumnKind::kText},
                   {"recorded", "Recorded", ColumnKind::kText},
                   {"command", "Command", ColumnKind::kText}};
  for (const Process& process : trace.processes) {
    std::string ended = process.signal      ? fmt::format("signal {}", *process.signal)
                        : process.exit_code ? fmt::format("exit code {}", *process.exit_code)
                                            : "";
    table.rows.push_back({std::to_string(process.pid), process.name, process.start.ns,
                          process.end ? Cell((*process.end - process.start).ns) : Cell(), ended,
                          std::string(process.injected ? "events" : "from outside"),
                          process.command_line});
  }
  return table;
}

Table counter_table(const Trace& trace, const Analysis&) {
  Table table{"counters", "Counters", "Over all samples.", {}, {}};
  table.columns = {
      {"counter", "Counter", ColumnKind::kText}, {"pid", "PID", ColumnKind::kText},
      {"unit", "Unit", ColumnKind::kText},       {"samples", "Samples", ColumnKind::kCount},
      {"min", "Least", ColumnKind::kNumber},     {"mean", "Mean", ColumnKind::kNumber},
      {"max", "Largest", ColumnKind::kNumber}};
  for (const CounterSeries& series : trace.counters) {
    if (series.value.empty()) continue;
    auto [least, largest] = std::minmax_element(series.value.begin(), series.value.end());
    double sum = 0;
    for (double value : series.value) sum += value;
    table.rows.push_back({series.name,
                          series.process.valid()
                              ? std::to_string(trace.processes[series.process.value].pid)
                              : std::string(),
                          series.unit, static_cast<std::int64_t>(series.value.size()), *least,
                          sum / static_cast<double>(series.value.size()), *largest});
  }
  return table;
}

Table loss_table(const Trace& trace, const Analysis&) {
  Table table{"losses",
              "Losses",
              "Nothing is dropped silently: every counter that is not zero is here.",
              {},
              {}};
  table.columns = {{"counter", "Counter", ColumnKind::kText},
                   {"severity", "Severity", ColumnKind::kText},
                   {"count", "Count", ColumnKind::kCount},
                   {"text", "Meaning", ColumnKind::kText}};
  for (const LossCount& loss : trace.losses)
    table.rows.push_back({loss.name, loss.severity, loss.count, loss.text});
  return table;
}

}  // namespace headway::analyzer
