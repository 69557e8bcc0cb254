// SPDX-License-Identifier: MIT
#include "gui/models/timeline/ticks.h"

#include <doctest/doctest.h>

#include "common/error.h"

namespace headway::gui {
namespace {

std::vector<std::string> labels(const Ticks& ticks) {
  std::vector<std::string> result;
  for (const Ticks::Tick& tick : ticks.ticks) {
    if (tick.major) result.push_back(tick.label);
  }
  return result;
}

}  // namespace

TEST_CASE("ticks stand at round times in a unit that fits the zoom") {
  CHECK(labels(make_ticks(TimeMapping({{0}, {10'000'000'000}}, 1000), 90)) ==
        std::vector<std::string>{"0 s", "1 s", "2 s", "3 s", "4 s", "5 s", "6 s", "7 s", "8 s",
                                 "9 s", "10 s"});
  CHECK(labels(make_ticks(TimeMapping({{0}, {40'000}}, 400), 90)) ==
        std::vector<std::string>{"0 µs", "10 µs", "20 µs", "30 µs", "40 µs"});
  CHECK(labels(make_ticks(TimeMapping({{-2'000'000'000}, {1'000'000'000}}, 300), 90)).front() ==
        "\u22122 s");
}

TEST_CASE("deep in a long trace labels count from a base so that they stay short") {
  Ticks ticks = make_ticks(TimeMapping({{12'345'678'000}, {12'345'688'000}}, 1000), 100);
  CHECK(ticks.base == "12.345 s");
  CHECK(labels(ticks)[1] == "+679 µs");
  for (const Ticks::Tick& tick : ticks.ticks) CHECK(tick.label.size() <= 16);
}

TEST_CASE("labels are never closer than asked for") {
  for (std::int64_t length = 10; length < 4'000'000'000'000; length = length * 7 / 3) {
    TimeMapping mapping({{77}, {77 + length}}, 1280);
    Ticks ticks = make_ticks(mapping, 90);
    double last = -1e9;
    int minor = 0;
    for (const Ticks::Tick& tick : ticks.ticks) {
      ++minor;
      if (!tick.major) continue;
      CHECK(mapping.x_of(tick.time) - last >= 89.9);
      last = mapping.x_of(tick.time);
    }
    CHECK(minor < 100);
  }
}

TEST_CASE("a time is written with the digits that the zoom can tell apart") {
  CHECK(format_time({1'234'567'890}, {1}) == "1.234\u2009567\u2009890 s");
  CHECK(format_time({1'234'567'890}, {1'000'000}) == "1.234 s");
  CHECK(format_time({-1'500'000'000}, {100'000'000}) == "\u22121.500 s");
  CHECK(format_time({61'000'000'000}, {1'000'000'000}) == "61 s");
}

TEST_CASE("a range is read with units, and a wrong one says what was expected") {
  CHECK(parse_range("1.2s..1500ms") == Interval{{1'200'000'000}, {1'500'000'000}});
  CHECK(parse_range("10us..20000ns") == Interval{{10'000}, {20'000}});
  CHECK(parse_range("0..2") == Interval{{0}, {2'000'000'000}});
  for (const char* wrong : {"", "1s", "2s..1s", "1s..1s", "a..b", "1s..2parsecs", "1..inf",
                            "1e300..2e300", "..", "1s..nan"})
    CHECK_THROWS_AS(parse_range(wrong), Error);
}

}  // namespace headway::gui
