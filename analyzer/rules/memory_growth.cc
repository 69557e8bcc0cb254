// SPDX-License-Identifier: MIT
// memory-growth: memory use rises steadily from step to step.
//
// Symptom: a process's resident memory, or a device's used memory, is larger after each part of
//   the run.
// Mechanism: objects of past steps stay alive: a list of losses with their graphs, cached outputs,
//   or dataset objects whose pages are copied as workers count references.
// Formula: the steady steps are cut into twelve parts, each with the median of its samples. Growth
//   g = median slope between any two parts x the duration. g counts if the last third rises at
//   least half as much over the middle third as that over the first, and the parts lie within g/8
//   of the line (median). Fires if g is over 1 % of the used memory and memory would be full
//   within 100,000 steps; if free memory is unknown, if g is over 5 %. Below a hundredth of the
//   free memory and a quarter of the initial use, filling caches could explain g: the recording is
//   then too short. Recoverable = 0, because growth costs no time before memory is full. A forked
//   process shares its parent's pages, which count as resident once touched: growth up to its
//   parent's memory at the fork is ignored.
// Falsified by: memory that rises only at first, as caches, pools and autotuners fill.
// Known false positives: mapped files count as resident when first read.
// Source: a common cause of failure in long runs; training monitors apply thresholds to the same
//   series.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/evidence/counters.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

constexpr std::string_view kResident = "process.rss";
constexpr std::string_view kAvailable = "machine.memory_available";
constexpr std::size_t kParts = 12;
constexpr std::size_t kThird = kParts / 3;
constexpr double kScatter = 1.0 / 8;
constexpr double kLeast = 0.01;       ///< of the memory in use
constexpr double kLeastAlone = 0.05;  ///< the same if free memory is unknown
constexpr double kLongRun = 100'000;  ///< steps
constexpr double kSeenOfLeft = 0.01;  ///< growth of a smaller share of free memory may end
constexpr double kSeenOfUsed = 0.2;   ///< likewise, of the memory in use at the end
constexpr double kByOthers = 1.25;    ///< a larger multiple of its own is others'
constexpr std::int64_t kFewestSteps = 12;

using Parts = std::array<double, kParts>;

/// The median of the samples in each part of the window; nothing if a part has no samples.
std::optional<Parts> parts_of(const trace::CounterSeries& series, Interval window) {
  std::array<std::vector<double>, kParts> samples;
  const double width = static_cast<double>(window.length().ns) / kParts;
  for (std::size_t i = 0; i < series.time.size(); ++i) {
    if (!window.contains(series.time[i])) continue;
    const double at = static_cast<double>((series.time[i] - window.begin).ns) / width;
    samples[std::min(kParts - 1, static_cast<std::size_t>(at))].push_back(series.value[i]);
  }
  Parts parts{};
  for (std::size_t p = 0; p < kParts; ++p) {
    if (samples[p].empty()) return std::nullopt;
    parts[p] = median(samples[p]);
  }
  return parts;
}

double third(const Parts& parts, std::size_t which) {
  return median(std::span(parts).subspan(which * kThird, kThird));
}

/// Bytes by which memory grows over the window; 0 if it does not grow or stops growing.
double growth_of(const Parts& parts) {
  std::vector<double> slopes;
  for (std::size_t a = 0; a < kParts; ++a)
    for (std::size_t b = a + 1; b < kParts; ++b)
      slopes.push_back((parts[b] - parts[a]) / static_cast<double>(b - a));
  const double slope = median(slopes);
  const double growth = slope * kParts;
  const double early = third(parts, 1) - third(parts, 0);
  const double late = third(parts, 2) - third(parts, 1);
  if (growth <= 0 || early <= 0 || late * 2 < early) return 0;
  std::vector<double> off_line;
  for (std::size_t p = 0; p < kParts; ++p)
    off_line.push_back(parts[p] - slope * static_cast<double>(p));
  return median_absolute_deviation(off_line) <= kScatter * growth ? growth : 0;
}

struct Growth {
  const trace::CounterSeries* series = nullptr;
  double bytes = 0;  ///< over the window
  double per_step = 0;
  double taken = 0;           ///< over the window, by all processes of the machine
  double taken_per_step = 0;  ///< likewise
  double used = 0;            ///< at the end
  double left = 0;            ///< 0: unknown
  double steps_left() const { return left / taken_per_step; }
  /// True if the growth is too large for caches that fill.
  bool is_told() const {
    return left <= 0 || taken >= kSeenOfLeft * left || bytes >= kSeenOfUsed * used;
  }
};

/// Bytes by which the machine's available memory falls over the window; 0 if it does not fall or
/// stops falling.
double taken_by_all(const RuleContext& context, Interval window) {
  const trace::CounterSeries* available = counters::find(context.trace, kAvailable);
  std::optional<Parts> parts = available ? parts_of(*available, window) : std::nullopt;
  if (!parts) return 0;
  for (double& part : *parts) part = -part;
  return growth_of(*parts);
}

double memory_left(const RuleContext& context, const trace::CounterSeries& series, double used,
                   Interval window) {
  if (series.device) {
    for (const trace::Device& device : context.trace.devices)
      if (device.ordinal == *series.device)
        return std::max(0.0, static_cast<double>(device.memory_bytes) - used);
    return 0;
  }
  const trace::CounterSeries* available = counters::find(context.trace, kAvailable);
  return available ? counters::summarise(*available, window).low : 0;
}

std::string label_of(const RuleContext& context, const trace::CounterSeries& series) {
  if (series.device) return fmt::format("memory used on device {}", *series.device);
  const trace::Process& process = context.trace.processes[series.process.value];
  for (const Step& step : context.steps.all)
    if (context.trace.threads[step.thread.value].process == series.process)
      return fmt::format("the memory of training process {}", process.pid);
  return fmt::format("the memory of process {}, a training helper", process.pid);
}

/// Resident bytes of the parent when it forked this process; 0 if the process runs another program.
double shared_at_fork(const trace::Trace& trace, const trace::Process& process) {
  for (const trace::CounterSeries& series : trace.counters) {
    if (series.name != kResident || !series.process.valid()) continue;
    const trace::Process& parent = trace.processes[series.process.value];
    if (parent.pid != process.parent_pid || parent.command_line != process.command_line) continue;
    const auto after = std::upper_bound(series.time.begin(), series.time.end(), process.start);
    if (after != series.time.begin())
      return series.value[static_cast<std::size_t>(after - series.time.begin()) - 1];
  }
  return 0;
}

std::vector<Evidence> evidence_of(const Growth& growth, Interval window) {
  std::vector<Evidence> list;
  for (std::size_t p = 0; p < 3; ++p) {
    const DurationNs width = window.length() / 3;
    const TimeNs begin = window.begin + width * static_cast<std::int64_t>(p);
    const Interval part{begin, begin + width};
    const double mean = counters::summarise(*growth.series, part).mean;
    list.push_back({part, {}, fmt::format("{} on average", format_bytes(std::llround(mean)))});
  }
  return list;
}

Finding check(const Rule& rule, const RuleContext& context) {
  const auto steps = static_cast<std::int64_t>(context.steps.steady.size());
  if (steps < kFewestSteps)
    return cannot_tell(rule, "Fewer than twelve steady steps are too few to detect growth.");
  const Interval window = counters::steady_window(context);
  const double by_all = taken_by_all(context, window);
  bool sampled = false;
  Growth worst;
  for (const trace::CounterSeries& series : context.trace.counters) {
    const bool resident = series.name == kResident && series.process.valid();
    if (!resident && (series.name != counters::kGpuMemoryUsed || !series.device)) continue;
    const std::optional<Parts> parts = parts_of(series, window);
    if (!parts) continue;
    sampled = true;
    const double growth = growth_of(*parts);
    const double taken = resident ? std::max(growth, by_all) : growth;
    Growth its{.series = &series,
               .bytes = growth,
               .per_step = growth / static_cast<double>(steps),
               .taken = taken,
               .taken_per_step = taken / static_cast<double>(steps),
               .used = parts->back()};
    its.left = memory_left(context, series, its.used, window);
    const bool fills = its.left > 0 && growth >= kLeast * its.used && its.steps_left() <= kLongRun;
    const bool alone = its.left <= 0 && growth >= kLeastAlone * its.used;
    if (resident &&
        its.used <= shared_at_fork(context.trace, context.trace.processes[series.process.value]))
      continue;
    if (!fills && !alone) continue;
    if (!worst.series ||
        std::pair(its.is_told(), its.per_step) > std::pair(worst.is_told(), worst.per_step))
      worst = its;
  }
  if (!sampled)
    return cannot_tell(rule,
                       "Too few memory samples in the steady steps: record a few seconds of them, "
                       "with --sample-hz of 10 or more.");
  if (!worst.series) return fine(rule, "Memory use does not grow from step to step.");
  if (!worst.is_told())
    return cannot_tell(
        rule,
        fmt::format(
            "Over {} steps {} grows by {}, to {}. Filling caches grow, too. Record more steps.",
            steps, label_of(context, *worst.series), format_bytes(std::llround(worst.bytes)),
            format_bytes(std::llround(worst.used))));
  Finding finding = found(rule, DurationNs{0}, context);
  finding.claim = fmt::format(
      "Per step, {} grows by {}, to {} at the end.", label_of(context, *worst.series),
      format_bytes(std::llround(worst.per_step)), format_bytes(std::llround(worst.used)));
  if (worst.taken > kByOthers * worst.bytes)
    finding.claim += fmt::format(" The available memory of the machine falls by {} per step.",
                                 format_bytes(std::llround(worst.taken_per_step)));
  if (worst.left > 0)
    finding.claim += fmt::format(" The remaining {} last for {} steps at this rate.",
                                 format_bytes(std::llround(worst.left)),
                                 format_count(std::llround(worst.steps_left())));
  finding.confidence = 0.9;
  finding.evidence = evidence_of(worst, window);
  finding.advice = {
      {"PyTorch",
       "Find references to tensors of past steps: sums of undetached losses, lists of outputs, "
       "hooks, caches. In workers, check for large Python lists in the dataset.",
       "loss.item() or loss.detach(); tracemalloc, gc.get_objects(), torch.cuda.memory_snapshot(); "
       "arrays instead of lists of objects",
       ""},
      {"TensorFlow/JAX",
       "Find references to arrays of past steps, and functions that recompile for each shape.",
       "jax.live_arrays(), jax.clear_caches(), tf.data.Dataset.cache(FILE)", ""}};
  return finding;
}

}  // namespace

extern const Rule kMemoryGrowth = {
    "memory-growth",
    "Memory grows",
    "Memory use rises throughout and would fill the device within 100,000 steps.",
    check,
    false,
    "it costs memory; it costs time only when memory is full"};

}  // namespace headway::analyzer
