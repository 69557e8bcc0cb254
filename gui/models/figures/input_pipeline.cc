// SPDX-License-Identifier: MIT
#include "gui/models/figures/input_pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "analyzer/stats/labels.h"
#include "common/format.h"
#include "gui/models/details/details.h"
#include "gui/models/tables/copy_table.h"
#include "gui/models/tables/scope.h"
#include "gui/models/text/display_text.h"
#include "gui/models/timeline/step_lengths.h"

namespace headway::gui {
namespace {

using analyzer::Cell;
using analyzer::ColumnKind;
using analyzer::TimeClass;
using trace::RangeKind;

/// Below this share of the step, waiting for input is negligible.
constexpr double kKeepsUp = 0.02;
/// Workers that are busy for a smaller share do not limit the pipeline.
constexpr double kBusy = 0.8;

struct StageInfo {
  std::string_view label;
  std::string_view doc;
  ColorRole color;
};
constexpr std::array<StageInfo, kInputStages> kStages = {{
    {"Read", "Bytes from storage", role_of(TimeClass::kIoRead)},
    {"Decode", "Decompressing and parsing", role_of(TimeClass::kDecode)},
    {"Augment", "Random transforms, normalisation", ColorRole::kName0},
    {"Collate", "Assembling and pinning the batch", role_of(TimeClass::kH2d)},
    {"Other batch work", "Between stages: handover, locks, unmarked work",
     role_of(TimeClass::kInputOther)},
}};

struct StageSum {
  std::int64_t count = 0;
  DurationNs time;
  std::int64_t bytes = 0;
  DurationNs longest{-1};
  Target target;

  void add(DurationNs inside, Interval whole, std::int64_t size, trace::RangeId range) {
    ++count;
    time += inside;
    bytes += size;
    if (whole.length() <= longest) return;
    longest = whole.length();
    target = Target::of(analyzer::EventRef::of(range));
  }
};

struct Worker {
  std::string name;
  bool trains = false;  ///< the training thread loads its batches itself
  std::int64_t batches = 0;
  DurationNs batch_time;
  std::array<StageSum, kInputStages> stages;

  DurationNs staged() const {
    DurationNs sum;
    for (std::size_t s = 0; s < kInputStages; ++s) sum += stages[s].time;
    return sum;
  }
};

/// From the first steady step to the last, on host or device; the whole trace if there are none.
Interval window_of(const trace::Trace& trace, const analyzer::Analysis& analysis) {
  Interval window{TimeNs::max(), TimeNs::min()};
  for (std::uint32_t s : analysis.steps.steady) {
    window.begin = std::min(window.begin, analysis.steps.all[s].host.begin);
    window.end = std::max(window.end, analysis.steps.all[s].host.end);
  }
  if (!window.empty()) return window;
  return {TimeNs{0}, trace.end + DurationNs{1}};
}

std::size_t stage_of(RangeKind kind) {
  switch (kind) {
    case RangeKind::kRead:
      return static_cast<std::size_t>(InputStage::kRead);
    case RangeKind::kDecode:
      return static_cast<std::size_t>(InputStage::kDecode);
    case RangeKind::kAugment:
      return static_cast<std::size_t>(InputStage::kAugment);
    case RangeKind::kCollate:
      return static_cast<std::size_t>(InputStage::kCollate);
    default:
      return kInputStages;
  }
}

/// Collects the work of the workers, range by range. Threads with the same name in one process
/// count as one worker, because some loaders start a thread for each batch.
class Gatherer {
 public:
  Gatherer(const trace::Trace& trace, const analyzer::Analysis& analysis, Interval window)
      : trace_(trace), window_(window), worker_of_(trace.threads.size(), UINT32_MAX) {
    trains_.resize(trace.threads.size());
    for (const analyzer::Step& step : analysis.steps.all)
      if (step.thread.valid()) trains_[step.thread.value] = true;
  }

  void add(trace::RangeId range, const trace::RangeInfo& info) {
    std::size_t stage = stage_of(info.kind);
    if (stage == kInputStages && info.kind != RangeKind::kBatch) return;
    Interval when = trace_.ranges.interval(range);
    DurationNs inside = intersect(when, window_).length();
    if (inside.ns <= 0) return;
    Worker& worker = of(trace_.ranges.thread[range.value]);
    if (info.kind == RangeKind::kBatch) {
      ++worker.batches;
      worker.batch_time += inside;
    } else {
      worker.stages[stage].add(inside, when, info.bytes, range);
    }
  }

  std::vector<Worker> finish() {
    for (Worker& worker : workers_) {
      DurationNs rest = worker.batch_time - worker.staged();
      StageSum& sum = worker.stages[static_cast<std::size_t>(InputStage::kRest)];
      if (rest.ns > 0) sum.time = rest;
      sum.count = worker.batches;
    }
    return std::move(workers_);
  }

 private:
  Worker& of(trace::ThreadId thread) {
    std::uint32_t& index = worker_of_[thread.value];
    if (index == UINT32_MAX) {
      std::string name = display_text(thread_label(trace_, thread), 60);
      auto [slot, is_new] = by_name_.try_emplace({trace_.threads[thread.value].process, name},
                                                 static_cast<std::uint32_t>(workers_.size()));
      if (is_new) workers_.push_back({name, static_cast<bool>(trains_[thread.value]), 0, {}, {}});
      index = slot->second;
    }
    return workers_[index];
  }

  const trace::Trace& trace_;
  Interval window_;
  std::vector<bool> trains_;
  std::vector<std::uint32_t> worker_of_;
  std::map<std::pair<trace::ProcessId, std::string>, std::uint32_t> by_name_;
  std::vector<Worker> workers_;
};

/// A step's waits for input on its training thread.
struct StepWait {
  std::uint32_t step = 0;
  DurationNs time;
  DurationNs longest;
  trace::RangeId range;
};

/// The outermost ranges in which a training thread waits for a batch, by step.
std::vector<StepWait> waits_of(const trace::Trace& trace, const analyzer::Analysis& analysis) {
  std::vector<StepWait> out;
  const std::vector<analyzer::RangeContext>& contexts = analysis.attribution.contexts;
  if (contexts.size() != trace.ranges.size()) return out;
  for (std::uint32_t s = 0; s < analysis.steps.all.size(); ++s) {
    const analyzer::Step& step = analysis.steps.all[s];
    if (!step.thread.valid()) continue;
    std::span<const trace::RangeId> ranges = trace.ranges_of_thread[step.thread];
    auto first = std::lower_bound(
        ranges.begin(), ranges.end(), step.host.begin,
        [&](trace::RangeId r, TimeNs t) { return trace.ranges.start[r.value] < t; });
    StepWait wait{s, {}, {}, {}};
    for (auto r = first; r != ranges.end() && trace.ranges.start[r->value] < step.host.end; ++r) {
      trace::RangeId parent = trace.ranges.parent[r->value];
      if (!contexts[r->value].input_wait || (parent.valid() && contexts[parent.value].input_wait))
        continue;
      DurationNs length = trace.ranges.interval(*r).length();
      wait.time += length;
      if (wait.range.valid() && length <= wait.longest) continue;
      wait.longest = length;
      wait.range = *r;
    }
    out.push_back(wait);
  }
  bool any = std::any_of(out.begin(), out.end(), [](const StepWait& w) { return w.range.valid(); });
  if (!any) out.clear();
  return out;
}

StackedBars bars_of(const std::vector<Worker>& workers, Interval window) {
  StackedBars bars;
  bars.title = fmt::format("Loader worker activity in {}", format_duration(window.length()));
  bars.axis = "the steady steps";
  for (const StageInfo& stage : kStages)
    bars.legend.push_back({std::string(stage.label), std::string(stage.doc), stage.color, false});
  bars.legend.push_back(
      {"Waits for work", "Its queue is full, or no work is left", ColorRole::kOtherPhase, true});
  for (const Worker& worker : workers) {
    StackedBar bar{worker.name,
                   worker.trains ? "the training thread itself"
                                 : fmt::format("{} batches", format_count(worker.batches)),
                   {}};
    DurationNs sum;
    for (std::uint32_t s = 0; s < kInputStages; ++s) {
      if (worker.stages[s].time.ns <= 0) continue;
      bar.parts.push_back({s, worker.stages[s].time, worker.stages[s].target});
      sum += worker.stages[s].time;
    }
    if (DurationNs idle = window.length() - sum; idle.ns > 0 && !worker.trains)
      bar.parts.push_back({static_cast<std::uint32_t>(kInputStages), idle, {}});
    bars.bars.push_back(std::move(bar));
  }
  return bars;
}

LinkedTable stage_table(const std::vector<Worker>& workers, std::int64_t steps, Interval window) {
  LinkedTable out;
  out.table.id = "input-stages";
  out.table.title = "Stages";
  out.table.note = fmt::format("All workers together, over {}.", format_duration(window.length()));
  out.table.columns = {{"stage", "Stage", ColumnKind::kText},
                       {"count", "Count", ColumnKind::kCount},
                       {"total_ns", "Worker time", ColumnKind::kDuration},
                       {"share", "Share", ColumnKind::kPercent},
                       {"per_batch_ns", "Per batch", ColumnKind::kDuration},
                       {"per_step_ns", "Per step", ColumnKind::kDuration},
                       {"max_ns", "Longest", ColumnKind::kDuration},
                       {"bytes", "Bytes", ColumnKind::kBytes},
                       {"bytes_per_s", "Rate of one worker", ColumnKind::kByteRate}};
  out.docs = {"Stage of a batch",
              "Ranges of that kind",
              "Summed over all workers",
              "Share of the workers' busy time",
              "Mean over the batches made",
              "Worker time over the number of steady steps",
              "The longest one; open the row to see it",
              "As recorded by the loader",
              "Bytes over worker time"};
  std::array<StageSum, kInputStages> sums;
  std::int64_t batches = 0;
  DurationNs all;
  for (const Worker& worker : workers) {
    batches += worker.batches;
    for (std::size_t s = 0; s < kInputStages; ++s) {
      const StageSum& stage = worker.stages[s];
      sums[s].count += stage.count;
      sums[s].time += stage.time;
      sums[s].bytes += stage.bytes;
      all += stage.time;
      if (stage.longest > sums[s].longest) {
        sums[s].longest = stage.longest;
        sums[s].target = stage.target;
      }
    }
  }
  for (std::size_t s = 0; s < kInputStages; ++s) {
    const StageSum& sum = sums[s];
    if (sum.time.ns <= 0) continue;
    out.table.rows.push_back(
        {std::string(kStages[s].label), sum.count, sum.time.ns, ratio(sum.time, all),
         batches ? Cell(sum.time.ns / batches) : Cell(), steps ? Cell(sum.time.ns / steps) : Cell(),
         sum.longest.ns >= 0 ? Cell(sum.longest.ns) : Cell(),
         sum.bytes > 0 ? Cell(sum.bytes) : Cell(), analyzer::rate_cell(sum.bytes, sum.time.ns)});
    out.links.push_back(sum.target);
  }
  out.bar_column = out.column("share");
  out.sort_column = out.column("total_ns");
  out.drop_unknown_columns();
  return out;
}

LinkedTable worker_table(const std::vector<Worker>& workers, Interval window) {
  LinkedTable out;
  out.table.id = "input-workers";
  out.table.title = "Workers";
  out.table.note = fmt::format("Over {}.", format_duration(window.length()));
  out.table.columns = {{"worker", "Worker", ColumnKind::kText},
                       {"batches", "Batches", ColumnKind::kCount},
                       {"busy_ns", "Busy", ColumnKind::kDuration},
                       {"utilisation", "Utilisation", ColumnKind::kPercent},
                       {"idle_ns", "Waits for work", ColumnKind::kDuration},
                       {"per_batch_ns", "Per batch", ColumnKind::kDuration}};
  out.docs = {"Thread, or threads with the same name",
              "Batches it worked on",
              "Time spent on batches",
              "Busy share of the window; near 100 %: more workers would help",
              "Rest of the window: the queue is full, or no work is left",
              "Mean busy time of a batch"};
  for (const Worker& worker : workers) {
    DurationNs busy = worker.staged();
    out.table.rows.push_back(
        {worker.name, worker.batches, busy.ns, ratio(busy, window.length()),
         worker.trains ? Cell() : Cell(std::max<std::int64_t>(0, (window.length() - busy).ns)),
         worker.batches ? Cell(busy.ns / worker.batches) : Cell()});
    Target target;
    DurationNs longest{-1};
    for (const StageSum& stage : worker.stages) {
      if (stage.longest <= longest) continue;
      longest = stage.longest;
      target = stage.target;
    }
    out.links.push_back(target);
  }
  out.bar_column = out.column("utilisation");
  return out;
}

LinkedTable wait_table(const std::vector<StepWait>& waits, const trace::Trace& trace,
                       const analyzer::Analysis& analysis) {
  LinkedTable out;
  out.table.id = "input-waits";
  out.table.title = "Waits for a batch";
  out.table.note = "On the training thread; the device may still be busy.";
  out.table.columns = {{"name", "Waits in", ColumnKind::kText},
                       {"step", "Step", ColumnKind::kRaw},
                       {"wait_ns", "Wait", ColumnKind::kDuration},
                       {"share", "Share of the step", ColumnKind::kPercent},
                       {"step_ns", "Step length", ColumnKind::kDuration},
                       {"steady", "Steady", ColumnKind::kText}};
  out.docs = {"Range in which the thread waits",
              "As counted by the program",
              "Time the training thread waited for its batch",
              "Of the step",
              "As on the Steps page",
              "no: excluded"};
  const StepLengths lengths = step_lengths(analysis);
  for (const StepWait& wait : waits) {
    const analyzer::Step& step = analysis.steps.all[wait.step];
    const DurationNs length = lengths.length[wait.step];
    std::string name = wait.range.valid()
                           ? std::string(trace.strings[trace.ranges.name[wait.range.value]])
                           : std::string("(no wait)");
    out.table.rows.push_back({std::move(name), step.number, wait.time.ns, ratio(wait.time, length),
                              length.ns, std::string(step.steady ? "yes" : "no")});
    out.links.push_back(wait.range.valid() ? Target::of(analyzer::EventRef::of(wait.range))
                                           : Target::step(wait.step));
  }
  out.bar_column = out.column("share");
  out.sort_column = out.column("wait_ns");
  return out;
}

/// "Read 3.0 ms, Decode 20.0 ms": the stages of the missing batch while the device waited.
std::string blame(const analyzer::Analysis& analysis) {
  std::string text;
  for (const analyzer::DevicePartition& partition : analysis.partitions) {
    if (partition.per_steady_step.of_group(analyzer::TimeGroup::kInput).ns <= 0) continue;
    for (const analyzer::TimeClassInfo& info : analyzer::time_classes()) {
      DurationNs time = partition.per_steady_step[info.time_class];
      if (info.group != analyzer::TimeGroup::kInput || time.ns <= 0) continue;
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", info.label, format_duration(time));
    }
    break;
  }
  return text;
}

std::string describe(const std::vector<Worker>& workers, const std::vector<StepWait>& waits,
                     const analyzer::Analysis& analysis, Interval window) {
  std::string text;
  DurationNs waited;
  DurationNs stepped;
  const StepLengths lengths = step_lengths(analysis);
  for (const StepWait& wait : waits) {
    const analyzer::Step& step = analysis.steps.all[wait.step];
    if (!step.steady) continue;
    waited += wait.time;
    stepped += lengths.length[wait.step];
  }
  double share = ratio(waited, stepped);
  if (!waits.empty()) {
    text = share < kKeepsUp
               ? fmt::format("The loader keeps up: steps wait for their batch {} of the time.",
                             format_percent(share))
               : fmt::format("Steps wait for their batch {} of the time.", format_percent(share));
    if (std::string what = blame(analysis); !what.empty() && share >= kKeepsUp)
      text += fmt::format(" This leaves the device idle {} per step.", what);
  } else {
    text = "The trace does not show when steps wait for their batch.";
  }
  std::array<DurationNs, kInputStages> sums{};
  DurationNs busy;
  std::int64_t batches = 0;
  std::int64_t count = 0;
  for (const Worker& worker : workers) {
    for (std::size_t s = 0; s < kInputStages; ++s) sums[s] += worker.stages[s].time;
    busy += worker.staged();
    batches += worker.batches;
    ++count;
  }
  if (busy.ns <= 0) return text;
  std::size_t most =
      static_cast<std::size_t>(std::max_element(sums.begin(), sums.end()) - sums.begin());
  double used = ratio(busy, window.length() * count);
  text += fmt::format(
      " {} takes most of the workers' time: {}{}.", kStages[most].label,
      format_percent(ratio(sums[most], busy)),
      batches ? fmt::format(", {} of the {} that a batch takes",
                            format_duration(sums[most] / batches), format_duration(busy / batches))
              : std::string());
  if (share < kKeepsUp) return text;
  std::string who = count == 1 ? "The worker is" : fmt::format("The {} workers are", count);
  text += used >= kBusy
              ? fmt::format(
                    " {} busy {} of the time: more workers, or less {} per batch, would shorten "
                    "the step.",
                    who, format_percent(used), most == 0 ? "reading" : "work")
              : fmt::format(
                    " {} busy only {} of the time: batches wait elsewhere, in the queue or "
                    "its hand-over.",
                    who, format_percent(used));
  return text;
}

}  // namespace

InputPipeline make_input_pipeline(const trace::Trace& trace, const analyzer::Analysis& analysis) {
  InputPipeline out;
  Interval window = window_of(trace, analysis);
  Gatherer gatherer(trace, analysis, window);
  if (!trace.range_info.empty()) {
    for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
      if (const trace::RangeInfo* info = trace.info({i})) gatherer.add({i}, *info);
    }
  }
  std::vector<Worker> workers = gatherer.finish();
  std::vector<StepWait> waits = waits_of(trace, analysis);
  out.knows_stages = !workers.empty();
  out.knows_waits = !waits.empty();
  if (!out.knows_stages && !out.knows_waits) {
    out.missing =
        "The trace shows no input pipeline: no range is marked as a loader stage or has a known "
        "loader name.\n\nMark the batch wait and the loader stages with NVTX ranges "
        "(docs/reference/nvtx-conventions.md), or record PyTorch's DataLoader with its profiler.";
  }
  out.text = describe(workers, waits, analysis, window);
  if (!out.knows_stages && out.knows_waits)
    out.text +=
        " Loader worker activity is not recorded: mark the stages with NVTX ranges to see which "
        "one limits.";
  std::int64_t steps = static_cast<std::int64_t>(analysis.steps.steady.size());
  out.workers = bars_of(workers, window);
  out.stages = stage_table(workers, steps, window);
  out.threads = worker_table(workers, window);
  out.waits = wait_table(waits, trace, analysis);
  out.copies = make_copy_table(trace, analysis, CopyDirection::kToDevice);
  return out;
}

}  // namespace headway::gui
