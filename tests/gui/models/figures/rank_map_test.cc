// SPDX-License-Identifier: MIT
#include "gui/models/figures/rank_map.h"

#include <doctest/doctest.h>

#include "gui/models/opening/session.h"
#include "tests/analyzer/ranks/planted_job.h"
#include "tests/gui/support/sessions.h"

namespace headway::gui {
namespace {

RankMap map_of(const std::string& text) {
  trace::Trace trace = test::planted_trace(text);
  return make_rank_map(trace, analyzer::analyze(trace));
}

}  // namespace

TEST_CASE("a rank that is late is named with its cause, and the others wait for it") {
  RankMap map = map_of(test::kEvenJob + "    on rank=2\n      host 3ms\n");
  REQUIRE(map.rows.size() == 4);
  CHECK(!map.of_devices);
  CHECK(map.can_tell_waits);
  CHECK(map.steps.size() == 12);
  REQUIRE(!map.stragglers.empty());
  for (const Straggler& one : map.stragglers) {
    CHECK(map.rows[one.row].label == "rank 2");
    CHECK(one.excess.milliseconds() == doctest::Approx(3).epsilon(0.1));
  }
  for (std::size_t r = 0; r < 4; ++r) {
    DurationNs waits;
    for (const std::optional<RankCell>& cell : map.rows[r].cells)
      if (cell && cell->steady) waits += cell->value(RankMetric::kWait);
    CHECK((waits.ns > 0) == (r != 2));
  }
  CHECK(map.text.find("rank 2") != std::string::npos);
}

TEST_CASE("the figures of a cell are parts of its step") {
  RankMap map = map_of(test::kEvenJob);
  CHECK(map.text.find("No rank stands out") != std::string::npos);
  for (const RankRow& row : map.rows) {
    for (const std::optional<RankCell>& cell : row.cells) {
      REQUIRE(cell);
      CHECK(cell->times.total() == cell->time.length());
      CHECK(cell->own() + cell->value(RankMetric::kCommunication) ==
            cell->value(RankMetric::kStep));
      for (const RankMetricInfo& metric : rank_metrics()) {
        CHECK(cell->value(metric.metric) >= DurationNs{});
        CHECK(cell->value(metric.metric) <= cell->time.length());
      }
    }
  }
  auto [low, high] = map.range(RankMetric::kStep);
  CHECK(low < high);
}

TEST_CASE("tables of ranks and stragglers lead to the steps") {
  trace::Trace trace =
      test::planted_trace(test::kEvenJob + "    on rank=1 every=3\n      host 4ms\n");
  analyzer::Analysis analysis = analyzer::analyze(trace);
  RankMap map = make_rank_map(trace, analysis);
  LinkedTable late = straggler_table(map, analysis);
  CHECK(late.table.rows.size() == map.stragglers.size());
  REQUIRE(!late.links.empty());
  for (const Target& link : late.links) CHECK(link.kind == Target::Kind::kStep);
  LinkedTable ranks = rank_summary_table(trace, analysis, map);
  CHECK(ranks.table.rows.size() == 4);
  CHECK(ranks.column("file") == -1);
}

TEST_CASE("of one rank there is a row for its device and nobody to compare it with") {
  auto session = test::training_session();
  RankMap map = make_rank_map(session->trace, session->analysis);
  CHECK(map.of_devices);
  CHECK(map.rows.size() == 1);
  CHECK(map.stragglers.empty());
  CHECK(map.rows[0].cells.size() == session->analysis.partitions[0].steps.size());
}

}  // namespace headway::gui
