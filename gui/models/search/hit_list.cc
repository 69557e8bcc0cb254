// SPDX-License-Identifier: MIT
#include "gui/models/search/hit_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "analyzer/model/event_ref.h"
#include "common/format.h"
#include "gui/models/details/details.h"

namespace headway::gui {
namespace {

using analyzer::ColumnKind;
using analyzer::EventRef;

struct Kept {
  EventRef event;
  DurationNs length;
};

/// Keeps the first, longest or shortest hits, in the order of the search.
class Keeper {
 public:
  explicit Keeper(HitQuery::Keep keep) : keep_(keep) {}

  void add(const Kept& hit) {
    if (keep_ == HitQuery::Keep::kFirst && kept_.size() == HitList::kMost) return;
    kept_.push_back(hit);
    // Cuts the list back at twice the limit, so that memory is bounded.
    if (kept_.size() == 2 * HitList::kMost) cut();
  }
  std::vector<Kept> take() {
    if (kept_.size() > HitList::kMost) cut();
    return std::move(kept_);
  }

 private:
  void cut() {
    std::vector<std::uint32_t> order(kept_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(HitList::kMost);
    std::nth_element(order.begin(), end, order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const DurationNs x = kept_[a].length;
      const DurationNs y = kept_[b].length;
      if (x != y) return keep_ == HitQuery::Keep::kLongest ? x > y : x < y;
      return a < b;
    });
    order.resize(HitList::kMost);
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < order.size(); ++i) kept_[i] = kept_[order[i]];
    kept_.resize(order.size());
  }

  HitQuery::Keep keep_;
  std::vector<Kept> kept_;
};

RowId row_of(const TimelineModel& model, EventRef event) {
  const trace::Trace& trace = *model.trace;
  switch (event.kind) {
    case EventRef::Kind::kRange:
      return model.row_of_thread[trace.ranges.thread[event.index].value];
    case EventRef::Kind::kCall:
      return model.row_of_calls[trace.calls.thread[event.index].value];
    case EventRef::Kind::kDeviceOp:
      return model.row_of_stream[trace.device_ops.stream[event.index].value];
    case EventRef::Kind::kNone:
      break;
  }
  return {};
}

std::string note_of(const HitList& list, const HitQuery& query, std::size_t listed) {
  const auto count = [](std::size_t n) { return format_count(static_cast<std::int64_t>(n)); };
  std::string note;
  if (listed < list.in_duration) {
    const std::string_view which = query.keep == HitQuery::Keep::kLongest    ? "Longest"
                                   : query.keep == HitQuery::Keep::kShortest ? "Shortest"
                                                                             : "First";
    note = fmt::format("{} {} of {} hits", which, count(listed), count(list.in_duration));
  } else {
    note = fmt::format("{} {}", count(listed), listed == 1 ? "hit" : "hits");
  }
  if (query.is_filtered()) {
    note += query.below.ns == INT64_MAX
                ? fmt::format(" of {} and more", format_duration(query.least))
                : fmt::format(" of {} to {}", format_duration(query.least),
                              format_duration(query.below));
    note += fmt::format("; {} in all", count(list.hits));
  }
  return note;
}

}  // namespace

HitList list_hits(const Session& session, const Search& search, const HitQuery& query,
                  const std::atomic<bool>* cancelled) {
  const trace::Trace& trace = session.trace;
  const TimelineModel& model = session.timeline;
  HitList list;
  Keeper keeper(query.keep);
  search.for_each([&](EventRef event) {
    const DurationNs length = analyzer::interval_of(trace, event).length();
    list.histogram.add(length);
    ++list.hits;
    if (length >= query.least && length < query.below) {
      ++list.in_duration;
      keeper.add({event, length});
    }
    return !(cancelled && list.hits % 4096 == 0 && cancelled->load());
  });
  if (cancelled && cancelled->load()) return list;
  const std::vector<Kept> kept = keeper.take();
  auto made = std::make_shared<LinkedTable>();
  made->table.id = "search-hits";
  made->table.title = "Hits of the search";
  made->table.note = note_of(list, query, kept.size());
  made->table.columns = {{"name", "Name", ColumnKind::kText},
                         {"row", "Row", ColumnKind::kText},
                         {"start_ns", "Start", ColumnKind::kTime},
                         {"duration_ns", "Duration", ColumnKind::kDuration}};
  made->docs = {"Event name, as recorded", "Timeline row of the event",
                "Since the start of the recording", "Event duration"};
  std::map<RowId, std::string> labels;
  for (const Kept& hit : kept) {
    const RowId row = row_of(model, hit.event);
    auto [label, is_new] = labels.try_emplace(row);
    if (is_new) label->second = row_path(model, row);
    made->table.rows.push_back({std::string(analyzer::name_of(trace, hit.event)), label->second,
                                analyzer::interval_of(trace, hit.event).begin.ns, hit.length.ns});
    made->links.push_back(Target::of(hit.event));
  }
  made->sort_column = query.keep == HitQuery::Keep::kFirst ? 2 : 3;
  made->descending = query.keep == HitQuery::Keep::kLongest;
  list.table = std::move(made);
  return list;
}

}  // namespace headway::gui
