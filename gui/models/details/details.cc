// SPDX-License-Identifier: MIT
#include "gui/models/details/details.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzer/model/event_ref.h"
#include "analyzer/replay/predicted_step.h"
#include "common/format.h"
#include "gui/models/text/display_text.h"
#include "gui/models/text/vocabulary.h"
#include "gui/models/timeline/event_statistics.h"
#include "gui/models/timeline/path_lanes.h"
#include "gui/models/timeline/ticks.h"

namespace headway::gui {

using analyzer::EventRef;
using trace::CallId;
using trace::DeviceOpId;
using trace::RangeId;
using trace::Trace;

std::string thread_label(const Trace& trace, trace::ThreadId id) {
  const trace::Thread& thread = trace.threads[id.value];
  return thread.name.empty() ? fmt::format("Thread {}", thread.tid) : display_text(thread.name, 80);
}

std::string stream_label(const Trace& trace, trace::StreamId id) {
  const trace::Stream& stream = trace.streams[id.value];
  std::string label = fmt::format("Stream {}", stream.ordinal);
  if (!stream.name.empty()) label += " · " + display_text(stream.name, 80);
  const trace::Device& device = trace.devices[stream.device.value];
  return label + fmt::format(" of device {}", device.ordinal);
}

std::string row_path(const TimelineModel& model, RowId row) {
  const auto says_nothing = [&](const Row& heading) {
    return heading.kind == RowKind::kLoaders ||
           ((heading.kind == RowKind::kProcess || heading.kind == RowKind::kDevice) &&
            std::ranges::count(model.rows, heading.kind, &Row::kind) == 1);
  };
  std::string path;
  for (; row.valid(); row = model.row(row).parent) {
    if (!path.empty() && says_nothing(model.row(row))) continue;
    const std::string label = display_text(model.row(row).label, 80);
    path = path.empty() ? label : label + " › " + path;
  }
  return path;
}

std::string title_of(const TimelineModel& model, const Target& target) {
  switch (target.kind) {
    case Target::Kind::kEvent:
      return display_text(analyzer::name_of(*model.trace, target.event));
    case Target::Kind::kSegment: {
      const auto& segment = model.analysis->partitions[target.partition].segments[target.index];
      return std::string(analyzer::info(segment.time_class).label);
    }
    case Target::Kind::kStep:
      return fmt::format("Step {}", model.analysis->steps.all[target.index].number);
    case Target::Kind::kOverhead:
      return display_text(model.trace->strings[model.trace->overheads[target.index].name]);
    case Target::Kind::kPrediction:
      if (!model.predicted) return "";
      return display_text(
          analyzer::name_of(*model.trace, model.predicted->tasks[target.index].event));
    case Target::Kind::kNone:
      break;
  }
  return "";
}

namespace {

class Description {
 public:
  explicit Description(const TimelineModel& model, bool brief = false, bool statistics = true)
      : model_(model),
        trace_(*model.trace),
        analysis_(*model.analysis),
        brief_(brief),
        statistics_(statistics && !brief) {}

  void target(const Target& target) {
    if (!brief_) frames_ = source_frames(model_, target, kMostFrames + 1);
    switch (target.kind) {
      case Target::Kind::kEvent:
        if (target.event.kind == EventRef::Kind::kRange) range({target.event.index});
        if (target.event.kind == EventRef::Kind::kDeviceOp) device_op({target.event.index});
        if (target.event.kind == EventRef::Kind::kCall) call({target.event.index});
        break;
      case Target::Kind::kSegment:
        segment(analysis_.partitions[target.partition], target.index);
        break;
      case Target::Kind::kStep:
        step(target.index);
        break;
      case Target::Kind::kOverhead:
        overhead(trace_.overheads[target.index]);
        break;
      case Target::Kind::kPrediction:
        if (model_.predicted) prediction(*model_.predicted, target.index);
        break;
      case Target::Kind::kNone:
        break;
    }
    if (brief_ || frames_.size() < 2) return;
    heading("Called from");
    for (std::size_t i = 1; i < std::min(kMostFrames, frames_.size()); ++i) source("", frames_[i]);
    if (frames_.size() > kMostFrames) add("…", "call stacks contain the rest");
  }

  void innermost_source() {
    if (!frames_.empty()) source("Source", frames_.front());
  }
  /// Adds a range that is named after a source line.
  void source(std::string label, const SourceFrame& frame) {
    std::string name = display_text(trace_.strings[trace_.ranges.name[frame.range.value]], 120);
    lines_.push_back({std::move(label), std::move(name), {}, frame.place});
  }

  void add(std::string label, std::string value, Target link = {}) {
    if (!value.empty()) lines_.push_back({std::move(label), std::move(value), link});
  }
  void heading(std::string label) { lines_.push_back({std::move(label), "", {}}); }
  std::vector<Detail> take() { return std::move(lines_); }

  void times(Interval when) {
    add("Duration", format_duration(when.end - when.begin));
    add("Start", format_time(when.begin, {1}));
    add("End", format_time(when.end, {1}));
  }

  void amounts(std::int64_t bytes, std::int64_t flops, DurationNs duration) {
    if (bytes > 0) add("Bytes", format_bytes(bytes) + rate(bytes, duration, "B/s"));
    if (flops > 0)
      add("Operations", si(static_cast<double>(flops), "FLOP") + rate(flops, duration, "FLOP/s"));
  }

  void in_step(std::optional<std::uint32_t> index) {
    // Without steps, a partition has one entry for its whole span.
    if (brief_ || !index || *index >= analysis_.steps.all.size()) return;
    const analyzer::Step& step = analysis_.steps.all[*index];
    add("In step", fmt::format("{}{}", step.number, step.steady ? "" : " (excluded)"),
        Target::step(*index));
  }
  void step_of_event(EventRef event) {
    if (!brief_) in_step(step_of(trace_, analysis_, event));
  }

  void path(RangeId range) {
    innermost_source();
    std::vector<std::string> names;
    for (RangeId r = range; r.valid() && names.size() < 24; r = trace_.ranges.parent[r.value]) {
      const std::string_view name = trace_.strings[trace_.ranges.name[r.value]];
      if (r != range && source_place(name)) continue;  // source lines are listed separately
      names.push_back(display_text(name, 60));
    }
    std::string text;
    for (auto name = names.rbegin(); name != names.rend(); ++name)
      text += (text.empty() ? "" : " › ") + *name;
    add("Path", text, range.valid() ? Target::of(EventRef::of(range)) : Target{});
  }

  void same_name(EventRef event) {
    if (!statistics_) return;
    NameStatistics same = statistics_of_name(trace_, event);
    if (same.count < 2) return;
    Interval own = analyzer::interval_of(trace_, event);
    std::string text = fmt::format("{} events, median {}, total {}", format_count(same.count),
                                   format_duration(same.median), format_duration(same.total));
    double times = same.median.ns > 0 ? static_cast<double>((own.end - own.begin).ns) /
                                            static_cast<double>(same.median.ns)
                                      : 1;
    if (times >= 1.5 || times <= 0.67)
      text += fmt::format("; this one is {:.2g}× the median", times);
    add("Same name", text);
  }

  /// Whether the event delayed the end of steps, and by how much it could have ended later.
  void path_of(EventRef event) {
    const analyzer::CriticalPath& critical = analysis_.critical_path;
    if (brief_ || critical.pieces.empty()) return;
    DurationNs on_path = time_on_path(critical, trace_, event);
    std::uint32_t slack = analyzer::CriticalPath::kNoSlack;
    if (event.kind == EventRef::Kind::kDeviceOp && event.index < critical.slack_ns.size())
      slack = critical.slack_ns[event.index];
    if (on_path.ns > 0) {
      add("Critical path", fmt::format("on it for {}", format_duration(on_path)));
    } else if (slack != analyzer::CriticalPath::kNoSlack) {
      add("Critical path", "not on it");
    }
    if (slack != analyzer::CriticalPath::kNoSlack) {
      bool most = slack == analyzer::CriticalPath::kNoSlack - 1;
      add("Slack", slack == 0
                       ? "none: ending later would delay the steps"
                       : fmt::format("{}{}: it could have ended this much later at no cost",
                                     most ? "over " : "", format_duration(DurationNs{slack})));
    }
  }

  void overhead(const trace::Overhead& overhead) {
    times(overhead.interval);
    static constexpr std::array<std::string_view, 5> kKinds = {
        "Other", "Loading or compiling device code", "The recording profiler",
        "The launch queue was full", "The driver created resources on first use"};
    std::size_t kind = static_cast<std::size_t>(overhead.kind);
    add("Kind", std::string(kKinds[kind < kKinds.size() ? kind : 0]));
    if (overhead.thread.valid()) add("Thread", thread_label(trace_, overhead.thread));
    if (brief_) return;
    for (std::uint32_t i = 0; i < analysis_.steps.all.size(); ++i) {
      if (analysis_.steps.all[i].cycle().contains(overhead.interval.begin)) return in_step(i);
    }
  }

  void range(RangeId id) {
    const trace::Ranges& ranges = trace_.ranges;
    bool mark = ranges.is(id, trace::Ranges::kMark);
    Interval when = ranges.interval(id);
    if (mark) {
      add("At", format_time(when.begin, {1}));
    } else {
      times(when);
      if (!brief_ && !ranges.is(id, trace::Ranges::kStartEnd))
        add("Own time", format_duration(own_time(trace_, id)) + " outside inner ranges");
    }
    if (ranges.is(id, trace::Ranges::kUnfinished))
      add("Note", "never ended; drawn up to the end of its process");
    add("Kind", mark                                      ? "Mark"
                : ranges.is(id, trace::Ranges::kStartEnd) ? "Start/end range"
                                                          : "Range");
    add("Thread", thread_label(trace_, ranges.thread[id.value]));
    path(id);
    if (const trace::RangeInfo* info = trace_.info(id))
      range_info(*info, ranges.thread[id.value], when);
    std::string_view domain = trace_.domains[ranges.domain[id.value].value];
    add("Domain", display_text(domain, 80));
    path_of(EventRef::of(id));
    step_of_event(EventRef::of(id));
    same_name(EventRef::of(id));
  }

  void range_info(const trace::RangeInfo& info, trace::ThreadId thread, Interval when) {
    add("Says it is", std::string(label_of(info.kind)));
    add("Phase", std::string(label_of(info.phase)));
    if (info.op >= 0) graph_op(trace_.graph_op(trace_.threads[thread.value].process, info.op));
    if (info.batch >= 0) add("Batch", std::to_string(info.batch));
    if (info.step >= 0) add("Step", std::to_string(info.step));
    // The host side of an op only enqueues it, so its duration gives no rate of the op.
    amounts(info.bytes, info.flops,
            info.kind == trace::RangeKind::kOp ? DurationNs{} : when.length());
  }

  void graph_op(const trace::GraphOp* op) {
    if (!op) return;
    std::string text = display_text(op->name, 120);
    if (!op->type.empty()) text += fmt::format(" ({})", display_text(op->type, 60));
    if (!op->shape.empty()) text += " → " + display_text(op->shape, 60);
    add("Op", text);
  }

  void device_op(DeviceOpId id) {
    const trace::DeviceOps& ops = trace_.device_ops;
    Interval when = ops.interval(id);
    times(when);
    add("Kind", std::string(label_of(ops.kind[id.value])));
    add("Stream", stream_label(trace_, ops.stream[id.value]));
    const analyzer::Attribution& attribution = analysis_.attribution;
    if (id.value < attribution.op_of.size()) {
      const analyzer::ModelOp& op = attribution.ops[attribution.op_of[id.value].value];
      std::string text = display_text(op.name, 120);
      if (!op.type.empty()) text += fmt::format(" ({})", display_text(op.type, 60));
      add("Op", text);
      add("Phase", std::string(label_of(attribution.phase_of[id.value])));
    }
    if (ops.batch[id.value] >= 0) add("Batch", std::to_string(ops.batch[id.value]));
    amounts(ops.bytes[id.value], ops.flops[id.value], when.length());
    if (ops.source_memory[id.value] != trace::MemoryKind::kUnknown) {
      add("Memory", fmt::format("{} → {}", label_of(ops.source_memory[id.value]),
                                label_of(ops.destination_memory[id.value])));
    }
    if (ops.blocks[id.value]) add("Blocks", format_count(ops.blocks[id.value]));
    launch(id);
    path_of(EventRef::of(id));
    if (id.value < attribution.range_of.size()) {
      path(attribution.range_of[id.value]);
    } else {
      innermost_source();
    }
    step_of_event(EventRef::of(id));
    same_name(EventRef::of(id));
  }

  void launch(DeviceOpId id) {
    CallId call = trace_.device_ops.call[id.value];
    if (!call.valid()) {
      add("Launched by", "unknown: its call is not in the trace");
      return;
    }
    add("Launched by",
        fmt::format("{} on {}", display_text(trace_.strings[trace_.calls.name[call.value]], 80),
                    thread_label(trace_, trace_.calls.thread[call.value])),
        Target::of(EventRef::of(call)));
    add("Since launch",
        format_duration(trace_.device_ops.start[id.value] - trace_.calls.start[call.value]) +
            " from the start of the call to the start on the device");
  }

  void call(CallId id) {
    const trace::Calls& calls = trace_.calls;
    Interval when = calls.interval(id);
    times(when);
    add("Kind",
        fmt::format("{}{}", label_of(calls.kind[id.value]),
                    trace::is_blocking(calls.kind[id.value]) ? " (may wait for the device)" : ""));
    add("Thread", thread_label(trace_, calls.thread[id.value]));
    if (calls.stream[id.value].valid()) add("Stream", stream_label(trace_, calls.stream[id.value]));
    amounts(calls.bytes[id.value], 0, when.length());
    if (DeviceOpId op = calls.op[id.value]; op.valid()) {
      add("Enqueued",
          fmt::format("{}, {}", display_text(trace_.strings[trace_.device_ops.name[op.value]], 120),
                      format_duration(trace_.device_ops.interval(op).length())),
          Target::of(EventRef::of(op)));
      add("Started after", format_duration(trace_.device_ops.start[op.value] - when.begin));
    }
    path_of(EventRef::of(id));
    path(analyzer::innermost_range(trace_, calls.thread[id.value], when.begin));
    step_of_event(EventRef::of(id));
    same_name(EventRef::of(id));
  }

  void segment(const analyzer::DevicePartition& partition, std::uint32_t index) {
    const analyzer::Segment& segment = partition.segments[index];
    const analyzer::TimeClassInfo& info = analyzer::info(segment.time_class);
    times(segment.interval);
    add("Class", std::string(info.label));
    add("Means", std::string(info.doc));
    if (segment.cause.kind != EventRef::Kind::kNone) {
      add("Because of", display_text(analyzer::name_of(trace_, segment.cause), 120),
          Target::of(segment.cause));
    }
    innermost_source();
    in_step(step_at(partition, segment.interval.begin));
  }

  void step(std::uint32_t index) {
    const analyzer::Step& step = analysis_.steps.all[index];
    add("Duration", format_duration(model_.step_lengths.length[index]) +
                        (model_.step_lengths.on_device[index] ? " on the device" : ""));
    add("On the host",
        fmt::format("{} in the step, {} to the next", format_duration(step.host.length()),
                    format_duration(step.cycle().length())));
    add("Start", format_time(step.host.begin, {1}) + " on the host");
    add("End", format_time(step.host.end, {1}) + " on the host");
    add("Thread", thread_label(trace_, step.thread));
    innermost_source();
    if (!step.steady) add("Note", "excluded: first, last, cut or warm-up");
    if (analysis_.median_step.ns > 0) {
      add("Step cost", format_duration(analysis_.step_cost.per_step()));
      add("Typical step", format_duration(analysis_.median_step));
    }
    for (const analyzer::DevicePartition& partition : analysis_.partitions) {
      for (const analyzer::DeviceStep& device : partition.steps) {
        if (device.step == index) classes(partition, device.times, device.interval.length());
      }
    }
  }

  /// Adds the classes of a stretch of a device's time, largest first.
  void classes(const analyzer::DevicePartition& partition, const analyzer::ClassTimes& times,
               DurationNs whole) {
    std::vector<analyzer::TimeClass> order;
    for (const analyzer::TimeClassInfo& info : analyzer::time_classes()) {
      if (times[info.time_class].ns > 0) order.push_back(info.time_class);
    }
    if (order.empty()) return;
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return times[a] > times[b]; });
    heading(partition.device.valid()
                ? fmt::format("Device {}", trace_.devices[partition.device.value].ordinal)
                : display_text(analyzer::partition_label(trace_, partition), 60));
    for (analyzer::TimeClass c : order) {
      add(std::string(analyzer::info(c).label),
          fmt::format("{} · {}", format_duration(times[c]),
                      format_percent(ratio(times[c], whole))));
    }
  }

  void prediction(const analyzer::PredictedStep& step, std::uint32_t index) {
    const analyzer::PredictedTask& task = step.tasks[index];
    // Times count from the begin of the step, which both timelines have in common.
    auto at = [&](TimeNs time) {
      const DurationNs since = time - step.recorded.begin;
      return fmt::format("{}{}", since.ns < 0 ? "−" : "+",
                         format_duration(DurationNs{std::abs(since.ns)}));
    };
    auto times = [&](Interval when) {
      return fmt::format("{} in the step, takes {}", at(when.begin),
                         format_duration(when.length()));
    };
    add("Predicted", times(task.predicted));
    add("Recorded", times(task.recorded));
    const DurationNs moved = task.predicted.end - task.recorded.end;
    if (moved.ns != 0) {
      add("Ends", fmt::format("{} {}", format_duration(DurationNs{std::abs(moved.ns)}),
                              moved.ns < 0 ? "earlier" : "later"));
    }
    if (task.fate == analyzer::Fate::kJoined)
      add("Note", "no longer launched alone: part of another op or of a graph");
    if (task.recorded.begin >= step.recorded.end)
      add("Note", "recorded in a later step: the host runs further ahead");
    if (task.recorded.end <= step.recorded.begin) add("Note", "recorded in an earlier step");
    if (task.interpolated) add("Note", "placed between the calls of its thread");
    if (!brief_) add("Event", "as recorded", Target::of(task.event));
  }

  void selection(Interval when) {
    add("Length", format_duration(when.length()));
    add("From", format_time(when.begin, {1}));
    add("To", format_time(when.end, {1}));
    for (const Row& row : model_.rows) {
      if (row.kind == RowKind::kPartition) selected_partition(row, when);
    }
    selected_streams(when);
    selected_names(when);
  }

  void selected_partition(const Row& row, Interval when) {
    LaneTotals totals;
    for (const Lane& lane : row.lanes) lane.add_totals(when, totals);
    analyzer::ClassTimes times;
    for (const analyzer::TimeClassInfo& info : analyzer::time_classes())
      times[info.time_class] = totals.of_color[static_cast<std::size_t>(role_of(info.time_class))];
    classes(analysis_.partitions[row.subject], times, when.length());
  }

  void selected_streams(Interval when) {
    std::vector<std::pair<LaneTotals, trace::StreamId>> streams;
    for (const Row& row : model_.rows) {
      if (row.kind != RowKind::kStream) continue;
      LaneTotals totals;
      for (const Lane& lane : row.lanes) lane.add_totals(when, totals);
      if (totals.events) streams.emplace_back(totals, trace::StreamId{row.subject});
    }
    std::stable_sort(streams.begin(), streams.end(),
                     [](const auto& a, const auto& b) { return a.first.busy > b.first.busy; });
    constexpr std::size_t kMost = 8;
    if (!streams.empty()) heading("Streams");
    for (std::size_t i = 0; i < std::min(kMost, streams.size()); ++i) {
      const auto& [totals, stream] = streams[i];
      add(stream_label(trace_, stream),
          fmt::format("{} ops · {} · {} of the time", format_count(totals.events),
                      format_duration(totals.busy),
                      format_percent(ratio(totals.busy, when.length()))));
    }
    if (streams.size() > kMost) add("…", fmt::format("{} more streams", streams.size() - kMost));
  }

  void selected_names(Interval when) {
    std::vector<NameTotal> names = longest_names(trace_, when, 6);
    if (!names.empty()) heading("Device ops with most time");
    for (const NameTotal& name : names) {
      add(display_text(trace_.strings[name.name], 60),
          fmt::format("{} · {}×", format_duration(name.total), format_count(name.count)),
          Target::of(EventRef::of(name.longest)));
    }
  }

 private:
  static std::string rate(std::int64_t amount, DurationNs duration, const char* unit) {
    if (duration.ns <= 0) return "";
    return fmt::format(" · {}", si(static_cast<double>(amount) / duration.seconds(), unit));
  }

  const TimelineModel& model_;
  const Trace& trace_;
  const analyzer::Analysis& analysis_;
  bool brief_;       ///< only what is cheap enough for every movement of the pointer
  bool statistics_;  ///< also include figures that need a pass over the trace
  static constexpr std::size_t kMostFrames = 8;
  std::vector<SourceFrame> frames_;  ///< of the target, innermost first
  std::vector<Detail> lines_;
};

}  // namespace

std::vector<Detail> describe(const trace::Trace& trace, EventRef event,
                             const std::vector<EventLink>& links) {
  constexpr std::size_t kMost = 12;
  std::vector<Detail> lines;
  std::size_t left_out = 0;
  for (const EventLink& link : links) {
    if (link.kind == EventLinkKind::kLaunch) continue;  // described with the event itself
    if (lines.empty()) lines.push_back({"Links", "", {}});
    if (lines.size() > kMost) {
      ++left_out;
      continue;
    }
    const bool cause = link.from == event;
    const EventRef other = cause ? link.to : link.from;
    std::string text = display_text(analyzer::name_of(trace, other), 80);
    if (link.kind == EventLinkKind::kCollective) {
      trace::StreamId stream = trace.device_ops.stream[other.index];
      const trace::Process& process = trace.processes[trace.streams[stream.value].process.value];
      text = fmt::format("rank {}: {}", process.rank, text);
    }
    if (link.inferred) text += " (inferred, not recorded)";
    lines.push_back({std::string(words_of(link.kind, cause)), std::move(text), Target::of(other)});
  }
  if (left_out) lines.push_back({"…", fmt::format("{} more", left_out), {}});
  return lines;
}

std::vector<Detail> describe(const TimelineModel& model, const Target& target, bool statistics) {
  Description description(model, false, statistics);
  description.target(target);
  return description.take();
}

std::vector<Detail> describe_briefly(const TimelineModel& model, const Target& target) {
  static constexpr std::array<std::string_view, 10> kWanted = {
      "At",         "Duration", "On the host", "Op",   "Means",
      "Because of", "Bytes",    "Batch",       "Note", "Thread"};
  Description description(model, true);
  description.target(target);
  std::vector<Detail> all = description.take();
  if (target.kind == Target::Kind::kPrediction) return all;
  std::erase_if(all, [](const Detail& detail) {
    return std::find(kWanted.begin(), kWanted.end(), detail.label) == kWanted.end();
  });
  return all;
}

std::vector<Detail> describe(const TimelineModel& model, Interval selection) {
  Description description(model);
  description.selection(selection);
  return description.take();
}

}  // namespace headway::gui
