// SPDX-License-Identifier: MIT
#include "gui/models/figures/row_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "analyzer/model/time_class.h"
#include "common/format.h"
#include "gui/models/details/details.h"
#include "gui/models/text/display_text.h"
#include "gui/models/timeline/ticks.h"

namespace headway::gui {
namespace {

using analyzer::ColumnKind;
using analyzer::EventRef;

constexpr std::size_t kNames = 3;
constexpr std::size_t kNameCharacters = 60;

/// The events of one row with the same name.
struct Named {
  Target any;               ///< one of them, for the name
  std::int64_t own_ns = 0;  ///< time inside the range, without nested events
};

/// Collects the statistics of one row in a time range.
class RowReader {
 public:
  RowReader(const TimelineModel& model, RowId row, Interval when)
      : model_(model), trace_(*model.trace), row_(row), when_(when) {}

  void read(const std::atomic<bool>* cancelled) {
    for (const Lane& lane : model_.row(row_).lanes) {
      const auto [first, last] = lane.overlapping(when_);
      for (std::uint32_t entry = first; entry < last; ++entry) {
        if (cancelled && entry % 4096 == 0 && cancelled->load()) return;
        const Interval covered = intersect(lane.interval(entry), when_);
        covered_.push_back(covered);
        for (const std::uint32_t trace_row : lane.rows(entry)) add(trace_row);
      }
    }
  }

  bool empty() const { return lengths_.empty(); }
  Target longest() const { return longest_; }

  std::vector<analyzer::Cell> cells() {
    const DurationNs busy = busy_time();
    const auto middle = lengths_.begin() + static_cast<std::ptrdiff_t>(lengths_.size() / 2);
    std::nth_element(lengths_.begin(), middle, lengths_.end());
    std::int64_t median = *middle;
    if (lengths_.size() % 2 == 0)
      median = (median + *std::max_element(lengths_.begin(), middle)) / 2;
    const auto count = static_cast<std::int64_t>(lengths_.size());
    return {row_path(model_, row_),
            busy.ns,
            ratio(busy, when_.length()),
            (when_.length() - busy).ns,
            count,
            sum_ / count,
            median,
            most_,
            names_text()};
  }

 private:
  void add(std::uint32_t trace_row) {
    const Target target = model_.target_of(row_, trace_row);
    const Interval whole = model_.interval_of(target);
    const Interval inside = intersect(whole, when_);
    // Several events may share an entry, and some of them may be outside the time range.
    if (inside.length().ns <= 0 &&
        !(whole.empty() && when_.begin <= whole.begin && whole.begin < when_.end))
      return;
    const std::int64_t length = whole.length().ns;
    if (lengths_.empty() || length > most_) {
      most_ = length;
      longest_ = target;
    }
    lengths_.push_back(length);
    sum_ += length;
    const std::int64_t time = std::max<std::int64_t>(0, inside.length().ns);
    add_own(target, time);
    if (model_.row(row_).kind != RowKind::kThread) return;
    const trace::RangeId parent = trace_.ranges.parent[target.event.index];
    if (parent.valid()) add_own(Target::of(EventRef::of(parent)), -time);
  }

  void add_own(const Target& target, std::int64_t time) {
    Named& named = names_[key_of(target)];
    if (!named.any) named.any = target;
    named.own_ns += time;
  }

  /// The same key for events with the same name.
  std::uint64_t key_of(const Target& target) const {
    switch (target.kind) {
      case Target::Kind::kSegment:
        return static_cast<std::uint64_t>(
            model_.analysis->partitions[target.partition].segments[target.index].time_class);
      case Target::Kind::kOverhead:
        return trace_.overheads[target.index].name.value;
      case Target::Kind::kEvent:
        return target.event.kind == EventRef::Kind::kRange
                   ? trace_.ranges.name[target.event.index].value
               : target.event.kind == EventRef::Kind::kCall
                   ? trace_.calls.name[target.event.index].value
                   : trace_.device_ops.name[target.event.index].value;
      default:
        return 0;
    }
  }

  /// Time covered on several lanes at once counts once.
  DurationNs busy_time() {
    std::sort(covered_.begin(), covered_.end(),
              [](Interval a, Interval b) { return a.begin < b.begin; });
    DurationNs busy;
    TimeNs done = when_.begin;
    for (const Interval one : covered_) {
      if (one.end <= done) continue;
      busy += one.end - std::max(one.begin, done);
      done = one.end;
    }
    return busy;
  }

  std::string names_text() const {
    std::vector<std::pair<std::uint64_t, Named>> all(names_.begin(), names_.end());
    std::int64_t sum = 0;
    for (const auto& [key, named] : all) sum += std::max<std::int64_t>(0, named.own_ns);
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return a.second.own_ns != b.second.own_ns ? a.second.own_ns > b.second.own_ns
                                                : a.first < b.first;
    });
    std::string text;
    for (std::size_t i = 0; i < std::min(all.size(), kNames); ++i) {
      if (i > 0 && all[i].second.own_ns <= 0) break;
      text += fmt::format("{}{} {}", i ? ", " : "",
                          display_text(title_of(model_, all[i].second.any), kNameCharacters),
                          format_percent(ratio(DurationNs{all[i].second.own_ns},
                                               DurationNs{std::max<std::int64_t>(1, sum)})));
    }
    return text;
  }

  const TimelineModel& model_;
  const trace::Trace& trace_;
  RowId row_;
  Interval when_;
  std::vector<Interval> covered_;
  std::vector<std::int64_t> lengths_;
  std::int64_t sum_ = 0;
  std::int64_t most_ = 0;
  Target longest_;
  std::unordered_map<std::uint64_t, Named> names_;
};

}  // namespace

std::shared_ptr<const LinkedTable> row_statistics(const TimelineModel& model, Interval when,
                                                  const std::atomic<bool>* cancelled) {
  auto made = std::make_shared<LinkedTable>();
  made->table.id = "range-by-row";
  made->table.title = "Time range by row";
  made->table.note = fmt::format("{} from {}; durations of whole events",
                                 format_duration(when.length()), format_time(when.begin, {1'000}));
  made->table.columns = {{"row", "Row", ColumnKind::kText},
                         {"busy_ns", "Busy", ColumnKind::kDuration},
                         {"busy_share", "Busy %", ColumnKind::kPercent},
                         {"idle_ns", "Idle", ColumnKind::kDuration},
                         {"events", "Events", ColumnKind::kCount},
                         {"mean_ns", "Mean", ColumnKind::kDuration},
                         {"median_ns", "Median", ColumnKind::kDuration},
                         {"longest_ns", "Longest", ColumnKind::kDuration},
                         {"names", "Most time in", ColumnKind::kText}};
  made->docs = {"Timeline row",
                "Time in which the row has any event; overlaps count once",
                "Busy time as a share of the range",
                "The rest of the range",
                "Events overlapping the range",
                "Mean duration of these events, including parts outside the range",
                "Half of them are shorter",
                "The longest one; double-click to see it",
                "Names with most time in the range, without nested events"};
  for (std::size_t i = 0; i < model.rows.size() && !when.empty(); ++i) {
    if (cancelled && cancelled->load()) return nullptr;
    if (model.rows[i].lanes.empty() || model.rows[i].kind == RowKind::kPredicted) continue;
    RowReader reader(model, RowId::from(i), when);
    reader.read(cancelled);
    if (reader.empty()) continue;
    made->table.rows.push_back(reader.cells());
    made->links.push_back(reader.longest());
  }
  made->bar_column = 2;
  if (cancelled && cancelled->load()) return nullptr;
  return made;
}

}  // namespace headway::gui
