// SPDX-License-Identifier: MIT
#include "gui/models/figures/rank_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzer/job/summarise.h"
#include "analyzer/partition/steady_ops.h"
#include "analyzer/ranks/identity.h"
#include "analyzer/stats/tables.h"
#include "common/format.h"
#include "common/statistics.h"
#include "gui/models/text/display_text.h"

namespace headway::gui {
namespace {

using analyzer::ClassTimes;
using analyzer::JobAnalysis;
using analyzer::TimeClass;
using analyzer::TimeGroup;

/// A rank stands out in a step if it exceeds the median by this share of the step.
constexpr double kStandsOut = 0.02;
/// The colour scale spans at least 1/kLeastContrast of the smallest value.
constexpr std::int64_t kLeastContrast = 20;

constexpr auto kMetrics = std::to_array<RankMetricInfo>({
    {RankMetric::kStep, "Step time", "From the end of the previous step to its end"},
    {RankMetric::kWait, "Waiting for other ranks",
     "In collectives, until the last rank arrives, with no other work"},
    {RankMetric::kCommunication, "Communication", "Exposed transfer and waiting"},
    {RankMetric::kCompute, "Computing", "Kernels other than communication"},
    {RankMetric::kInput, "Waiting for input", "The device idles because a batch is missing"},
    {RankMetric::kHost, "Held up by the host",
     "Launch gaps, synchronisation, allocation and similar"},
});

std::shared_ptr<const JobAnalysis> join_ranks(const trace::Trace& trace,
                                              const std::atomic<bool>* cancelled) {
  std::vector<analyzer::RankProcesses> ranks = analyzer::ranks_in(trace, 0);
  if (ranks.size() < 2) return nullptr;
  std::vector<analyzer::RankSummary> summaries;
  for (const analyzer::RankProcesses& rank : ranks) {
    if (cancelled && *cancelled) return nullptr;
    trace::Trace own = analyzer::take_rank(trace, rank.main, ranks);
    if (own.event_count() == 0) continue;
    summaries.push_back(analyzer::summarise(own, analyzer::analyze(own), rank.identity));
  }
  if (summaries.size() < 2) return nullptr;
  return std::make_shared<const JobAnalysis>(analyzer::combine(std::move(summaries)));
}

void collect_steps(RankMap& map, const std::vector<std::vector<analyzer::RankStep>>& rows) {
  for (const auto& row : rows) {
    for (const analyzer::RankStep& step : row) map.steps.push_back(step.number);
  }
  std::sort(map.steps.begin(), map.steps.end());
  map.steps.erase(std::unique(map.steps.begin(), map.steps.end()), map.steps.end());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    map.rows[r].cells.resize(map.steps.size());
    for (const analyzer::RankStep& step : rows[r]) {
      auto at = std::lower_bound(map.steps.begin(), map.steps.end(), step.number);
      map.rows[r].cells[static_cast<std::size_t>(at - map.steps.begin())] =
          RankCell{step.time, step.times, step.steady};
    }
  }
}

void add_ranks(RankMap& map) {
  std::vector<std::vector<analyzer::RankStep>> rows;
  for (const analyzer::RankSummary& rank : map.job->ranks) {
    const analyzer::RankDevice* device = analyzer::main_device(rank);
    RankRow& row = map.rows.emplace_back();
    row.label = analyzer::rank_label(rank);
    row.detail = display_text(rank.host, 40);
    if (device) {
      row.detail += fmt::format("{}device {}", row.detail.empty() ? "" : " · ", device->ordinal);
      row.mean = device->per_steady_step;
    }
    rows.push_back(device ? device->steps : std::vector<analyzer::RankStep>());
  }
  collect_steps(map, rows);
}

void add_devices(RankMap& map, const trace::Trace& trace, const analyzer::Analysis& analysis) {
  std::vector<std::vector<analyzer::RankStep>> rows;
  for (const analyzer::DevicePartition& partition : analysis.partitions) {
    RankRow& row = map.rows.emplace_back();
    row.label = partition.device.valid()
                    ? fmt::format("device {}", trace.devices[partition.device.value].ordinal)
                    : display_text(analyzer::partition_label(trace, partition), 40);
    if (partition.device.valid())
      row.detail = display_text(trace.devices[partition.device.value].name, 40);
    row.mean = partition.per_steady_step;
    std::vector<analyzer::RankStep>& steps = rows.emplace_back();
    for (const analyzer::DeviceStep& step : partition.steps) {
      bool known = step.step < analysis.steps.all.size();
      steps.push_back({known ? analysis.steps.all[step.step].number : 0,
                       analyzer::counts(analysis.steps, step), step.interval, step.times});
    }
  }
  collect_steps(map, rows);
}

/// The rank with the largest own() time in one step, with the cause; none if no rank stands out.
std::optional<Straggler> straggler_of(const RankMap& map, std::uint32_t column) {
  std::vector<std::uint32_t> present;
  std::vector<double> own;
  for (std::uint32_t r = 0; r < map.rows.size(); ++r) {
    const std::optional<RankCell>& cell = map.rows[r].cells[column];
    if (!cell || !cell->steady) continue;
    present.push_back(r);
    own.push_back(static_cast<double>(cell->own().ns));
  }
  if (present.size() < 2) return std::nullopt;
  std::size_t most =
      static_cast<std::size_t>(std::max_element(own.begin(), own.end()) - own.begin());
  Straggler result;
  result.column = column;
  result.row = present[most];
  const RankCell& slow = *map.rows[result.row].cells[column];
  // The median of the other ranks, so that of two ranks the slower one is compared with the faster.
  auto median_of = [&](auto value) {
    std::vector<double> values;
    for (std::uint32_t r : present)
      if (r != result.row)
        values.push_back(static_cast<double>(value(*map.rows[r].cells[column]).ns));
    return DurationNs{static_cast<std::int64_t>(median(values))};
  };
  result.excess = slow.own() - median_of([](const RankCell& cell) { return cell.own(); });
  if (ratio(result.excess, slow.time.length()) < kStandsOut) return std::nullopt;
  for (const analyzer::TimeClassInfo& info : analyzer::time_classes()) {
    if (info.group == TimeGroup::kCommunication) continue;
    DurationNs more = slow.times[info.time_class] -
                      median_of([&](const RankCell& cell) { return cell.times[info.time_class]; });
    if (more <= result.cause_excess) continue;
    result.cause_excess = more;
    result.cause = info.time_class;
  }
  return result;
}

std::string describe(const RankMap& map) {
  std::string_view what = map.of_devices ? "device" : "rank";
  std::string text;
  if (map.rows.size() < 2) return text;
  std::vector<std::int64_t> times(map.rows.size());
  for (const Straggler& one : map.stragglers) ++times[one.row];
  std::size_t worst =
      static_cast<std::size_t>(std::max_element(times.begin(), times.end()) - times.begin());
  if (map.stragglers.empty()) {
    text = fmt::format("No {} stands out: in every step their own times differ by at most {}.",
                       what, format_percent(kStandsOut));
  } else {
    text = fmt::format(
        "In {} of {} steps, one {} has more work than the others, most often {} ({} times).",
        map.stragglers.size(), map.steps.size(), what, map.rows[worst].label, times[worst]);
  }
  if (map.job && !map.job->roles.empty()) {
    const analyzer::RankRole& role = map.job->roles[map.job->critical];
    if (role.caused_wait.ns > 0)
      text += fmt::format(" The others wait for {} for {} a step{}.",
                          analyzer::rank_label(map.job->ranks[map.job->critical]),
                          format_duration(role.caused_wait),
                          role.cause ? fmt::format(", because it spends {} more on: {}",
                                                   format_duration(role.cause->excess_per_step),
                                                   analyzer::info(role.cause->time_class).label)
                                     : std::string());
  }
  return text;
}

}  // namespace

std::span<const RankMetricInfo> rank_metrics() {
  return kMetrics;
}

DurationNs RankCell::value(RankMetric metric) const {
  switch (metric) {
    case RankMetric::kStep:
      return time.length();
    case RankMetric::kWait:
      return times[TimeClass::kStragglerWait];
    case RankMetric::kCommunication:
      return times.of_group(TimeGroup::kCommunication);
    case RankMetric::kCompute:
      return times.of_group(TimeGroup::kCompute);
    case RankMetric::kInput:
      return times.of_group(TimeGroup::kInput);
    case RankMetric::kHost:
      return times.of_group(TimeGroup::kHost);
  }
  return {};
}

DurationNs RankCell::own() const {
  return time.length() - times.of_group(TimeGroup::kCommunication);
}

std::pair<DurationNs, DurationNs> RankMap::range(RankMetric metric) const {
  std::vector<double> values;
  for (const RankRow& row : rows) {
    for (const std::optional<RankCell>& cell : row.cells)
      if (cell && cell->steady) values.push_back(static_cast<double>(cell->value(metric).ns));
  }
  std::sort(values.begin(), values.end());
  auto at = [&](double p) {
    return DurationNs{static_cast<std::int64_t>(percentile_sorted(values, p))};
  };
  // Ranks with almost equal values should have almost the same colour.
  DurationNs low = at(0);
  return {low, std::max(at(0.98), low + std::max(low / kLeastContrast, DurationNs{1}))};
}

RankMetric RankMap::most_different() const {
  auto spread = [&](RankMetric metric) {
    std::vector<double> means;
    for (const RankRow& row : rows) {
      double sum = 0;
      std::int64_t steps = 0;
      for (const std::optional<RankCell>& cell : row.cells) {
        if (!cell || !cell->steady) continue;
        sum += static_cast<double>(cell->value(metric).ns);
        ++steps;
      }
      if (steps > 0) means.push_back(sum / static_cast<double>(steps));
    }
    if (means.size() < 2) return 0.0;
    auto [least, most] = std::minmax_element(means.begin(), means.end());
    return *most - *least;
  };
  RankMetric cause = RankMetric::kStep;
  double most = 0;
  for (RankMetric metric : {RankMetric::kCompute, RankMetric::kInput, RankMetric::kHost}) {
    if (spread(metric) <= most) continue;
    most = spread(metric);
    cause = metric;
  }
  const RankMetric effect = RankMetric::kWait;
  const RankMetric differs = most * 2 >= spread(effect) ? cause : effect;
  const double step = static_cast<double>(range(RankMetric::kStep).second.ns);
  return spread(differs) < kStandsOut * step ? RankMetric::kStep : differs;
}

RankMap make_rank_map(const trace::Trace& trace, const analyzer::Analysis& analysis,
                      const std::atomic<bool>* cancelled) {
  RankMap map;
  map.job = analysis.job ? analysis.job : join_ranks(trace, cancelled);
  if (map.job) {
    add_ranks(map);
  } else {
    map.of_devices = true;
    add_devices(map, trace, analysis);
  }
  for (const RankRow& row : map.rows)
    map.can_tell_waits |= row.mean[TimeClass::kStragglerWait].ns > 0;
  map.can_tell_waits |= map.job && !map.job->matching.all.empty();
  for (std::uint32_t c = 0; c < map.steps.size(); ++c) {
    if (std::optional<Straggler> one = straggler_of(map, c)) map.stragglers.push_back(*one);
  }
  map.text = describe(map);
  return map;
}

LinkedTable rank_summary_table(const trace::Trace& trace, const analyzer::Analysis& analysis,
                               const RankMap& map) {
  LinkedTable out;
  analyzer::Analysis of_job;
  of_job.job = map.job;
  out.table = analyzer::rank_table(trace, map.job ? of_job : analysis);
  for (std::size_t c = 0; c < out.table.columns.size(); ++c) {
    // All ranks come from one file, so its name is redundant.
    if (out.table.columns[c].id != "file") continue;
    out.table.columns.erase(out.table.columns.begin() + static_cast<std::ptrdiff_t>(c));
    for (auto& row : out.table.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(c));
    break;
  }
  out.docs = {"Rank",
              "Machine",
              "The device that defines its steps",
              "Mean steady step",
              "Kernels other than communication",
              "Exposed communication, without waits",
              "Time spent waiting for other ranks, with no other work",
              "The median other rank's wait while this one is last",
              "Share of synchronising collectives in which all others waited for it",
              "Class with the largest excess over the median rank when it is last",
              "Mean delay after the earliest rank's start"};
  return out;
}

LinkedTable straggler_table(const RankMap& map, const analyzer::Analysis& analysis) {
  using analyzer::ColumnKind;
  LinkedTable out;
  out.table.id = "stragglers";
  out.table.title = "Stragglers";
  out.table.note = map.text;
  out.table.columns = {{"cause", "Because of", ColumnKind::kText},
                       {"step", "Step", ColumnKind::kRaw},
                       {"who", map.of_devices ? "Device" : "Rank", ColumnKind::kText},
                       {"excess_ns", "Excess own time", ColumnKind::kDuration},
                       {"cause_ns", "of it", ColumnKind::kDuration},
                       {"step_ns", "Its step", ColumnKind::kDuration}};
  out.docs = {"Class with the largest excess over the others' median",
              "As counted by the program",
              "The one with most own time (without communication)",
              "Its own time minus the median of the others",
              "The class's share of this excess",
              "Step time there"};
  for (const Straggler& one : map.stragglers) {
    const RankCell& cell = *map.rows[one.row].cells[one.column];
    out.table.rows.push_back({one.cause ? std::string(analyzer::info(*one.cause).label)
                                        : std::string("(no class stands out)"),
                              map.steps[one.column], map.rows[one.row].label, one.excess.ns,
                              one.cause_excess.ns, cell.time.length().ns});
    auto step = std::find_if(
        analysis.steps.all.begin(), analysis.steps.all.end(),
        [&](const analyzer::Step& candidate) { return candidate.number == map.steps[one.column]; });
    out.links.push_back(step == analysis.steps.all.end() ? Target{}
                                                         : Target::step(static_cast<std::uint32_t>(
                                                               step - analysis.steps.all.begin())));
  }
  out.sort_column = out.column("excess_ns");
  return out;
}

}  // namespace headway::gui
