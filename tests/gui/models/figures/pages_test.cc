// SPDX-License-Identifier: MIT
// The models of the op table, the step chart, the findings and the summary.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "gui/models/details/findings.h"
#include "gui/models/figures/op_table.h"
#include "gui/models/figures/step_chart.h"
#include "gui/models/figures/summary.h"
#include "gui/models/text/display_text.h"
#include "tests/gui/support/sessions.h"

namespace headway::gui {

TEST_CASE("the op table's lines sum to the device time of the steady steps") {
  auto session = test::training_session();
  const trace::Trace& trace = session->trace;
  DurationNs expected;
  std::int64_t ops = 0;
  for (const analyzer::DeviceStep& step : session->analysis.partitions[0].steps) {
    if (!session->analysis.steps.all[step.step].steady) continue;
    for (std::uint32_t i = 0; i < trace.device_ops.size(); ++i) {
      if (!step.interval.contains(trace.device_ops.start[i])) continue;
      expected += trace.device_ops.interval({i}).length();
      ++ops;
    }
  }
  for (OpGrouping grouping : {OpGrouping::kOp, OpGrouping::kType, OpGrouping::kKernel}) {
    OpTable table = make_op_table(trace, session->analysis, grouping);
    DurationNs sum;
    std::int64_t count = 0;
    for (const OpLine& line : table.lines) {
      sum += line.total;
      count += line.count;
      CHECK(trace.device_ops.interval(line.longest).length() == line.longest_duration);
    }
    CHECK(sum == expected);
    CHECK(table.total == expected);
    CHECK(count == ops);
    CHECK(table.steps == static_cast<std::int64_t>(session->analysis.steps.steady.size()));
  }
}

TEST_CASE("the op table sorts by every column both ways and filters in either case") {
  auto session = test::training_session();
  LinkedTable table =
      linked_table(make_op_table(session->trace, session->analysis, OpGrouping::kOp));
  for (int column = 0; column < static_cast<int>(table.table.columns.size()); ++column) {
    std::vector<std::uint32_t> up = arranged(table, {column, false, ""});
    std::vector<std::uint32_t> down = arranged(table, {column, true, ""});
    REQUIRE(up.size() == table.table.rows.size());
    CHECK(std::is_permutation(up.begin(), up.end(), down.begin()));
    for (std::size_t i = 1; i < up.size(); ++i) {
      double a = number_of(table.table.rows[up[i - 1]][static_cast<std::size_t>(column)]);
      double b = number_of(table.table.rows[up[i]][static_cast<std::size_t>(column)]);
      CHECK(!(a > b));
    }
  }
  int type = table.column("type");
  REQUIRE(type > 0);
  std::vector<std::uint32_t> filtered =
      arranged(table, {table.column("ns_per_step"), true, "BATCH_norm"});
  CHECK(!filtered.empty());
  for (std::uint32_t row : filtered)
    CHECK(std::get<std::string>(table.table.rows[row][static_cast<std::size_t>(type)])
              .find("batch_norm") != std::string::npos);
  CHECK(arranged(table, {0, true, "no such op"}).empty());
}

TEST_CASE("without steps the op table is over the whole trace and says so") {
  test::TraceBuilder builder;
  builder.launch(1, 0, 1, 10, 30, {.name = "k"});
  auto session = test::session_of(builder);
  OpTable ops = make_op_table(session->trace, session->analysis, OpGrouping::kOp);
  CHECK(ops.steps == 0);
  CHECK(ops.basis.find("whole trace") != std::string::npos);
  CHECK(ops.total == DurationNs{20});
  CHECK(linked_table(ops).column("total_ns") >= 0);
}

TEST_CASE("bars of the step chart are the device's steps and stack to their length") {
  auto session = test::training_session();
  REQUIRE(session->step_charts.size() == 1);
  const StepChart& chart = session->step_charts[0];
  CHECK(chart.bars.size() == session->analysis.partitions[0].steps.size());
  for (const StepBar& bar : chart.bars) CHECK(bar.times.total() == bar.length());
  CHECK(!chart.bars.front().steady);
  CHECK(chart.median == session->analysis.median_step);
}

TEST_CASE("steps share slots without one being left out, and the slowest stands for them") {
  StepChart chart;
  for (int i = 0; i < 1000; ++i) {
    StepBar bar;
    bar.interval = {{i * 100}, {i * 100 + (i * 37) % 91}};
    chart.bars.push_back(bar);
  }
  for (std::uint32_t places : {1u, 7u, 300u, 1000u, 5000u}) {
    std::vector<StepChart::Slot> slots_of = chart.spread(0, 1000, places);
    CHECK(slots_of.size() == std::min(places, 1000u));
    std::uint32_t next = 0;
    for (const StepChart::Slot& slot : slots_of) {
      CHECK(slot.first == next);
      CHECK(slot.last > slot.first);
      next = slot.last;
      for (std::uint32_t i = slot.first; i < slot.last; ++i)
        CHECK(chart.bars[i].length() <= chart.bars[slot.slowest].length());
    }
    CHECK(next == 1000);
  }
  CHECK(chart.spread(5, 5, 10).empty());
}

TEST_CASE("an outlier is cut so that the other steps can be compared") {
  test::TraceBuilder builder;
  std::int64_t t = 0;
  for (int s = 0; s < 12; ++s) {
    std::int64_t length = s == 0 ? 900'000 : 10'000;
    builder.range(1, "step", t, t + length, {.kind = trace::RangeKind::kStep, .step = s});
    t += length;
  }
  auto session = test::session_of(builder);
  REQUIRE(session->step_charts.size() == 1);
  // Without a device the step is that of the training thread, with its own classes.
  CHECK(session->step_charts[0].title == "thread 1 of process 100");
  CHECK(session->step_charts[0].axis_max < DurationNs{100'000});
  CHECK(session->step_charts[0].has_classes);
}

TEST_CASE("findings are told in words, and evidence leads to its event with context") {
  auto session = test::training_session();
  std::vector<FindingLine> lines = finding_lines(session->analysis);
  REQUIRE(!lines.empty());
  CHECK(lines[0].status_words == "Found");
  CHECK(lines[0].title.starts_with("Input-bound"));
  CHECK(!lines[0].gain.empty());
  CHECK(lines[0].confidence == analyzer::confidence_label(session->analysis.findings[0]));
  for (const analyzer::Evidence& evidence : session->analysis.findings[0].evidence) {
    EvidencePlace place = place_of(session->timeline, evidence);
    CHECK(place.target == Target::of(evidence.event));
    CHECK(place.view.begin <= evidence.where.begin);
    CHECK(place.view.end >= evidence.where.end);
    CHECK(place.view.length() > evidence.where.length());
    CHECK(place.view.length() <= evidence.where.length() * 3);
  }
}

TEST_CASE("evidence without an event still leads to its time") {
  auto session = test::training_session();
  EvidencePlace place = place_of(session->timeline, {{{500'000'000}, {600'000'000}}, {}, "there"});
  CHECK(!place.target);
  CHECK(place.view.begin == TimeNs{400'000'000});
  place = place_of(session->timeline,
                   {{}, analyzer::EventRef::of(trace::RangeId{UINT32_MAX - 1}), "gone"});
  CHECK(!place.target);
  CHECK(!place.view.empty());
}

TEST_CASE("the waterfall's bars hang from each other and sum to the step cost") {
  const std::optional<Waterfall>& waterfall = test::training_session()->summary.waterfall;
  REQUIRE(waterfall);
  DurationNs sum;
  for (const WaterfallBar& bar : waterfall->bars) {
    CHECK(bar.begin == sum);
    sum += bar.length;
  }
  CHECK(sum == waterfall->length);
  CHECK(sum == test::training_session()->analysis.step_cost.per_step());
}

TEST_CASE("the verdict names the worst finding, or says that there is nothing to go by") {
  CHECK(test::training_session()->summary.headline.starts_with("Input-bound"));
  test::TraceBuilder nothing;
  nothing.counter("process.cpu", "%", 0, 1);
  nothing.counter("process.cpu", "%", 100, 2);
  auto session = test::session_of(nothing);
  CHECK(session->summary.headline.find("no events") != std::string::npos);
  REQUIRE(!session->analysis.doubts.empty());
  CHECK(session->analysis.doubts[0].severity == "loss");
  CHECK(session->timeline.counters.size() == 1);
}

TEST_CASE("texts of the program are made fit to be shown") {
  CHECK(display_text("a\nb\x1b[2Jc") == "a\uFFFDb\uFFFD[2Jc");
  CHECK(display_text("\u202eabc\u2069") == "\uFFFDabc\uFFFD");
  CHECK(display_text("caf\u00e9 \u6f22") == "caf\u00e9 \u6f22");
  std::string huge(2 << 20, 'x');
  CHECK(display_text(huge).size() <= 4 * kMaxShownCharacters);
  CHECK(display_text("abcdef", 3) == "a…f");
}

}  // namespace headway::gui
