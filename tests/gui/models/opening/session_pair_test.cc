// SPDX-License-Identifier: MIT
#include "gui/models/opening/session_pair.h"

#include <doctest/doctest.h>

#include "tests/gui/support/sessions.h"

namespace headway::gui {
namespace {

const SessionPair& pair() {
  static std::shared_ptr<const SessionPair> made =
      make_session_pair(test::training_session(), test::faster_session());
  return *made;
}

std::string_view cell(const analyzer::Table& table, std::size_t row, std::string_view id) {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].id == id) return std::get<std::string>(table.rows[row][c]);
  }
  return {};
}

std::string_view op_name(Side side, const Target& target) {
  const Session& session = pair().session(side);
  analyzer::OpId op = session.analysis.attribution.op_of[target.event.index];
  return session.analysis.attribution.ops[op.value].name;
}

bool inside(const Target& target, Side side, StepPair steps) {
  Interval step = pair().interval(side, steps);
  return step.contains(pair().session(side).timeline.interval_of(target).begin);
}

}  // namespace

TEST_CASE("the classes lead from the one mean step to the other, as the diff's table says") {
  const analyzer::Table& table = *pair().diff.table("classes");
  REQUIRE(table.rows.size() == pair().classes.size() + 1);
  for (std::size_t i = 0; i < pair().classes.size(); ++i) {
    CHECK(std::get<std::string>(table.rows[i][0]) ==
          analyzer::info(pair().classes[i].time_class).label);
    CHECK(std::get<std::int64_t>(table.rows[i][3]) == pair().classes[i].change().ns);
  }
  CHECK(std::get<std::int64_t>(table.rows.back()[1]) == pair().total(Side::kA).ns);
  CHECK(std::get<std::int64_t>(table.rows.back()[2]) == pair().total(Side::kB).ns);
  CHECK(pair().diff.verdict == analyzer::DiffVerdict::kFaster);
}

TEST_CASE("the pair of steps that is shown first is the steady median of each side") {
  StepPair steps = *pair().median_steps();
  for (Side side : {Side::kA, Side::kB}) {
    const auto& bars = pair().bars(side);
    const StepBar& chosen = bars[side == Side::kA ? steps.a : steps.b];
    CHECK(chosen.steady);
    std::size_t shorter = 0;
    std::size_t longer = 0;
    for (const StepBar& bar : bars) {
      if (!bar.steady) continue;
      shorter += bar.length() < chosen.length();
      longer += bar.length() > chosen.length();
    }
    CHECK(std::max(shorter, longer) - std::min(shorter, longer) <= 1);
  }
}

TEST_CASE("both sides step together and stop together at the ends") {
  StepPair first = pair().stepped({1, 2}, false);
  CHECK(first == StepPair{0, 1});
  CHECK(pair().stepped(first, false) == first);
  auto last = static_cast<std::uint32_t>(pair().bars(Side::kB).size() - 1);
  CHECK(pair().stepped({3, last}, true) == StepPair{3, last});
  CHECK(pair().stepped({3, last - 1}, true) == StepPair{4, last});
  StepPair numbered = *pair().steps_numbered(17);
  CHECK(pair().bars(Side::kA)[numbered.a].number == 17);
  CHECK(pair().bars(Side::kB)[numbered.b].number == 17);
  CHECK(!pair().steps_numbered(99'999));
}

TEST_CASE("every row of ops and kernels is found in the step of each side that has it") {
  StepPair steps = *pair().median_steps();
  for (const char* id : {"ops", "kernels"}) {
    const analyzer::Table& table = *pair().diff.table(id);
    REQUIRE(table.rows.size() > 5);
    std::size_t one_sided = 0;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      std::string_view name = cell(table, row, "name");
      std::string_view state = cell(table, row, "state");
      CAPTURE(name);
      for (Side side : {Side::kA, Side::kB}) {
        Target place = pair().place_of(side, id, row, steps);
        bool missing = state == (side == Side::kA ? "added" : "removed");
        one_sided += missing;
        CHECK(static_cast<bool>(place) == !missing);
        if (missing || !place) continue;
        CHECK(inside(place, side, steps));
        std::string_view found = id == std::string_view("ops")
                                     ? op_name(side, place)
                                     : analyzer::name_of(pair().session(side).trace, place.event);
        bool renamed = side == Side::kA && state.starts_with("was ");
        CHECK(found == (renamed ? state.substr(4) : name));
      }
    }
    if (id == std::string_view("ops")) CHECK(one_sided > 0);
  }
  CHECK(!pair().place_of(Side::kA, "steps", 0, steps));
  CHECK(!pair().place_of(Side::kA, "ops", 99'999, steps));
}

TEST_CASE("a class is found as its longest stretch in the step of each side") {
  StepPair steps = *pair().median_steps();
  for (const ClassChange& one : pair().classes) {
    for (Side side : {Side::kA, Side::kB}) {
      Target place = pair().place_of(side, one.time_class, steps);
      if (!place) continue;
      const analyzer::DevicePartition& partition = pair().session(side).analysis.partitions[0];
      const analyzer::Segment& segment = partition.segments[place.index];
      CHECK(segment.time_class == one.time_class);
      Interval step = pair().interval(side, steps);
      for (const analyzer::Segment& other_one : partition.segments) {
        if (other_one.time_class == one.time_class && step.contains(other_one.interval.begin))
          CHECK(other_one.interval.length() <= segment.interval.length());
      }
    }
  }
}

TEST_CASE("the counterpart of a device op is the same work as often repeated, and leads back") {
  StepPair steps = *pair().median_steps();
  const analyzer::Table& ops = *pair().diff.table("ops");
  int found = 0;
  for (std::size_t row = 0; row < ops.rows.size(); ++row) {
    Target in_a = pair().place_of(Side::kA, "ops", row, steps);
    if (!in_a) continue;
    Target in_b = pair().counterpart(Side::kA, in_a, steps);
    CHECK(static_cast<bool>(in_b) == (cell(ops, row, "state") != "removed"));
    if (!in_b) continue;
    ++found;
    CHECK(inside(in_b, Side::kB, steps));
    CHECK(pair().counterpart(Side::kB, in_b, steps) == in_a);
  }
  CHECK(found > 10);
  CHECK(!pair().counterpart(Side::kA, {}, steps));
}

TEST_CASE("traces without steps, device work or events can be compared, without a verdict") {
  test::TraceBuilder nothing;
  test::TraceBuilder host;
  host.range(1, "work", 10, 500);
  test::TraceBuilder device;
  device.launch(1, 0, 1, 10, 30, {.name = "k"});
  std::vector<std::shared_ptr<const Session>> sessions = {
      test::session_of(nothing), test::session_of(host), test::session_of(device),
      test::training_session()};
  for (const auto& a : sessions) {
    for (const auto& b : sessions) {
      std::shared_ptr<const SessionPair> made = make_session_pair(a, b);
      CHECK(!made->diff.sentence.empty());
      auto steps = made->median_steps();
      CHECK(steps.has_value() == (a == b && a == sessions.back()));
      for (Side side : {Side::kA, Side::kB}) {
        made->interval(side, steps);
        for (const analyzer::Table& table : made->diff.tables) {
          for (std::size_t row = 0; row < table.rows.size(); ++row)
            made->place_of(side, table.id, row, steps);
        }
        for (const ClassChange& one : made->classes) made->place_of(side, one.time_class, steps);
      }
    }
  }
}

}  // namespace headway::gui
