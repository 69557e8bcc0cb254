// SPDX-License-Identifier: MIT
#include "analyzer/partition/input_wait.h"

#include <algorithm>

namespace headway::analyzer {
namespace {

using namespace trace;

std::optional<TimeClass> class_of_stage(RangeKind kind) {
  switch (kind) {
    case RangeKind::kRead:
      return TimeClass::kIoRead;
    case RangeKind::kDecode:
    case RangeKind::kAugment:
      return TimeClass::kDecode;
    case RangeKind::kCollate:
    case RangeKind::kBatch:
      return TimeClass::kInputOther;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<TimeClass> class_of_loader_name(std::string_view name) {
  auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (has("collate") || has("aten::stack") || has("pin_memory")) return TimeClass::kInputOther;
  if (has("transforms") || has("decode") || has("PIL/") || has("cv2") || has("imread"))
    return TimeClass::kDecode;
  if (has("method read") || has("function open") || has("readinto") || has("_loader"))
    return TimeClass::kIoRead;
  return std::nullopt;
}

InputWaits::InputWaits(const Trace& trace, const Attribution& attribution)
    : trace_(trace), attribution_(attribution) {
  std::map<std::int32_t, ProcessId> of_pid;
  for (std::uint32_t p = 0; p < trace.processes.size(); ++p)
    of_pid.emplace(trace.processes[p].pid, ProcessId{p});
  for (const Process& process : trace.processes) {
    auto parent = of_pid.find(process.parent_pid);
    parent_.push_back(parent == of_pid.end() ? ProcessId::none() : parent->second);
  }
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
    any_wait_ = any_wait_ || attribution.contexts[i].input_wait;
    const trace::RangeInfo* info = trace.info(RangeId{i});
    if (!info) continue;
    if (info->kind == RangeKind::kBatch && info->batch >= 0)
      makers_[info->batch].push_back(RangeId{i});
    any_read_stage_ = any_read_stage_ || info->kind == RangeKind::kRead;
    any_stage_ = any_stage_ || class_of_stage(info->kind);
  }
}

RangeId InputWaits::maker_of(ProcessId process, std::int64_t batch) const {
  auto found = makers_.find(batch);
  if (found == makers_.end()) return RangeId::none();
  // Several ranks in one trace use the same batch numbers, so the maker is one of this process or of the
  // loader processes that it started, by themselves or through a fork server.
  constexpr int kGenerations = 3;
  for (int generation = 0; generation < kGenerations; ++generation) {
    for (RangeId id : found->second) {
      ProcessId maker = trace_.threads[trace_.ranges.thread[id.value].value].process;
      for (int i = 0; i < generation && maker.valid(); ++i) maker = parent_[maker.value];
      if (maker == process) return id;
    }
  }
  return found->second.front();
}

RangeId InputWaits::wait_around(RangeId range) const {
  if (!range.valid() || !attribution_.contexts[range.value].input_wait) return RangeId::none();
  // The outermost of the ranges that are inside the wait is the wait itself.
  for (;;) {
    RangeId parent = trace_.ranges.parent[range.value];
    if (!parent.valid() || !attribution_.contexts[parent.value].input_wait) return range;
    range = parent;
  }
}

RangeId InputWaits::stage_range(RangeId range) const {
  if (!any_stage_) return RangeId::none();
  for (RangeId r = range; r.valid(); r = trace_.ranges.parent[r.value]) {
    const trace::RangeInfo* info = trace_.info(r);
    if (info && class_of_stage(info->kind)) return r;
  }
  return RangeId::none();
}

std::optional<TimeClass> InputWaits::stage_around(RangeId range) const {
  const RangeId stage = stage_range(range);
  return stage.valid() ? class_of_stage(trace_.info(stage)->kind) : std::nullopt;
}

std::vector<Interval> InputWaits::reads_in(ThreadId thread, Interval part) const {
  std::vector<Interval> reads;
  if (any_read_stage_ || trace_.io.size() == 0) return reads;
  const Io& io = trace_.io;
  std::span<const IoId> rows = trace_.io_of_thread[thread];
  auto row = std::partition_point(rows.begin(), rows.end(),
                                  [&](IoId id) { return io.start[id.value] < part.begin; });
  if (row != rows.begin()) --row;  // may reach into the part
  TimeNs now = part.begin;
  for (; row != rows.end() && io.start[row->value] < part.end; ++row) {
    bool reading = io.op[row->value] == IoOp::kRead || io.op[row->value] == IoOp::kOpen;
    if (!reading || io.calls[row->value] > 1) continue;  // a sum of calls that took no time
    Interval inside = intersect(io.interval(*row), part);
    inside.begin = std::max(inside.begin, now);
    if (inside.begin >= inside.end) continue;
    reads.push_back(inside);
    now = inside.end;
  }
  return reads;
}

void InputWaits::explain(RangeId wait, Interval window, HostActivity& activity,
                         std::vector<Segment>& out) const {
  const trace::RangeInfo* info = trace_.info(wait);
  ThreadId waiter = trace_.ranges.thread[wait.value];
  ProcessId process = trace_.threads[waiter.value].process;
  RangeId maker = info && info->batch >= 0 ? maker_of(process, info->batch) : RangeId::none();
  TimeNs now = window.begin;
  auto add = [&](Interval part, TimeClass stage, EventRef cause) {
    if (now < part.begin)
      out.push_back({{now, part.begin}, TimeClass::kInputOther, EventRef::of(wait)});
    out.push_back({part, stage, cause});
    now = part.end;
  };
  std::vector<Activity> activities;
  if (maker.valid()) {
    // Before the batch was begun, its worker was busy with an earlier one: the wait is then for that.
    // Once the batch is made, the rest is the hand-over.
    Interval making{window.begin, std::min(window.end, trace_.ranges.end[maker.value])};
    activity.in(trace_.ranges.thread[maker.value], making, activities);
    for (const Activity& a : activities) {
      std::optional<TimeClass> stage = stage_around(a.range);
      if (!stage) continue;
      Interval rest = a.interval;
      for (Interval read : reads_in(trace_.ranges.thread[maker.value], a.interval)) {
        if (rest.begin < read.begin) add({rest.begin, read.begin}, *stage, EventRef::of(a.range));
        add(read, TimeClass::kIoRead, EventRef::of(a.range));
        rest.begin = read.end;
      }
      if (rest.begin < rest.end) add(rest, *stage, EventRef::of(a.range));
    }
  } else {
    activity.in(waiter, window, activities);
    for (const Activity& a : activities) {
      for (RangeId r = a.range; r.valid() && r != wait; r = trace_.ranges.parent[r.value]) {
        std::optional<TimeClass> stage = stage_around(r);
        if (!stage) stage = class_of_loader_name(trace_.strings[trace_.ranges.name[r.value]]);
        if (!stage) continue;
        add(a.interval, *stage, EventRef::of(a.range));
        break;
      }
    }
  }
  if (now < window.end)
    out.push_back({{now, window.end}, TimeClass::kInputOther, EventRef::of(wait)});
}

}  // namespace headway::analyzer
