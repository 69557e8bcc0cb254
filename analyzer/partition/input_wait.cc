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

bool means_input_wait(std::string_view name) {
  auto has = [&](std::string_view word) { return name.find(word) != std::string_view::npos; };
  return (has("DataLoader") && has("__next__")) || name == "IteratorGetNext" ||
         has("Iterator::Prefetch::Wait");
}

InputWaits::InputWaits(const Trace& trace, HostActivity& activity)
    : trace_(trace), activity_(activity) {
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
    const trace::RangeInfo* info = trace.info(RangeId{i});
    if (!info) continue;
    if (info->kind == RangeKind::kBatch && info->batch >= 0)
      makers_[info->batch].push_back(RangeId{i});
    any_wait_ = any_wait_ || info->kind == RangeKind::kInputWait;
  }
}

RangeId InputWaits::maker_of(ProcessId process, std::int64_t batch) const {
  auto found = makers_.find(batch);
  if (found == makers_.end()) return RangeId::none();
  for (RangeId id : found->second) {
    if (trace_.threads[trace_.ranges.thread[id.value].value].process == process) return id;
  }
  return found->second.front();  // a loader process made it
}

bool InputWaits::is_wait(RangeId range) {
  const trace::RangeInfo* info = trace_.info(range);
  if (info && info->kind == RangeKind::kInputWait) return true;
  auto [slot, is_new] = wait_names_.try_emplace(trace_.ranges.name[range.value]);
  if (is_new) slot->second = means_input_wait(trace_.strings[trace_.ranges.name[range.value]]);
  return slot->second;
}

RangeId InputWaits::wait_around(RangeId range) {
  for (RangeId r = range; r.valid(); r = trace_.ranges.parent[r.value]) {
    if (is_wait(r)) return r;
  }
  return RangeId::none();
}

std::optional<TimeClass> InputWaits::stage_around(RangeId range) const {
  for (RangeId r = range; r.valid(); r = trace_.ranges.parent[r.value]) {
    const trace::RangeInfo* info = trace_.info(r);
    if (!info) continue;
    if (auto stage = class_of_stage(info->kind)) return stage;
  }
  return std::nullopt;
}

void InputWaits::explain(RangeId wait, Interval window, std::vector<Segment>& out) {
  const trace::RangeInfo* info = trace_.info(wait);
  ProcessId process = trace_.threads[trace_.ranges.thread[wait.value].value].process;
  RangeId maker = info && info->batch >= 0 ? maker_of(process, info->batch) : RangeId::none();
  TimeNs now = window.begin;
  if (maker.valid()) {
    // Before the batch was begun its worker was busy with an earlier one: then that is what the
    // wait is for. Once it is handed over, the rest is the hand-over.
    Interval making{window.begin, std::min(window.end, trace_.ranges.end[maker.value])};
    for (const Activity& activity : activity_.in(trace_.ranges.thread[maker.value], making)) {
      Interval part = intersect(activity.interval, making);
      std::optional<TimeClass> stage = stage_around(activity.range);
      if (part.empty() || !stage) continue;
      if (now < part.begin)
        out.push_back({{now, part.begin}, TimeClass::kInputOther, EventRef::of(wait)});
      out.push_back({part, *stage, EventRef::of(activity.range)});
      now = part.end;
    }
  }
  if (now < window.end)
    out.push_back({{now, window.end}, TimeClass::kInputOther, EventRef::of(wait)});
}

}  // namespace headway::analyzer
