// SPDX-License-Identifier: MIT
#include "analyzer/diff/comparison.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "analyzer/diff/tables.h"

namespace headway::analyzer {
namespace {

/// Step durations with a relative standard deviation, around 100 ms; Box-Muller, so that every
/// standard library draws the same.
std::vector<double> steps(std::mt19937_64& random, std::size_t count, double noise, double factor) {
  auto uniform = [&] { return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53; };
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    double z = std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform());
    values.push_back(100e6 * factor * (1 + noise * z));
  }
  return values;
}

bool found(const Comparison& c) {
  return is_significant(c) && std::fabs(c.change) >= 0.01;
}

}  // namespace

TEST_CASE("equal runs are found to differ in at most one of twenty cases") {
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    std::mt19937_64 random(seed);
    RunSamples a = {steps(random, 30, 0.05, 1)};
    RunSamples b = {steps(random, 30, 0.05, 1)};
    wrong += found(compare_typical(a, b));
  }
  CHECK(wrong <= 5);
}

TEST_CASE("equal programs whose runs differ are not told apart by several runs") {
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    RunSamples a;
    RunSamples b;
    // Every run is faster or slower than the next by 4 %, as on a shared machine.
    for (RunSamples* side : {&a, &b}) {
      for (int run = 0; run < 3; ++run)
        side->push_back(steps(random, 10, 0.01, steps(random, 1, 0.04, 1)[0] / 100e6));
    }
    wrong += found(compare_typical(a, b));
  }
  CHECK(wrong <= 3);
}

TEST_CASE("a change of 3 % is found where the power suffices and missed where it does not") {
  int found_quiet = 0;
  int found_noisy = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    std::mt19937_64 random(seed);
    Comparison quiet =
        compare_typical({steps(random, 100, 0.02, 1)}, {steps(random, 100, 0.02, 1.03)});
    found_quiet += found(quiet);
    CHECK(quiet.minimum_detectable < 0.03);
    Comparison noisy =
        compare_typical({steps(random, 10, 0.10, 1)}, {steps(random, 10, 0.10, 1.03)});
    found_noisy += found(noisy);
    CHECK(noisy.minimum_detectable > 0.03);
  }
  CHECK(found_quiet >= 38);
  CHECK(found_noisy <= 10);
}

TEST_CASE("the least change that is announced is found in about four of five cases") {
  // What one pair of equal samples announces is planted into the next.
  int hits = 0;
  int tried = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    std::mt19937_64 random(seed);
    Comparison equal = compare_typical({steps(random, 30, 0.04, 1)}, {steps(random, 30, 0.04, 1)});
    double change = equal.minimum_detectable;
    hits +=
        found(compare_typical({steps(random, 30, 0.04, 1)}, {steps(random, 30, 0.04, 1 + change)}));
    ++tried;
  }
  CHECK(hits >= tried * 65 / 100);
  CHECK(hits <= tried * 98 / 100);
}

TEST_CASE("a change that all runs of a side share is found in spite of the variance between runs") {
  std::mt19937_64 random(7);
  RunSamples a;
  RunSamples b;
  for (int run = 0; run < 5; ++run) {
    a.push_back(steps(random, 30, 0.01, 1 + 0.005 * (run - 2)));
    b.push_back(steps(random, 30, 0.01, 1.10 + 0.005 * (run - 2)));
  }
  Comparison c = compare_typical(a, b);
  CHECK(found(c));
  CHECK(c.change == doctest::Approx(0.10).epsilon(0.1));
  CHECK(c.between_runs);
}

TEST_CASE("slow steps change the step cost and leave the typical step alone") {
  std::mt19937_64 random(3);
  std::vector<double> calm = steps(random, 158, 0.01, 1);
  std::vector<double> pauses = steps(random, 158, 0.01, 1);
  for (std::size_t at : {39, 79, 119}) pauses[at] += 33e9;
  const Comparison cost = compare_cost({pauses}, {calm});
  CHECK(is_significant(cost));
  CHECK(cost.change < -0.8);
  CHECK(!is_significant(compare_typical({pauses}, {calm})));
  CHECK(cost.a == doctest::Approx(100e6 + 3 * 33e9 / 158).epsilon(0.01));
}

TEST_CASE("the variance between runs counts for the step cost, too") {
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    RunSamples a;
    RunSamples b;
    for (RunSamples* side : {&a, &b}) {
      for (int run = 0; run < 3; ++run)
        side->push_back(steps(random, 10, 0.01, steps(random, 1, 0.04, 1)[0] / 100e6));
    }
    wrong += found(compare_cost(a, b));
  }
  CHECK(wrong <= 5);
}

TEST_CASE("the effect size is the share of pairs above minus that below") {
  std::vector<double> low = {1, 2, 3};
  std::vector<double> high = {4, 5};
  std::vector<double> mixed = {2, 2};
  CHECK(cliffs_delta(low, high) == 1);
  CHECK(cliffs_delta(high, low) == -1);
  CHECK(cliffs_delta(low, low) == 0);
  CHECK(cliffs_delta(low, mixed) == 0);
  CHECK(cliffs_delta({}, low) == 0);
}

TEST_CASE("an empty side has an interval without end") {
  Comparison c = compare_typical({}, {{1, 2, 3}});
  CHECK(std::isinf(c.interval.high));
  CHECK(c.p_value == 1);
}

TEST_CASE("names match exactly first, then by order where only numbers differ") {
  std::vector<std::string> a = {"conv", "layer_1/conv", "layer_2/conv", "relu", "only_a"};
  std::vector<std::string> b = {"layer_2/conv", "layer_7/conv", "relu_3", "conv", "only_b", "new"};
  constexpr std::size_t kNone = SIZE_MAX;
  CHECK(match_names(a, b) == std::vector<std::size_t>{2, 1, 3, 0, kNone, kNone});
}

}  // namespace headway::analyzer
