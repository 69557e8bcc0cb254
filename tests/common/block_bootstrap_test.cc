// SPDX-License-Identifier: MIT
#include "common/block_bootstrap.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace headway {
namespace {

using Series = std::vector<double>;

/// Box-Muller and modulo, so that every standard library draws the same.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  double uniform() { return (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53; }
  double normal() {
    return std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform());
  }
  std::size_t below(std::size_t limit) { return random_() % limit; }

  /// Steps of about 1, whose deviations pass on to the next step with `memory`.
  Series steps(std::size_t count, double noise, double memory = 0) {
    Series values;
    double deviation = noise * normal();
    for (std::size_t i = 0; i < count; ++i) {
      deviation = memory * deviation + std::sqrt(1 - memory * memory) * noise * normal();
      values.push_back(std::exp(deviation));
    }
    return values;
  }
  /// One step in `period` takes `longer` more, from a random one on.
  Series with_pauses(std::size_t count, std::size_t period, double longer) {
    Series values = steps(count, 0.02);
    for (std::size_t i = below(period); i < count; i += period) values[i] += longer;
    return values;
  }
  Series with_hiccups(std::size_t count, double probability, double longer) {
    Series values = steps(count, 0.02);
    for (double& value : values) {
      if (uniform() < probability) value += longer;
    }
    return values;
  }

 private:
  std::mt19937_64 random_;
};

constexpr int kDraws = 300;
constexpr int kResamples = 300;

/// The share of pairs that are told apart although one program made both, in percent.
double false_alarms(std::uint64_t seed, const std::function<Series(Draw&)>& make) {
  Draw draw(seed);
  int alarms = 0;
  for (int i = 0; i < kDraws; ++i) {
    const Series a = make(draw);
    const Series b = make(draw);
    alarms += compare_means(a, b, 1, kResamples).p_value < 0.05;
  }
  return 100.0 * alarms / kDraws;
}

}  // namespace

TEST_CASE("runs of one program are told apart in about one of twenty pairs, whatever their noise") {
  // docs/design/0051-step-cost.md has these figures. The error of a rate of 5 % over 300 pairs is
  // 1.3 points.
  struct Case {
    const char* what;
    double most;
    std::function<Series(Draw&)> make;
  };
  const Case cases[] = {
      {"independent steps", 9, [](Draw& d) { return d.steps(160, 0.05); }},
      {"few independent steps", 9, [](Draw& d) { return d.steps(24, 0.05); }},
      {"each step half like the last", 10, [](Draw& d) { return d.steps(160, 0.05, 0.5); }},
      {"each step much like the last", 10, [](Draw& d) { return d.steps(160, 0.05, 0.8); }},
      {"every 40th step pauses", 5, [](Draw& d) { return d.with_pauses(160, 40, 300); }},
      {"every 10th step pauses", 5, [](Draw& d) { return d.with_pauses(160, 10, 3); }},
      {"one step in fifty has a hiccup", 9, [](Draw& d) { return d.with_hiccups(160, 0.02, 50); }},
  };
  for (const Case& one : cases) {
    const double rate = false_alarms(20261123, one.make);
    MESSAGE(one.what << ": " << rate << " % false alarms");
    CAPTURE(one.what);
    CHECK(rate <= one.most);
  }
}

TEST_CASE("the least change that is announced is found in about four of five pairs") {
  Draw draw(5);
  for (double memory : {0.0, 0.5}) {
    int found = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double change =
          compare_means(draw.steps(120, 0.05, memory), draw.steps(120, 0.05, memory), 1, kResamples)
              .detectable;
      CHECK(change > 0.001);
      Series b = draw.steps(120, 0.05, memory);
      for (double& value : b) value *= 1 + change;
      found += compare_means(draw.steps(120, 0.05, memory), b, 1, kResamples).p_value < 0.05;
    }
    MESSAGE("memory " << memory << ": " << 100.0 * found / kDraws << " % found");
    CHECK(found >= kDraws * 68 / 100);
    CHECK(found <= kDraws * 95 / 100);
  }
}

TEST_CASE("three pauses at equal distances are a rule, three anywhere are chance") {
  Draw draw(7);
  const Series calm = draw.steps(158, 0.01);
  Series pauses = draw.steps(158, 0.01);
  for (std::size_t at : {39, 79, 119}) pauses[at] += 300;
  const MeanChange rule = compare_means(pauses, calm);
  CHECK(rule.p_value < 0.01);
  CHECK(rule.interval.high < -0.5);
  Series hiccups = draw.steps(158, 0.01);
  for (std::size_t at : {12, 55, 140}) hiccups[at] += 300;
  const MeanChange chance = compare_means(hiccups, calm);
  CHECK(chance.p_value > 0.05);
  CHECK(chance.interval.low < 0);
  CHECK(chance.interval.high > 0);
  CHECK(chance.detectable > 1);
}

TEST_CASE("blocks are longer than the correlation, and hold whole periods") {
  Draw draw(9);
  int longer_than_one = 0;
  int longer_than_three = 0;
  for (int i = 0; i < 100; ++i) {
    longer_than_one += plan_blocks(draw.steps(200, 0.05)).length > 1;
    longer_than_three += plan_blocks(draw.steps(200, 0.05, 0.8)).length > 3;
  }
  CHECK(longer_than_one <= 25);
  CHECK(longer_than_three >= 95);
  const BlockPlan periodic = plan_blocks(draw.with_pauses(200, 40, 300));
  CHECK(periodic.periodic);
  CHECK(periodic.length % 40 == 0);
  CHECK(plan_blocks(draw.steps(2, 0.05)).length == 1);
  CHECK(plan_blocks({}).length == 1);
}

TEST_CASE("a constant series differs from another one for certain and from itself not at all") {
  const Series one(20, 5.0);
  const Series two(20, 6.0);
  CHECK(compare_means(one, one).p_value == 1);
  CHECK(std::fabs(compare_means(one, one).interval.low) < 1e-9);
  CHECK(compare_means(one, two).p_value < 1e-6);
  CHECK(compare_means(one, two).change == doctest::Approx(0.2));
  CHECK(std::isinf(compare_means(one, {}).interval.high));
  CHECK(std::isinf(compare_means(Series{1}, Series{2}).interval.high));
}

TEST_CASE("the interval excludes no change just when the test is below 5 %") {
  Draw draw(11);
  for (int i = 0; i < 200; ++i) {
    const Series a = draw.with_hiccups(60, 0.03, 4);
    const MeanChange c = compare_means(a, draw.with_hiccups(60, 0.05, 4), 1, 200);
    const bool excludes = c.interval.low > 0 || c.interval.high < 0;
    CHECK(excludes == (c.p_value < 0.05));
  }
}

TEST_CASE("Student's quantiles are within 3 % from three degrees of freedom") {
  CHECK(student_quantile(1.959964, 3) == doctest::Approx(3.182).epsilon(0.03));
  CHECK(student_quantile(1.959964, 10) == doctest::Approx(2.228).epsilon(0.01));
  CHECK(student_quantile(1.959964, 1) > 12.706);
  CHECK(normal_of_student(student_quantile(1.5, 4), 4) == doctest::Approx(1.5));
}

TEST_CASE("ranks of correlated steps count for fewer") {
  Draw draw(13);
  CHECK(rank_design_effect(draw.steps(200, 0.05, 0.8), draw.steps(200, 0.05, 0.8)) > 2);
  CHECK(rank_design_effect(draw.steps(200, 0.05), draw.steps(200, 0.05)) < 2);
  CHECK(rank_design_effect({}, draw.steps(20, 0.05)) == 1);
}

}  // namespace headway
