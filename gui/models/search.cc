// SPDX-License-Identifier: MIT
#include "gui/models/search.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace headway::gui {

using analyzer::EventRef;
using Kind = analyzer::EventRef::Kind;

namespace {

constexpr std::array kKinds = {Kind::kRange, Kind::kDeviceOp, Kind::kCall};

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool contains(std::string_view text, std::string_view lower_needle) {
  auto same = [](char a, char b) { return lower(a) == b; };
  return std::search(text.begin(), text.end(), lower_needle.begin(), lower_needle.end(), same) !=
         text.end();
}

const std::vector<TimeNs>& starts(const trace::Trace& trace, Kind kind) {
  return kind == Kind::kRange      ? trace.ranges.start
         : kind == Kind::kDeviceOp ? trace.device_ops.start
                                   : trace.calls.start;
}
const std::vector<trace::StringId>& names(const trace::Trace& trace, Kind kind) {
  return kind == Kind::kRange      ? trace.ranges.name
         : kind == Kind::kDeviceOp ? trace.device_ops.name
                                   : trace.calls.name;
}

/// Order of hits: by start, then kind, then row.
auto key(const trace::Trace& trace, EventRef event) {
  return std::tuple(starts(trace, event.kind)[event.index], event.kind, event.index);
}

/// The first row of `kind` that comes after `from`.
std::size_t first_after(const trace::Trace& trace, Kind kind, EventRef from) {
  if (from.kind == kind) return from.index + std::size_t{1};
  const std::vector<TimeNs>& start = starts(trace, kind);
  TimeNs t = starts(trace, from.kind)[from.index];
  auto found = from.kind < kind ? std::lower_bound(start.begin(), start.end(), t)
                                : std::upper_bound(start.begin(), start.end(), t);
  return static_cast<std::size_t>(found - start.begin());
}

}  // namespace

Search::Search(const trace::Trace& trace, const analyzer::Analysis& analysis,
               std::string_view needle, const std::atomic<bool>* cancelled)
    : trace_(&trace),
      analysis_(&analysis),
      needle_(needle),
      string_matches_(trace.strings.size(), false),
      op_matches_(analysis.attribution.ops.size(), false) {
  if (needle.empty()) return;
  std::string folded(needle);
  std::transform(folded.begin(), folded.end(), folded.begin(), lower);
  auto stop = [&](std::size_t i) { return cancelled && i % 4096 == 0 && cancelled->load(); };
  for (std::uint32_t i = 0; i < string_matches_.size(); ++i) {
    if (stop(i)) return;
    string_matches_[i] = contains(trace.strings[trace::StringId{i}], folded);
  }
  // ops[0] is "(unattributed)": not a name anyone gave.
  for (std::size_t i = 1; i < op_matches_.size(); ++i)
    op_matches_[i] = contains(analysis.attribution.ops[i].name, folded);
  std::size_t count = 0;
  for (Kind kind : kKinds) {
    for (std::uint32_t i = 0; i < starts(trace, kind).size(); ++i) {
      if (stop(i)) return;
      count += matches({kind, i});
    }
  }
  hits_ = count;
}

bool Search::matches(EventRef event) const {
  if (string_matches_[names(*trace_, event.kind)[event.index].value]) return true;
  const auto& op_of = analysis_->attribution.op_of;
  return event.kind == Kind::kDeviceOp && event.index < op_of.size() &&
         op_matches_[op_of[event.index].value];
}

std::optional<EventRef> Search::next(EventRef from, bool forward) const {
  if (hits_ == 0) return std::nullopt;
  std::optional<EventRef> best;
  auto consider = [&](EventRef event) {
    if (!best || (forward ? key(*trace_, event) < key(*trace_, *best)
                          : key(*trace_, event) > key(*trace_, *best)))
      best = event;
  };
  for (Kind kind : kKinds) {
    const std::size_t count = starts(*trace_, kind).size();
    if (forward) {
      std::size_t i = from.kind == Kind::kNone ? 0 : first_after(*trace_, kind, from);
      while (i < count && !matches({kind, static_cast<std::uint32_t>(i)})) ++i;
      if (i < count) consider({kind, static_cast<std::uint32_t>(i)});
    } else {
      std::size_t i = from.kind == Kind::kNone ? count : first_after(*trace_, kind, from);
      if (from.kind == kind) --i;
      while (i > 0 && !matches({kind, static_cast<std::uint32_t>(i - 1)})) --i;
      if (i > 0) consider({kind, static_cast<std::uint32_t>(i - 1)});
    }
  }
  if (!best && from.kind != Kind::kNone) return next({}, forward);
  return best;
}

std::size_t Search::position(EventRef event) const {
  if (event.kind == Kind::kNone || !matches(event)) return 0;
  std::size_t position = 1;
  for (Kind kind : kKinds) {
    std::size_t before = first_after(*trace_, kind, event);
    if (event.kind == kind) --before;
    for (std::uint32_t i = 0; i < before; ++i) position += matches({kind, i});
  }
  return position;
}

std::optional<EventRef> next_of_same_name(const trace::Trace& trace, EventRef from, bool forward) {
  if (from.kind == Kind::kNone) return std::nullopt;
  const std::vector<trace::StringId>& name = names(trace, from.kind);
  const trace::StringId wanted = name[from.index];
  auto give = [&](std::size_t i) { return EventRef{from.kind, static_cast<std::uint32_t>(i)}; };
  if (forward) {
    for (std::size_t i = from.index + std::size_t{1}; i < name.size(); ++i) {
      if (name[i] == wanted) return give(i);
    }
  } else {
    for (std::size_t i = from.index; i > 0; --i) {
      if (name[i - 1] == wanted) return give(i - 1);
    }
  }
  return std::nullopt;
}

}  // namespace headway::gui
