// SPDX-License-Identifier: MIT
// Nothing is drawn wrong: what a pixel of the timeline shows, and what hit() says of it, against a
// scan over the tables of the trace that uses no index and no order of ours.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>

#include "gui/timeline/timeline_view.h"
#include "tests/gui/support/application.h"
#include "tests/gui/support/sessions.h"
#include "tests/support/recordings.h"

namespace headway::gui {
namespace {

using analyzer::EventRef;

struct Truth {
  Interval when;
  std::uint32_t id;
  ColorRole color;
};

/// Everything that belongs on a row, by the tables alone.
std::vector<Truth> events_of(const Session& session, const Row& row) {
  const trace::Trace& trace = session.trace;
  std::vector<Truth> all;
  auto op_color = [&](std::uint32_t i) {
    return role_of(session.analysis.attribution.class_of[i]);
  };
  switch (row.kind) {
    case RowKind::kStream:
      for (std::uint32_t i = 0; i < trace.device_ops.size(); ++i) {
        if (trace.device_ops.stream[i].value == row.subject)
          all.push_back({trace.device_ops.interval({i}), i, op_color(i)});
      }
      break;
    case RowKind::kThread:
      for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
        if (trace.ranges.thread[i].value == row.subject)
          all.push_back({trace.ranges.interval({i}), i, role_of(trace, trace::RangeId{i})});
      }
      break;
    case RowKind::kCalls:
    case RowKind::kWaits:
      for (std::uint32_t i = 0; i < trace.calls.size(); ++i) {
        if (trace.calls.thread[i].value != row.subject) continue;
        bool waits = trace::is_blocking(trace.calls.kind[i]);
        if (row.kind == RowKind::kCalls || waits)
          all.push_back({trace.calls.interval({i}), i,
                         row.kind == RowKind::kWaits ? role_of(analyzer::TimeClass::kHostSync)
                                                     : role_of(trace.calls.kind[i])});
      }
      if (row.kind == RowKind::kCalls) break;
      for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
        const trace::RangeInfo* info = trace.info(trace::RangeId{i});
        if (info && info->kind == trace::RangeKind::kInputWait &&
            trace.ranges.thread[i].value == row.subject)
          all.push_back({trace.ranges.interval({i}), i | TimelineModel::kRangeBit,
                         role_of(trace, trace::RangeId{i})});
      }
      break;
    case RowKind::kReads:
      for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
        const trace::RangeInfo* info = trace.info(trace::RangeId{i});
        if (info && info->kind == trace::RangeKind::kRead &&
            trace.threads[trace.ranges.thread[i].value].process.value == row.subject)
          all.push_back({trace.ranges.interval({i}), i, role_of(trace, trace::RangeId{i})});
      }
      break;
    case RowKind::kPartition: {
      const auto& segments = session.analysis.partitions[row.subject].segments;
      for (std::uint32_t i = 0; i < segments.size(); ++i)
        all.push_back({segments[i].interval, i, role_of(segments[i].time_class)});
      break;
    }
    default:
      break;
  }
  return all;
}

bool can_be_checked(const Row& row) {
  return row.kind == RowKind::kStream || row.kind == RowKind::kThread ||
         row.kind == RowKind::kCalls || row.kind == RowKind::kWaits ||
         row.kind == RowKind::kReads || row.kind == RowKind::kPartition;
}

class Checker {
 public:
  explicit Checker(std::shared_ptr<const Session> session) : session_(std::move(session)) {
    view_.resize(900, 700);
    view_.show();
    view_.set_session(session_);
    QApplication::processEvents();
    for (std::size_t r = 0; r < model().rows.size(); ++r) {
      if (can_be_checked(model().rows[r])) rows_.push_back(RowId::from(r));
    }
  }

  /// Looks at pixels until `wanted` of them show something.
  void check(int wanted, unsigned seed) {
    random_.seed(seed);
    REQUIRE(!rows_.empty());
    int shown = 0;
    for (int tries = 0; tries < wanted * 40 && shown < wanted; ++tries) {
      if (tries % 8 == 0) move();
      shown += look();
    }
    CHECK(shown == wanted);
  }

 private:
  const TimelineModel& model() const { return session_->timeline; }

  /// Somewhere else, at another zoom, with another row in sight.
  void move() {
    row_ = rows_[random_() % rows_.size()];
    const Lane& lane = model().row(row_).lanes[random_() % model().row(row_).lanes.size()];
    // Near an event, so that deep zooms do not look at nothing.
    near_ = lane.interval(static_cast<std::uint32_t>(random_() % lane.entries()));
    double zoom = std::pow(10.0, static_cast<double>(random_() % 60) / 10);
    double length = std::max(50.0, static_cast<double>(model().bounds.length().ns) / zoom);
    std::int64_t begin = near_.begin.ns - static_cast<std::int64_t>(
                                              length * static_cast<double>(random_() % 100) / 100);
    view_.show_interval({{begin}, {begin + static_cast<std::int64_t>(length)}});
    view_.select(model().target_of(row_, lane.rows(0).front()), true);
    view_.select({}, false);
    image_ = view_.render_frame().copy();
    truth_ = events_of(*session_, model().row(row_));
  }

  /// True when the pixel shows something.
  bool look() {
    const Frame& frame = view_.frame();
    std::optional<std::size_t> index = view_.layout().index_of(row_);
    REQUIRE(index);
    const RowLayout::Shown& shown = view_.layout().shown()[*index];
    const ColumnGrid grid(frame.mapping);
    int x = static_cast<int>(random_() % static_cast<unsigned>(frame.area_width()));
    // Every other one where an event is, as traces are mostly empty from near.
    if (random_() % 2)
      x = std::clamp(grid.column_of(near_.begin) + static_cast<int>(random_() % 7) - 3, 0,
                     frame.area_width() - 1);
    CAPTURE(model().row(row_).label);
    CAPTURE(frame.mapping.visible().begin.ns);
    CAPTURE(grid.ns_per_column());
    CAPTURE(x);
    const double left = grid.edge(x);
    const double right = grid.edge(x + 1);
    // In a view of decades the edges of pixels are known to some ten nanoseconds only.
    const double fuzz = std::abs(right) * 4e-16;
    auto touches = [&](Interval when, double more) {
      double begin = grid.relative(when.begin) - more;
      double end = grid.relative(when.end) + more;
      // A point in time belongs to the pixel that it lies in.
      return begin < right && (end > left || (when.begin == when.end && begin >= left));
    };
    std::set<std::uint32_t> certain;
    std::set<std::uint32_t> expected;
    for (const Truth& one : truth_) {
      if (touches(one.when, -fuzz)) certain.insert(one.id);
      if (touches(one.when, fuzz)) expected.insert(one.id);
    }
    std::set<std::uint32_t> drawn;
    bool any = false;
    for (std::uint32_t l = 0; l < shown.lanes; ++l) {
      const Lane& lane = model().row(row_).lanes[l];
      std::vector<LaneItem> items;
      lane.collect(grid, x, x + 1, items);
      REQUIRE(items.size() <= 1);
      if (items.empty()) continue;
      any = true;
      check_item(lane, items[0], l, x, shown, grid, drawn);
    }
    if (shown.lanes < model().row(row_).lanes.size()) return any;  // folded: a part of the truth
    for (std::uint32_t id : drawn) CHECK(expected.contains(id));
    for (const Truth& one : truth_) {
      if (!certain.contains(one.id) || drawn.contains(one.id)) continue;
      // Only where two long neighbours meet one of them gives way, and it is drawn beside.
      CHECK(static_cast<double>(one.when.length().ns) >= 3 * grid.ns_per_column());
    }
    CHECK((any ? !expected.empty() : certain.empty()));
    return any;
  }

  void check_item(const Lane& lane, const LaneItem& item, std::uint32_t line, int x,
                  const RowLayout::Shown& shown, const ColumnGrid& grid,
                  std::set<std::uint32_t>& drawn) {
    const std::uint32_t first = lane.first_event(item.entry);
    auto all = lane.rows(0, static_cast<std::uint32_t>(lane.entries()));
    std::map<ColorRole, double> time;
    double covered = 0;
    std::uint32_t last_entry = item.entry;
    while (lane.first_event(last_entry) + lane.rows(last_entry).size() < first + item.count)
      ++last_entry;
    for (std::uint32_t e = item.entry; e <= last_entry; ++e) {
      double begin = std::max(grid.relative(lane.interval(e).begin), grid.edge(x));
      double end = std::min(grid.relative(lane.interval(e).end), grid.edge(x + 1));
      time[lane.color(e)] += std::max(0.0, end - begin);
      covered += std::max(0.0, end - begin);
    }
    for (std::uint32_t i = first; i < first + item.count; ++i) {
      drawn.insert(all[i]);
      auto one = std::find_if(truth_.begin(), truth_.end(),
                              [&](const Truth& t) { return t.id == all[i]; });
      REQUIRE(one != truth_.end());
      if (item.count == 1) CHECK(item.color == one->color);
    }
    double share = std::min(1.0, covered / grid.ns_per_column());
    CHECK(std::abs(item.fill / 255.0 - share) <= 1.0 / 255 + 1e-9);
    for (const auto& [color, ns] : time)
      CHECK(ns <= time[item.color] + 1e-6 * grid.ns_per_column());
    // The same by the hand of the user, and in the picture.
    const int y = view_.frame().screen_y(view_.layout().lane_y(shown, line));
    const int height = view_.layout().metrics().lane;
    if (y < view_.frame().header_height() || y + height >= image_.height()) return;
    const QPoint point(view_.frame().gutter + x, y + height / 2);
    Hit hit = view_.hit(point);
    REQUIRE(hit.item);
    CHECK(*hit.item == item);
    CHECK(hit.row == row_);
    if (item.count == 1)
      CHECK(hit.target == model().target_of(row_, all[first]));
    else
      CHECK(!hit.target);
    const Theme& theme = *view_.frame().theme;
    const std::size_t role = static_cast<std::size_t>(item.color);
    QRgb pixel = image_.pixel(point.x(), y + height - 2) | 0xff000000;
    QRgb own = theme.role[role] | 0xff000000;
    bool fits = pixel == own || pixel == (theme.stripe[role] | 0xff000000) ||
                pixel == (blend(theme.role[role], theme.base.rgb(), 0.55) | 0xff000000);
    // Glyphs reach the floor of a box here and there.
    bool label = item.count == 1;
    CHECK((fits || label));
  }

  QApplication& application_ = test::application();
  std::shared_ptr<const Session> session_;
  TimelineView view_;
  std::vector<RowId> rows_;
  RowId row_;
  Interval near_;
  QImage image_;
  std::vector<Truth> truth_;
  std::mt19937 random_;
};

}  // namespace

TEST_CASE("200 pixels of a training run show what its tables say") {
  Checker(test::training_session()).check(200, 1);
}

TEST_CASE("200 pixels of a hostile trace show what its tables say") {
  test::TraceBuilder builder;
  test::build_hostile(builder, 30);
  Checker(test::session_of(builder)).check(200, 2);
}

TEST_CASE("200 pixels of a run of two ranks show what its tables say") {
  Checker(test::two_rank_session()).check(200, 3);
}

TEST_CASE("200 pixels of dense random events show what their tables say") {
  test::TraceBuilder builder;
  std::mt19937 random(9);
  std::int64_t t = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::int64_t length = static_cast<std::int64_t>(random() % (i % 50 ? 90 : 20'000));
    builder.range(1, i % 3 ? "short" : "other", t, t + length);
    if (i % 2) builder.launch(2, t, t + 10, t + 20, t + 20 + length / 2, {.name = "kernel"});
    t += length + static_cast<std::int64_t>(random() % 30);
  }
  Checker(test::session_of(builder)).check(200, 4);
}

TEST_CASE("200 pixels of each real recording show what its tables say") {
  std::vector<std::filesystem::path> files = test::recordings(".sqlite");
  for (const char* kineto : {"a100_control.json.gz", "h100_bert_small.json.gz"}) {
    std::vector<std::filesystem::path> more = test::recordings(kineto);
    files.insert(files.end(), more.begin(), more.end());
  }
  if (files.empty()) {
    MESSAGE("no recordings here: skipped");
    return;
  }
  for (const std::filesystem::path& file : files) {
    CAPTURE(file.string());
    Checker(open_session(file)).check(200, 5);
  }
}

}  // namespace headway::gui
