// SPDX-License-Identifier: MIT
#include "gui/models/figures/step_outliers.h"

#include <doctest/doctest.h>

#include "tests/gui/support/sessions.h"

namespace headway::gui {
namespace {

/// Steady steps of 100 µs, some 20 longer by one class.
StepChart chart_of(std::initializer_list<std::pair<int, std::int64_t>> slow) {
  using analyzer::TimeClass;
  StepChart chart;
  std::int64_t t = 0;
  for (int s = 0; s < 30; ++s) {
    StepBar bar;
    bar.step = static_cast<std::uint32_t>(s);
    bar.number = 100 + s;
    bar.times[TimeClass::kComputeOther] = {80'000 + s % 3 * 100};
    bar.times[TimeClass::kDecode] = {20'000};
    for (const auto& [step, more] : slow)
      if (step == s) bar.times[TimeClass::kDecode] += DurationNs{more};
    bar.interval = {{t}, {t + bar.times.total().ns}};
    t = bar.interval.end.ns;
    chart.bars.push_back(bar);
  }
  chart.classes = {TimeClass::kComputeOther, TimeClass::kDecode};
  return chart;
}

}  // namespace

TEST_CASE("an outlier names the class that grew against the median") {
  StepChart chart = chart_of({{7, 60'000}, {20, 90'000}});
  StepSpread spread = spread_of(chart);
  REQUIRE(spread.outliers.size() == 2);
  CHECK(spread.outliers[0].bar == 20);
  CHECK(spread.outliers[1].bar == 7);
  CHECK(spread.outliers[1].grown == analyzer::TimeClass::kDecode);
  CHECK(spread.outliers[1].growth == DurationNs{60'000});
  CHECK(spread.outliers[1].reason.find("80.0 µs instead of 20.0 µs") != std::string::npos);
  LinkedTable table = outlier_table(chart, spread);
  CHECK(table.links[0] == Target::step(20));
  CHECK(std::get<std::int64_t>(table.table.rows[0][1]) == 120);
  CHECK(spread.text.find("2 outliers") != std::string::npos);
}

TEST_CASE("steps that differ a little, or are left out of figures, are no outliers") {
  CHECK(spread_of(chart_of({{5, 5'000}})).outliers.empty());
  StepChart chart = chart_of({{0, 900'000}});
  chart.bars[0].steady = false;
  CHECK(spread_of(chart).outliers.empty());
  chart.bars.resize(4);
  CHECK(spread_of(chart).text.find("Too few") != std::string::npos);
  chart.bars.clear();
  CHECK(spread_of(chart).text.find("no steady step") != std::string::npos);
  CHECK(histogram_of(chart, 10).bins.empty());
}

TEST_CASE("the histogram holds every steady step") {
  StepChart chart = chart_of({{7, 60'000}, {20, 900'000'000}});
  for (int bins : {1, 7, 40}) {
    StepHistogram histogram = histogram_of(chart, bins);
    std::uint32_t sum = 0;
    for (std::uint32_t steps : histogram.bins) sum += steps;
    CHECK(sum == 30);
    CHECK(histogram.bins.back() >= 1);
  }
}

TEST_CASE("a real run's spread agrees with its chart") {
  auto session = test::training_session();
  StepSpread spread = spread_of(session->step_charts[0]);
  CHECK(spread.p50 == session->step_charts[0].median);
  CHECK(spread.least <= spread.p50);
  CHECK(spread.p50 <= spread.p90);
  CHECK(spread.p99 <= spread.most);
}

}  // namespace headway::gui
