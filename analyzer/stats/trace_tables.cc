// SPDX-License-Identifier: MIT
// Tables over the trace as a whole: findings, doubts, processes, counters, losses.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/partition/sampled_work.h"
#include "analyzer/stats/tables.h"

namespace headway::analyzer {

using namespace trace;

Table finding_table(const Trace&, const Analysis& analysis) {
  Table table{"findings", "Findings", "Ranked by possible gain.", {}, {}};
  table.columns = {{"rule", "Rule", ColumnKind::kText},
                   {"status", "Status", ColumnKind::kText},
                   {"sub_cause", "Cause", ColumnKind::kText},
                   {"recoverable_ns_per_step", "Per step", ColumnKind::kDuration},
                   {"share_of_step", "Share", ColumnKind::kPercent},
                   {"confidence", "Confidence", ColumnKind::kNumber},
                   {"claim", "Claim", ColumnKind::kText}};
  for (const Finding& finding : analysis.findings) {
    bool found = finding.status == Status::kFound;
    table.rows.push_back({std::string(finding.rule), std::string(status_id(finding.status)),
                          finding.sub_cause, found ? Cell(finding.recoverable_per_step.ns) : Cell(),
                          found ? Cell(finding.share_of_step) : Cell(),
                          found ? Cell(finding.confidence) : Cell(), finding.claim});
  }
  return table;
}

Table doubt_table(const Trace&, const Analysis& analysis) {
  Table table{"doubts", "Doubts", "", {}, {}};
  table.columns = {{"severity", "Severity", ColumnKind::kText},
                   {"text", "What", ColumnKind::kText}};
  for (const Doubt& doubt : analysis.doubts) table.rows.push_back({doubt.severity, doubt.text});
  return table;
}

Table host_function_table(const Trace& trace, const Analysis& analysis) {
  Table table{"host-functions",
              "Host functions",
              "Training thread outside all ranges, by stack samples.",
              {},
              {}};
  table.columns = {{"function", "Function", ColumnKind::kText},
                   {"place", "Line", ColumnKind::kText},
                   {"from", "Called from", ColumnKind::kText},
                   {"ns_per_step", "Per step", ColumnKind::kDuration},
                   {"share_of_step", "Share", ColumnKind::kPercent},
                   {"samples", "Samples", ColumnKind::kCount}};
  for (const DevicePartition& partition : analysis.partitions) {
    for (const SampledWork& work : sampled_works(trace, analysis.steps, partition).works)
      table.rows.push_back({work.function, work.place, work.from, work.per_step.ns,
                            ratio(work.per_step, partition.per_steady_step.total()), work.samples});
    if (!table.rows.empty()) break;
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
  Table table{
      "losses", "Losses", "Every counter that is not zero; nothing is dropped silently.", {}, {}};
  table.columns = {{"counter", "Counter", ColumnKind::kText},
                   {"severity", "Severity", ColumnKind::kText},
                   {"count", "Count", ColumnKind::kCount},
                   {"text", "Meaning", ColumnKind::kText}};
  for (const LossCount& loss : trace.losses)
    table.rows.push_back({loss.name, loss.severity, loss.count, loss.text});
  return table;
}

}  // namespace headway::analyzer
