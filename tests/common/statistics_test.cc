// SPDX-License-Identifier: MIT
#include "common/statistics.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

namespace headway {

TEST_CASE("percentiles interpolate between order statistics") {
  std::vector<double> sorted = {1, 2, 3, 4};
  CHECK(percentile_sorted(sorted, 0.5) == doctest::Approx(2.5));
  CHECK(percentile_sorted(sorted, 0.9) == doctest::Approx(3.7));
  CHECK(percentile_sorted(sorted, 0) == 1);
  CHECK(percentile_sorted(sorted, 1) == 4);
  CHECK(percentile_sorted({}, 0.5) == 0);
  CHECK(median_absolute_deviation(std::vector<double>{1, 1, 2, 2, 4, 6, 9}) == doctest::Approx(1));
}

TEST_CASE("Mann-Whitney agrees with published values") {
  // Reference: scipy.stats.mannwhitneyu(a, b, method="asymptotic").pvalue == 0.11134688653314041.
  std::vector<double> a = {19, 22, 16, 29, 24};
  std::vector<double> b = {20, 11, 17, 12};
  CHECK(mann_whitney_p(a, b) == doctest::Approx(0.11134688653314041));
  CHECK(mann_whitney_p(a, a) == doctest::Approx(1));
  CHECK(mann_whitney_p({}, b) == 1);
  std::vector<double> equal(10, 3.0);
  CHECK(mann_whitney_p(equal, equal) == 1);
}

TEST_CASE("the bootstrap interval covers a real change and excludes none") {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(0, 1);
  std::vector<double> before;
  std::vector<double> after;
  for (int i = 0; i < 60; ++i) {
    before.push_back(100 + noise(random));
    after.push_back(90 + noise(random));
  }
  Bounds change = bootstrap_median_change(before, after, 0.95);
  CHECK(change.low < -0.1);
  CHECK(change.high > -0.1);
  CHECK(change.high < -0.08);
  Bounds none = bootstrap_median_change(before, before, 0.95);
  CHECK(none.low <= 0);
  CHECK(none.high >= 0);
  CHECK(std::isinf(bootstrap_median_change({}, after, 0.95).high));
}

TEST_CASE("the bootstrap gives the same bounds every time") {
  std::vector<double> a = {1, 2, 3, 4, 5};
  std::vector<double> b = {2, 3, 4, 5, 6};
  CHECK(bootstrap_median_change(a, b, 0.9).low == bootstrap_median_change(a, b, 0.9).low);
}

}  // namespace headway
