// SPDX-License-Identifier: MIT
#include "gui/models/search/search.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "gui/models/text/display_text.h"

namespace headway::gui {

using analyzer::EventRef;
using Kind = analyzer::EventRef::Kind;

namespace {

constexpr std::array kKinds = {Kind::kRange, Kind::kDeviceOp, Kind::kCall};

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

/// The first row of `kind` that comes after `from` in the order of hits.
std::size_t first_after(const trace::Trace& trace, Kind kind, EventRef from) {
  if (from.kind == kind) return from.index + std::size_t{1};
  const std::vector<TimeNs>& start = starts(trace, kind);
  TimeNs t = starts(trace, from.kind)[from.index];
  auto found = from.kind < kind ? std::lower_bound(start.begin(), start.end(), t)
                                : std::upper_bound(start.begin(), start.end(), t);
  return static_cast<std::size_t>(found - start.begin());
}

}  // namespace

TextMatcher substring_matcher(std::string_view needle) {
  if (needle.size() > 2 && needle.front() == '"' && needle.back() == '"')
    return [whole = std::string(needle.substr(1, needle.size() - 2))](std::string_view text) {
      return text == whole;
    };
  return [needle = std::string(needle)](std::string_view text) {
    return contains_ignoring_case(text, needle);
  };
}

Search::Search(const trace::Trace& trace, const analyzer::Analysis& analysis,
               std::string_view needle, const TextMatcher& wanted,
               const std::atomic<bool>* cancelled)
    : trace_(&trace), needle_(needle) {
  for (std::size_t k = 0; k < kKinds.size(); ++k)
    matches_[k] = BitRank(starts(trace, kKinds[k]).size());
  if (needle.empty()) return;
  // Each text is matched once, however many events have it as their name.
  std::vector<bool> string_matches(trace.strings.size(), false);
  std::vector<bool> op_matches(analysis.attribution.ops.size(), false);
  auto stop = [&](std::size_t i, std::size_t every) {
    return cancelled && i % every == 0 && cancelled->load();
  };
  for (std::uint32_t i = 0; i < string_matches.size(); ++i) {
    if (stop(i, 64)) return;  // a pattern may take long for one text
    string_matches[i] = wanted(trace.strings[trace::StringId{i}]);
  }
  // ops[0] is "(unattributed)", which is not a recorded name.
  for (std::size_t i = 1; i < op_matches.size(); ++i)
    op_matches[i] = wanted(analysis.attribution.ops[i].name);
  const auto& op_of = analysis.attribution.op_of;
  for (std::size_t k = 0; k < kKinds.size(); ++k) {
    const std::vector<trace::StringId>& name = names(trace, kKinds[k]);
    const bool is_op = kKinds[k] == Kind::kDeviceOp;
    for (std::size_t i = 0; i < name.size(); ++i) {
      if (stop(i, 4096)) return;
      if (string_matches[name[i].value] ||
          (is_op && i < op_of.size() && op_matches[op_of[i].value]))
        matches_[k].set(i);
    }
    matches_[k].finish();
  }
  for (const BitRank& of_kind : matches_) hits_ += of_kind.count();
}

bool Search::matches(EventRef event) const {
  return event.kind != Kind::kNone && event.index < of(event.kind).size() &&
         of(event.kind).test(event.index);
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
    const BitRank& found = of(kind);
    std::optional<std::size_t> i;
    if (forward) {
      i = found.next(from.kind == Kind::kNone ? 0 : first_after(*trace_, kind, from));
    } else {
      std::size_t end = from.kind == Kind::kNone ? found.size() : first_after(*trace_, kind, from);
      if (from.kind == kind) --end;
      i = found.previous(end);
    }
    if (i) consider({kind, static_cast<std::uint32_t>(*i)});
  }
  if (!best && from.kind != Kind::kNone) return next({}, forward);
  return best;
}

std::size_t Search::position(EventRef event) const {
  if (!matches(event)) return 0;
  std::size_t position = 1;
  for (Kind kind : kKinds) {
    std::size_t before = first_after(*trace_, kind, event);
    if (event.kind == kind) --before;
    position += of(kind).rank(before);
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
