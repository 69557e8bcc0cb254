// SPDX-License-Identifier: MIT
#include "gui/models/prediction/predicted_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/whatif/fix.h"
#include "common/format.h"
#include "gui/models/timeline/lane_packing.h"

namespace headway::gui {
namespace {

using analyzer::EventRef;
using analyzer::Fate;
using analyzer::PredictedTask;

/// An entry of a predicted row: `value` is an index into the step's tasks.
struct Piece {
  std::uint32_t value;
  Interval when;
  std::size_t lane;
  ColorRole color;
};

class Builder {
 public:
  explicit Builder(PredictedTimeline& timeline)
      : timeline_(timeline), trace_(timeline.session->trace), model_(timeline.model) {
    model_ = timeline.session->timeline;
    model_.predicted = &timeline.step;
  }

  void build() {
    const std::vector<PredictedTask>& tasks = timeline_.step.tasks;
    std::vector<bool> own(trace_.threads.size());
    for (trace::ThreadId thread : timeline_.step.threads) own[thread.value] = true;
    for (std::uint32_t i = 0; i < tasks.size(); ++i) {
      const Target target = Target::of(tasks[i].event);
      const bool range = tasks[i].event.kind == EventRef::Kind::kRange;
      // Other threads have only batches here: their rows would have holes for everything else.
      if (range && !own[trace_.ranges.thread[tasks[i].event.index].value]) continue;
      std::optional<Place> place = model_.find(target);
      if (!place || !place->row.valid()) continue;
      if (tasks[i].fate == Fate::kGone) {
        gone_[{place->row, place->lane}].push_back(tasks[i].recorded);
        continue;
      }
      const Interval when = model_.interval_of(Target::prediction(i));
      if (when.empty()) continue;
      const std::size_t lane =
          range ? std::size_t{trace_.ranges.depth[tasks[i].event.index]} : std::size_t{0};
      pieces_[place->row].push_back({i, when, lane, color_of(tasks[i].event)});
    }
    // A row without entries says that nothing remains of its recorded events. Rows without recorded
    // events in the step are not shown.
    for (const auto& [where, intervals] : gone_) pieces_[where.first];
    for (auto& [row, pieces] : pieces_) add_row(row, std::move(pieces));
    for (auto& [where, intervals] : gone_) add_gone(where, std::move(intervals));
  }

 private:
  ColorRole color_of(EventRef event) const {
    switch (event.kind) {
      case EventRef::Kind::kDeviceOp:
        return role_of(trace_, timeline_.session->analysis.attribution,
                       trace::DeviceOpId{event.index});
      case EventRef::Kind::kCall:
        return role_of(trace_.calls.kind[event.index]);
      default:
        return role_of(trace_, trace::RangeId{event.index});
    }
  }

  void add_row(RowId recorded, std::vector<Piece> pieces) {
    // Events that began before the step start where the step starts.
    std::stable_sort(pieces.begin(), pieces.end(),
                     [](const Piece& a, const Piece& b) { return a.when.begin < b.when.begin; });
    const Row& beside = model_.row(recorded);
    Row row;
    row.kind = RowKind::kPredicted;
    row.subject = recorded.value;
    row.companion_of = recorded;
    // Rows of ranges are followed by rows of calls and waits; the prediction comes before those.
    const bool below = beside.kind == RowKind::kThread;
    row.parent = below ? recorded : beside.parent;
    row.depth = static_cast<std::uint8_t>(beside.depth + (below ? 1 : 0));
    row.label = "predicted";
    const std::vector<const analyzer::Fix*>& fixes = timeline_.fixes;
    row.detail = fixes.size() == 1 ? fmt::format("with {}", fixes.front()->title)
                                   : fmt::format("with {} fixes", fixes.size());
    row.lanes = pack_lanes(
        pieces, [](const Piece& piece) { return piece.when; },
        [](const Piece& piece) { return piece.lane; },
        [](const Piece& piece) { return piece.color; });
    if (row.lanes.empty()) row.lanes.emplace_back().finish();
    for (RowId above = row.parent; above.valid(); above = model_.row(above).parent)
      ++model_.rows[above.value].descendants;
    model_.rows.push_back(std::move(row));
  }

  void add_gone(std::pair<RowId, std::uint32_t> where, std::vector<Interval> intervals) {
    std::sort(intervals.begin(), intervals.end(), [](Interval a, Interval b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    PredictedTimeline::Line line{where.first, where.second, {}};
    for (Interval when : intervals) line.gone.append_overlapping(when, 0, ColorRole::kMark);
    line.gone.finish();
    timeline_.lines.push_back(std::move(line));
  }

  PredictedTimeline& timeline_;
  const trace::Trace& trace_;
  TimelineModel& model_;
  std::map<RowId, std::vector<Piece>> pieces_;  ///< by recorded row
  std::map<std::pair<RowId, std::uint32_t>, std::vector<Interval>> gone_;
};

}  // namespace

const Lane* PredictedTimeline::gone(RowId row, std::uint32_t lane) const {
  auto found = std::lower_bound(lines.begin(), lines.end(), std::pair(row, lane),
                                [](const Line& line, const std::pair<RowId, std::uint32_t>& where) {
                                  return std::pair(line.row, line.lane) < where;
                                });
  return found != lines.end() && found->row == row && found->lane == lane ? &found->gone : nullptr;
}

Interval PredictedTimeline::view() const {
  const TimeNs end = std::max(step.recorded.end, step.predicted_interval().end);
  // Room at the end for the flag with the gain.
  const DurationNs air = (end - step.recorded.begin) / 20;
  return {step.recorded.begin - air, end + air * 4};
}

RowId PredictedTimeline::first_row() const {
  for (std::size_t i = session->timeline.rows.size(); i < model.rows.size(); ++i) {
    if (model.rows[i].lanes.front().entries()) return RowId::from(i);
  }
  return {};
}

std::string PredictedTimeline::gain_text() const {
  const DurationNs gain = step.gain();
  return fmt::format("{} {}", format_duration(DurationNs{std::abs(gain.ns)}),
                     gain.ns >= 0 ? "less" : "more");
}

std::string PredictedTimeline::fixes_text() const {
  if (fixes.size() > 2) return fmt::format("{} fixes", fixes.size());
  std::string text;
  for (const analyzer::Fix* fix : fixes)
    text += fmt::format("{}“{}”", text.empty() ? "" : " and ", fix->title);
  return text;
}

std::string PredictedTimeline::sentence() const {
  const DurationNs gain = step.gain();
  std::string text = fmt::format(
      "Step {} with {}: {} instead of {}, {} ({})", session->analysis.steps.all[step.step].number,
      fixes_text(), format_duration(step.predicted), format_duration(step.recorded.length()),
      gain_text(), format_percent(ratio(DurationNs{std::abs(gain.ns)}, step.recorded.length())));
  // A difference that the replay shows even without a change is not a gain.
  const DurationNs off{std::abs((step.recorded.length() - step.replayed).ns)};
  if (off.ns * 20 > std::abs(gain.ns) && off.ns * 1000 > step.replayed.ns)
    text += fmt::format("; {} without a recorded cause", format_duration(off));
  if (step.replayed_tasks < step.predicted)
    text += fmt::format("; the drawn events take {}, a copy engine or link takes longer",
                        format_duration(step.replayed_tasks));
  return text;
}

std::shared_ptr<const PredictedTimeline> add_prediction(std::shared_ptr<const Session> session,
                                                        std::vector<const analyzer::Fix*> fixes,
                                                        analyzer::PredictedStep step) {
  auto timeline = std::make_shared<PredictedTimeline>();
  timeline->session = std::move(session);
  timeline->fixes = std::move(fixes);
  timeline->step = std::move(step);
  Builder(*timeline).build();
  return timeline;
}

int best_predicted_finding(const analyzer::Analysis& analysis) {
  int best = -1;
  for (std::size_t i = 0; i < analysis.findings.size(); ++i) {
    const auto& predicted = analysis.findings[i].predicted;
    if (!predicted) continue;
    if (best < 0 ||
        predicted->share > analysis.findings[static_cast<std::size_t>(best)].predicted->share)
      best = static_cast<int>(i);
  }
  return best;
}

}  // namespace headway::gui
