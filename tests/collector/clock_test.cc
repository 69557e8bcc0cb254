// SPDX-License-Identifier: MIT
#include "collector/record/messages/clock.h"

#include <doctest/doctest.h>
#include <time.h>

#include <vector>

#include "tests/support/property.h"

namespace headway::record {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

ClockReading reading(std::int64_t ns, std::int64_t realtime_offset = 0) {
  return {1'700'000'000 * kSecond + ns + realtime_offset, 5 * kSecond + ns,
          static_cast<std::uint64_t>(10'000 + 3 * ns)};  // 3 GHz
}

}  // namespace

TEST_CASE("clocks read together lie together and advance") {
  ClockReading a = read_clocks();
  ClockReading b = read_clocks();
  CHECK(b.monotonic_ns > a.monotonic_ns);
  CHECK(b.tsc >= a.tsc);
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  std::int64_t realtime = now.tv_sec * kSecond + now.tv_nsec;
  CHECK(realtime - b.realtime_ns >= 0);
  CHECK(realtime - b.realtime_ns < kSecond);
}

TEST_CASE("stamps of all clocks become times since the session start") {
  TimeAxis axis(reading(0));
  axis.add_anchor(reading(1'000'000));
  axis.add_anchor(reading(2'000'000));
  for (std::int64_t ns : {0L, 10L, 999'999L, 1'000'000L, 1'500'000L, 2'000'000L}) {
    CHECK(axis.from_tsc(10'000 + 3 * static_cast<std::uint64_t>(ns)).ns == ns);
    CHECK(axis.from_realtime(1'700'000'000 * kSecond + ns).ns == ns);
    CHECK(axis.from_monotonic(5 * kSecond + ns).ns == ns);
  }
}

TEST_CASE("the conversion of the counter follows a rate that changes, without ever going back") {
  test::check_property("monotonic", [](const std::vector<std::uint16_t>& steps) {
    TimeAxis axis(reading(0));
    ClockReading at = reading(0);
    std::vector<ClockReading> anchors = {at};
    for (std::uint16_t step : steps) {
      // A rate between 2.9 and 3.1 ticks a ns, readings 1 to 66 us apart with noise.
      std::int64_t ns = 1000 + step;
      at.monotonic_ns += ns;
      at.realtime_ns += ns;
      at.tsc += static_cast<std::uint64_t>(ns * (29 + step % 3) / 10);
      anchors.push_back(at);
      axis.add_anchor(at);
    }
    TimeNs last{-1};
    for (std::size_t i = 0; i + 1 < anchors.size(); ++i) {
      for (std::uint64_t k = 0; k < 4; ++k) {
        std::uint64_t tsc = anchors[i].tsc + (anchors[i + 1].tsc - anchors[i].tsc) * k / 4;
        TimeNs time = axis.from_tsc(tsc);
        RC_ASSERT(time >= last);
        RC_ASSERT(time.ns <= axis.newest().monotonic_ns - 5 * kSecond);
        last = time;
      }
    }
  });
}

TEST_CASE("a time once converted stays the same when later readings come") {
  TimeAxis axis(reading(0));
  axis.add_anchor(reading(1'000'000));
  TimeNs before = axis.from_tsc(10'000 + 3 * 700'001);
  for (int i = 2; i < 100; ++i) {
    ClockReading noisy = reading(i * 1'000'000);
    noisy.tsc += static_cast<std::uint64_t>(i % 7);
    axis.add_anchor(noisy);
  }
  CHECK(axis.from_tsc(10'000 + 3 * 700'001) == before);
}

TEST_CASE("a step of the wall clock is counted and moves no event") {
  for (std::int64_t step : {-3600 * kSecond, 3600 * kSecond, 5'000'000L}) {
    TimeAxis axis(reading(0));
    axis.add_anchor(reading(kSecond));
    axis.add_anchor(reading(2 * kSecond, step));
    axis.add_anchor(reading(3 * kSecond, step));
    CHECK(axis.clock_steps() == 1);
    // Stamped before the step, drained after it; and stamped after it.
    CHECK(axis.from_realtime(reading(900'000'000).realtime_ns).ns == 900'000'000);
    CHECK(axis.from_realtime(reading(2'500'000'000, step).realtime_ns).ns == 2'500'000'000);
    CHECK(axis.from_tsc(10'000 + 3ull * 2'500'000'000).ns == 2'500'000'000);
  }
}

TEST_CASE("stamps that no clock has given lie far outside, on the side where they are") {
  for (std::int64_t step : {std::int64_t{0}, 3600 * kSecond}) {
    TimeAxis axis(reading(0));
    axis.add_anchor(reading(kSecond, step));
    for (std::int64_t stamp : {INT64_MIN, INT64_MIN / 7 * 6, std::int64_t{0}})
      CHECK(axis.from_realtime(stamp).ns < 0);
    CHECK(axis.from_realtime(INT64_MAX) > axis.from_monotonic(axis.newest().monotonic_ns));
    CHECK(axis.from_tsc(0).ns < 0);
    CHECK(axis.from_tsc(UINT64_MAX) > axis.from_monotonic(axis.newest().monotonic_ns));
  }
}

TEST_CASE("reading noise below a millisecond is no step") {
  TimeAxis axis(reading(0));
  for (int i = 1; i < 50; ++i) axis.add_anchor(reading(i * kSecond, i % 2 ? 900'000 : -50));
  CHECK(axis.clock_steps() == 0);
  CHECK(axis.from_realtime(1'700'000'000 * kSecond + 7).ns == 7);
}

TEST_CASE("readings that arrive late or twice are ignored") {
  TimeAxis axis(reading(0));
  axis.add_anchor(reading(2'000'000));
  axis.add_anchor(reading(1'000'000));
  axis.add_anchor(reading(2'000'000));
  CHECK(axis.newest().monotonic_ns == 5 * kSecond + 2'000'000);
  CHECK(axis.from_tsc(10'000 + 3 * 1'500'000).ns == 1'500'000);
}

TEST_CASE("stamps that waited for long are converted as they were when they were new") {
  TimeAxis axis(reading(0), {100 * kSecond});
  ClockReading at = reading(0);
  std::vector<std::pair<std::uint64_t, TimeNs>> stamps;
  for (int i = 0; i < 20'000; ++i) {
    const std::int64_t ns = 1'000'000 + i % 7 * 1'000;
    at.monotonic_ns += ns;
    at.realtime_ns += ns;
    at.tsc += static_cast<std::uint64_t>(ns * (29 + i % 3) / 10);
    axis.add_anchor(at);
    const std::uint64_t stamp = at.tsc - static_cast<std::uint64_t>(i % 100);
    stamps.emplace_back(stamp, axis.from_tsc(stamp));
  }
  // In order, as a ring is read, and all over the place, as rings of many threads are.
  for (const auto& [stamp, time] : stamps) REQUIRE(axis.from_tsc(stamp) == time);
  for (std::size_t i = 0; i < stamps.size(); ++i) {
    const auto& [stamp, time] = stamps[i * 7919 % stamps.size()];
    REQUIRE(axis.from_tsc(stamp) == time);
  }
}

}  // namespace headway::record
