// SPDX-License-Identifier: MIT
#include "gui/models/figures/memory_usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/stats/summary.h"
#include "common/format.h"
#include "gui/models/tables/copy_table.h"
#include "gui/models/text/display_text.h"
#include "gui/models/text/vocabulary.h"

namespace headway::gui {
namespace {

using analyzer::Cell;
using analyzer::ColumnKind;

/// A level counts as growing from this growth over the steady steps on, as a share of its mean.
constexpr double kGrowing = 0.02;

/// Larger samples are corrupt data: 1 EB.
constexpr double kMostBytes = 1e18;

std::string title_of(const trace::Trace& trace, const trace::CounterSeries& series) {
  std::string title = display_text(series.name, 60);
  if (series.device) title += fmt::format(" · device {}", *series.device);
  if (series.process.valid() && trace.processes.size() > 1)
    title += fmt::format(" · process {}", trace.processes[series.process.value].pid);
  return title;
}

/// The change of a level over the steady steps.
struct Growth {
  std::int64_t steps = 0;
  double first = 0;
  double last = 0;
  double per_step() const {
    return steps > 1 ? (last - first) / static_cast<double>(steps - 1) : 0;
  }
  bool growing() const {
    double mean = (first + last) / 2;
    return steps > 2 && mean > 0 && (last - first) / mean > kGrowing;
  }
};

Growth growth_of(const CounterLane& lane, const analyzer::Steps& steps) {
  Growth growth;
  for (std::uint32_t s : steps.steady) {
    std::optional<double> value = lane.value_at(steps.all[s].host.end);
    if (!value || !(std::fabs(*value) <= kMostBytes)) continue;
    if (growth.steps++ == 0) growth.first = *value;
    growth.last = *value;
  }
  return growth;
}

LinkedTable growth_table(const std::vector<MemoryUsage::Series>& all,
                         const std::vector<Growth>& growths) {
  LinkedTable out;
  out.table.id = "memory-growth";
  out.table.title = "Memory counters";
  out.table.note =
      "Change over the steady steps, from the end of the first to the end of the last.";
  out.table.columns = {{"counter", "Counter", ColumnKind::kText},
                       {"peak", "Peak", ColumnKind::kBytes},
                       {"peak_at_ns", "Peak at", ColumnKind::kDuration},
                       {"first", "After the first step", ColumnKind::kBytes},
                       {"last", "After the last step", ColumnKind::kBytes},
                       {"per_step", "Change per step", ColumnKind::kBytes},
                       {"verdict", "Grows", ColumnKind::kText}};
  out.docs = {"As recorded",
              "Largest sample",
              "Time since the start of the recording",
              "Level at the end of the first steady step",
              "Level at the end of the last steady step",
              "Mean change from one steady step to the next",
              "yes: it ends over 2 % higher than it began"};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Growth& growth = growths[i];
    bool known = growth.steps > 1;
    auto bytes = [&](double value) {
      return known ? Cell(static_cast<std::int64_t>(std::llround(value))) : Cell();
    };
    out.table.rows.push_back({all[i].title, static_cast<std::int64_t>(std::llround(all[i].peak)),
                              all[i].peak_at.ns, bytes(growth.first), bytes(growth.last),
                              bytes(growth.per_step()),
                              known ? Cell(std::string(growth.growing() ? "yes" : "no")) : Cell()});
  }
  out.drop_unknown_columns();
  return out;
}

/// Largest sample of the series in each step; steps and samples are both by time.
LinkedTable step_peaks(const std::vector<MemoryUsage::Series>& all, const analyzer::Steps& steps) {
  LinkedTable out;
  out.table.id = "memory-steps";
  out.table.title = "Peaks by step";
  out.table.note = "Largest sample between start and end of the step on the host.";
  out.table.columns = {{"steady", "Step", ColumnKind::kText}, {"step", "Number", ColumnKind::kRaw}};
  out.docs = {"steady, or excluded", "As counted by the program"};
  for (const MemoryUsage::Series& series : all)
    out.table.columns.push_back({series.title, series.title, ColumnKind::kBytes});
  for (std::uint32_t s = 0; s < steps.all.size(); ++s) {
    const analyzer::Step& step = steps.all[s];
    std::vector<Cell> row{std::string(step.steady ? "steady" : "excluded"), step.number};
    bool any = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const trace::CounterSeries& series = all[i].lane.series();
      auto first = std::lower_bound(series.time.begin(), series.time.end(), step.host.begin);
      double peak = 0;
      bool known = false;
      for (auto t = first; t != series.time.end() && *t < step.host.end; ++t) {
        double value = series.value[static_cast<std::size_t>(t - series.time.begin())];
        if (!(std::fabs(value) <= kMostBytes)) continue;
        peak = known ? std::max(peak, value) : value;
        known = true;
      }
      if (std::optional<double> held = all[i].lane.value_at(step.host.begin);
          held && !known && std::fabs(*held) <= kMostBytes) {
        peak = *held;
        known = true;
      }
      any |= known;
      row.push_back(known ? Cell(static_cast<std::int64_t>(std::llround(peak))) : Cell());
    }
    if (!any) continue;
    out.table.rows.push_back(std::move(row));
    out.links.push_back(Target::step(s));
  }
  return out;
}

LinkedTable allocation_table(const trace::Trace& trace, const analyzer::Analysis& analysis) {
  const trace::Calls& calls = trace.calls;
  analyzer::KeyGroups keys;
  analyzer::GroupedValues values;
  std::vector<trace::CallId> longest;
  for (std::uint32_t i = 0; i < calls.size(); ++i) {
    if (calls.kind[i] != trace::DeviceCallKind::kAllocate &&
        calls.kind[i] != trace::DeviceCallKind::kFree)
      continue;
    std::uint32_t group = keys.of(std::uint64_t{calls.name[i].value} << 8 |
                                  static_cast<std::uint64_t>(calls.kind[i]));
    DurationNs length = calls.interval({i}).length();
    if (group == longest.size()) longest.push_back({i});
    if (length > calls.interval(longest[group]).length()) longest[group] = {i};
    values.add(group, length.ns, calls.bytes[i]);
  }
  LinkedTable out;
  out.table.id = "allocations";
  out.table.title = "Allocations";
  out.table.note =
      "Over the whole trace, all threads. With a caching allocator, steady steps should have none.";
  out.table.columns = {{"call", "Call", ColumnKind::kText},
                       {"kind", "Does", ColumnKind::kText},
                       {"count", "Count", ColumnKind::kCount},
                       {"per_step", "Count / step", ColumnKind::kNumber},
                       {"total_ns", "Total", ColumnKind::kDuration},
                       {"mean_ns", "Mean", ColumnKind::kDuration},
                       {"max_ns", "Longest", ColumnKind::kDuration},
                       {"bytes", "Bytes", ColumnKind::kBytes}};
  out.docs = {"Name of the call",
              "Allocates or frees",
              "Calls",
              "Over all steps of the trace",
              "Total duration",
              "Mean duration",
              "The longest one; open the row to see it",
              "As recorded by the calls"};
  double steps = static_cast<double>(analysis.steps.all.size());
  std::vector<analyzer::DurationSummary> sums = values.finish();
  for (std::size_t g = 0; g < sums.size(); ++g) {
    const analyzer::DurationSummary& sum = sums[g];
    out.table.rows.push_back({std::string(trace.strings[calls.name[longest[g].value]]),
                              std::string(label_of(calls.kind[longest[g].value])), sum.count,
                              steps > 0 ? Cell(static_cast<double>(sum.count) / steps) : Cell(),
                              sum.total, sum.mean(), sum.maximum,
                              sum.bytes > 0 ? Cell(sum.bytes) : Cell()});
    out.links.push_back(Target::of(analyzer::EventRef::of(longest[g])));
  }
  out.sort_column = out.column("total_ns");
  out.drop_unknown_columns();
  return out;
}

std::string describe(const std::vector<MemoryUsage::Series>& all,
                     const std::vector<Growth>& growths) {
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].lane.series().device && text.size() > 200) continue;
    text += fmt::format("{}{}: peak {}", text.empty() ? "" : " · ", all[i].title,
                        counter_value(all[i].peak, all[i].unit));
    if (growths[i].growing())
      text +=
          fmt::format(", grows by {} a step", counter_value(growths[i].per_step(), all[i].unit));
    if (text.size() > 400) break;
  }
  return text;
}

}  // namespace

bool is_memory_level(const trace::CounterSeries& series) {
  return series.unit == "bytes" || series.unit == "B" || series.unit == "byte";
}

std::string counter_value(double value, std::string_view unit) {
  if (!std::isfinite(value)) return "–";
  if (unit == "bytes" || unit == "B" || unit == "byte")
    return format_bytes(std::fabs(value) < 9e18 ? static_cast<std::int64_t>(value) : 0);
  if (unit == "bytes/s" || unit == "B/s") return si(value, "B/s");
  if (unit == "%") return fmt::format("{:.1f} %", value);
  return si(value, display_text(unit, 16));
}

MemoryUsage make_memory_usage(const trace::Trace& trace, const analyzer::Analysis& analysis) {
  MemoryUsage out;
  for (const trace::CounterSeries& series : trace.counters) {
    if (!is_memory_level(series) || series.value.empty()) continue;
    MemoryUsage::Series one{CounterLane(series),
                            title_of(trace, series),
                            display_text(series.description),
                            display_text(series.unit, 16),
                            -1,
                            {}};
    for (std::size_t i = 0; i < series.value.size(); ++i) {
      // Larger values are not an amount of memory.
      if (!(series.value[i] > one.peak) || series.value[i] > kMostBytes) continue;
      one.peak = series.value[i];
      one.peak_at = series.time[i];
    }
    if (one.peak >= 0) out.series.push_back(std::move(one));
  }
  std::stable_sort(out.series.begin(), out.series.end(),
                   [](const MemoryUsage::Series& a, const MemoryUsage::Series& b) {
                     return a.lane.series().device.has_value() > b.lane.series().device.has_value();
                   });
  if (out.series.empty())
    out.missing =
        "This trace has no memory counter. `headway record` samples device and process memory; "
        "PyTorch's profiler needs profile_memory=True.";
  std::vector<Growth> growths;
  for (const MemoryUsage::Series& series : out.series)
    growths.push_back(growth_of(series.lane, analysis.steps));
  out.text = describe(out.series, growths);
  out.growth = growth_table(out.series, growths);
  out.steps = step_peaks(out.series, analysis.steps);
  out.calls = allocation_table(trace, analysis);
  out.copies = make_copy_table(trace, analysis, CopyDirection::kAll);
  return out;
}

}  // namespace headway::gui
