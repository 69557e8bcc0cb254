// SPDX-License-Identifier: MIT
#include "collector/record/decode/range_watch.h"

#include "collector/record/decode/conventions.h"
#include "common/nvtx_conventions.h"
#include "common/step_name.h"

namespace headway::record {
namespace {

constexpr auto kStepKind = static_cast<std::int32_t>(conventions::RangeKind::kStep);

bool fits(std::string_view name, std::string_view pattern) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  return name == pattern;
}

std::uint32_t& depth_of(std::vector<std::pair<std::uint16_t, std::uint32_t>>& depths,
                        std::uint16_t domain) {
  for (auto& [known, depth] : depths) {
    if (known == domain) return depth;
  }
  return depths.emplace_back(domain, 0).second;
}

}  // namespace

RangeWatch::Named RangeWatch::look_at(std::string_view name) const {
  const ScopeOptions& options = scope_.options();
  Named result;
  result.step = options.step_range.empty() ? means_step(name) : fits(name, options.step_range);
  result.range = options.choice == Choice::kRange && fits(name, options.range);
  if (result.step) result.number = trailing_number(name);
  return result;
}

RangeWatch::Named RangeWatch::named(const RecordView& view) {
  if (view.record.flags & wire::kTextInline) return look_at(view.text);
  if (!(view.record.flags & wire::kTextHandle)) return {};
  auto known = known_.find(view.record.text);
  if (known != known_.end()) return known->second;
  const std::string* text = definitions_.string_text(view.record.text);
  if (!text) return {};
  return known_[view.record.text] = look_at(*text);
}

std::optional<std::int64_t> RangeWatch::declared_step(const RecordView& view) const {
  std::optional<std::int64_t> number;
  for_each_blob(view.blobs, [&](std::uint64_t id, std::span<const std::byte> payload) {
    const KnownSchema* known = definitions_.schema(view.record.domain, id);
    if (!known || !known->convention) return;
    Meaning meaning = known->convention->meaning(payload);
    auto* info = std::get_if<trace::tables::RangeInfo::Row>(&meaning);
    if (info && info->kind == kStepKind) number = info->step.value_or(-1);
  });
  return number;
}

void RangeWatch::step_begins(std::uint32_t index, Ring& ring, const Open& range,
                             std::uint64_t stamp, TimeNs time) {
  ring.step = range;
  open_starts_ += range.id != 0;
  if (range.number < 0) ring.step.number = ring.steps;
  ++ring.steps;
  const bool wanted = scope_.step_begins(pid_, ring.step.number);
  const bool windows_of_steps =
      scope_.options().choice == Choice::kSteps || scope_.options().choice == Choice::kSampledSteps;
  if (windows_of_steps && wanted && !ring.window) {
    scope_.open(pid_, time);
    ring.window = true;
  } else if (!wanted && ring.window) {
    // The step numbers jumped past the last wanted one.
    scope_.close(pid_, ring.last_step_end);
    ring.window = false;
  }
  if (wanted || !windows_of_steps) numbers_[{index, stamp}] = ring.step.number;
}

void RangeWatch::step_ends(Ring& ring, TimeNs time) {
  const std::int64_t number = ring.step.number;
  open_starts_ -= ring.step.id != 0;
  ring.step.active = false;
  ring.last_step_end = time;
  if (ring.window && !scope_.wants_step(number + 1)) {
    scope_.close(pid_, time);
    ring.window = false;
  }
  scope_.step_ended(pid_, number, time);
}

void RangeWatch::begins(std::uint32_t index, Ring& ring, const RecordView& view, std::uint64_t id,
                        TimeNs time) {
  std::uint32_t depth = 0;
  if (id == 0) depth = depth_of(ring.depths, view.record.domain)++;
  Open range{true, view.record.domain, depth, id, -1};
  const Named name = named(view);
  const ScopeOptions& options = scope_.options();
  if (name.range && !ring.range.active &&
      (!options.domain || definitions_.domain_name(view.record.domain) == *options.domain)) {
    ring.range = range;
    open_starts_ += id != 0;
    scope_.open(pid_, time);
  }
  // A step inside a step does not count as a step.
  if (ring.step.active) return;
  range.number = name.number;
  if (options.step_range.empty() && !view.blobs.empty()) {
    if (std::optional<std::int64_t> declared = declared_step(view)) {
      declared_ = true;
      if (*declared >= 0) range.number = *declared;
      return step_begins(index, ring, range, view.record.time, time);
    }
  }
  if (name.step && !declared_) step_begins(index, ring, range, view.record.time, time);
}

void RangeWatch::ends(Ring& ring, TimeNs time, bool step, bool range) {
  if (step) step_ends(ring, time);
  if (!range) return;
  open_starts_ -= ring.range.id != 0;
  ring.range.active = false;
  scope_.close(pid_, time);
}

void RangeWatch::end_of_start(std::uint64_t id, TimeNs time) {
  if (open_starts_ == 0) return;
  // Any thread may end a start/end range.
  for (auto& [index, ring] : rings_) {
    ends(ring, time, ring.step.active && ring.step.id == id,
         ring.range.active && ring.range.id == id);
  }
}

void RangeWatch::begin_thread(std::uint32_t index, TimeNs time) {
  Ring& ring = rings_[index];
  if (ring.window) scope_.close(pid_, time);
  if (ring.range.active) scope_.close(pid_, time);
  open_starts_ -= ring.step.active && ring.step.id != 0;
  open_starts_ -= ring.range.active && ring.range.id != 0;
  ring = {};
}

void RangeWatch::record(std::uint32_t index, const RecordView& view, TimeNs time) {
  Ring& ring = rings_[index];
  switch (static_cast<wire::RecordType>(view.record.type)) {
    case wire::RecordType::kPush:
      return begins(index, ring, view, 0, time);
    case wire::RecordType::kPop: {
      std::uint32_t& depth = depth_of(ring.depths, view.record.domain);
      if (depth == 0) return;
      --depth;
      auto is = [&](const Open& open) {
        return open.active && open.id == 0 && open.domain == view.record.domain &&
               open.depth == depth;
      };
      return ends(ring, time, is(ring.step), is(ring.range));
    }
    case wire::RecordType::kStart:
      if (view.record.value != 0) begins(index, ring, view, view.record.value, time);
      return;
    case wire::RecordType::kEnd:
      if (view.record.value != 0) end_of_start(view.record.value, time);
      return;
    case wire::RecordType::kCapture: {
      if (scope_.options().choice != Choice::kCudaProfiler) return;
      const bool on = view.record.value != 0;
      if (on == capturing_) return;  // the runtime's call makes the driver's: both are recorded
      capturing_ = on;
      return on ? scope_.open(pid_, time) : scope_.close(pid_, time);
    }
    case wire::RecordType::kThreadEnd:
      return begin_thread(index, time);
    default:
      return;
  }
}

std::optional<std::int64_t> RangeWatch::take_step(std::uint32_t ring, std::uint64_t stamp) {
  if (numbers_.empty()) return std::nullopt;
  auto found = numbers_.find({ring, stamp});
  if (found == numbers_.end()) return std::nullopt;
  const std::int64_t number = found->second;
  numbers_.erase(found);
  return number;
}

}  // namespace headway::record
