// SPDX-License-Identifier: MIT
#include "cli/tune/gain.h"

#include <doctest/doctest.h>

namespace headway::tune {
namespace {

TEST_CASE("an exact comparison has an interval without width") {
  const Gain gain = measured_gain({{2.0, 4.0}}, {{1.5, 1.5}}, Typical::kMean, true, 1);
  CHECK(gain.share == doctest::Approx(0.5));
  CHECK(gain.interval.low == doctest::Approx(0.5));
  CHECK(gain.interval.high == doctest::Approx(0.5));
}

TEST_CASE("runs that differ widen the interval, however many steps each has") {
  const Block slow(50, 1.1);
  const Block fast(50, 0.9);
  const Gain apart =
      measured_gain({slow, fast, slow}, {fast, slow, fast}, Typical::kMedian, false, 1);
  CHECK(apart.interval.low < -0.1);
  CHECK(apart.interval.high > 0.1);
  const Gain alike = measured_gain({slow, slow}, {fast, fast}, Typical::kMedian, false, 1);
  CHECK(alike.interval.low > 0.18);
  CHECK(alike.interval.high < 0.19);
}

TEST_CASE("gains one after the other multiply what is left of the step") {
  const Gain half = measured_gain({{2.0}}, {{1.0}}, Typical::kMean, true, 1);
  const Gain fifth = measured_gain({{1.0}}, {{0.8}}, Typical::kMean, true, 2);
  const Gain both = chained(chained(no_gain(), half), fifth);
  CHECK(both.share == doctest::Approx(0.6));
  CHECK(both.interval.low == doctest::Approx(0.6));
  CHECK(both.interval.high == doctest::Approx(0.6));
}

TEST_CASE("the noise is what runs of the same settings differ by, and no less than its floor") {
  Noise noise(0.005);
  CHECK(noise.share(3) == doctest::Approx(0.005));
  noise.add({1.0});
  CHECK(noise.share(3) == doctest::Approx(0.005));
  noise.add({0.99, 1.01});
  // A standard deviation of 2.1 % by this difference; the variance of a comparison has two of them.
  CHECK(noise.share(1) == doctest::Approx(0.0581).epsilon(0.01));
  CHECK(noise.share(4) == doctest::Approx(0.0291).epsilon(0.01));
  const double before = noise.share(1);
  noise.add({1.0, 1.02, 1.01, 1.0, 3.0});  // something else had the machine for a while
  CHECK(noise.share(1) < 1.1 * before + 1e-9);
}

}  // namespace
}  // namespace headway::tune
