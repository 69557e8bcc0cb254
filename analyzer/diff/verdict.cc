// SPDX-License-Identifier: MIT
// What a diff says in words.
#include "analyzer/diff/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/diff/differences.h"
#include "analyzer/samples.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

/// "No difference that matters" needs an interval that excludes a difference of this size.
constexpr double kMatters = 0.02;

std::string time_text(double ns) {
  return format_duration({static_cast<std::int64_t>(ns)});
}

std::string percent_text(double share) {
  return format_signed(100 * share) + " %";
}

std::string test_text(const Comparison& c) {
  return c.between_runs ? std::string("including variance between runs") : p_text(c.p_value);
}

DiffVerdict verdict_of(const Comparison& c, double noise) {
  if (is_significant(c) && std::fabs(c.change) >= noise)
    return c.change < 0 ? DiffVerdict::kFaster : DiffVerdict::kSlower;
  if (c.interval.high - c.interval.low <= 2 * std::max(noise, kMatters)) return DiffVerdict::kSame;
  return DiffVerdict::kInconclusive;
}

std::string cost_text(const Diff& d) {
  const Comparison& c = d.step;
  return fmt::format("step cost {} → {}, {} (95 % interval {} to {}, {}, {} and {} steps)",
                     time_text(c.a), time_text(c.b), percent_text(c.change),
                     format_signed(100 * c.interval.low), percent_text(c.interval.high),
                     test_text(c), d.steps_a, d.steps_b);
}

std::string typical_text(const Diff& d) {
  const Comparison& c = d.typical;
  const std::string times = time_text(c.a) == time_text(c.b)
                                ? time_text(c.a)
                                : fmt::format("{} → {}", time_text(c.a), time_text(c.b));
  const std::string figures = fmt::format("{}, {}", percent_text(c.change), test_text(c));
  switch (d.typical_verdict) {
    case DiffVerdict::kSame:
      return fmt::format("Typical step unchanged ({})", times);
    case DiffVerdict::kInconclusive:
      return fmt::format("Typical step {}: no change beyond noise ({})", times, figures);
    case DiffVerdict::kFaster:
    case DiffVerdict::kSlower:
      break;
  }
  return fmt::format("Typical step {} ({}, effect size {})", times, figures,
                     format_signed(c.cliffs_delta, 2));
}

/// "In A every 40th step takes 198 ms longer"; empty when they hardly add to the step cost.
std::string slow_text(std::string_view side, const SlowSteps& slow, double cost, std::size_t steps,
                      double noise) {
  if (slow.count == 0 || static_cast<double>(slow.per_step.ns) < std::max(noise, kMatters) * cost)
    return "";
  const std::string which =
      slow.every > 1 ? fmt::format("every {}{} step takes", slow.every,
                                   slow.every % 10 == 1 && slow.every % 100 != 11   ? "st"
                                   : slow.every % 10 == 2 && slow.every % 100 != 12 ? "nd"
                                   : slow.every % 10 == 3 && slow.every % 100 != 13 ? "rd"
                                                                                    : "th")
                     : fmt::format("{} of {} steps take", slow.count, steps);
  return fmt::format(" In {} {} {} longer.", side, which, format_duration(slow.longer));
}

std::string throughput_text(const Diff& d) {
  if (!d.samples_per_s_a || !d.samples_per_s_b) return "";
  return fmt::format(" Throughput {} → {}.", samples_per_s_text(*d.samples_per_s_a),
                     samples_per_s_text(*d.samples_per_s_b));
}

/// What the step cost says; then the typical step, the slow steps and the throughput.
std::string sentence_of(const Diff& d, double noise) {
  const Comparison& c = d.step;
  std::string out;
  switch (d.verdict) {
    case DiffVerdict::kFaster:
    case DiffVerdict::kSlower: {
      const bool faster = d.verdict == DiffVerdict::kFaster;
      const double factor = faster ? c.a / std::max(1.0, c.b) : c.b / std::max(1.0, c.a);
      out = fmt::format("B is {} by {:.2f}×: {}.", faster ? "faster" : "slower", factor,
                        cost_text(d));
      break;
    }
    case DiffVerdict::kSame:
      out = fmt::format("No relevant difference: {}; {}.", cost_text(d), power_text(c, noise));
      break;
    case DiffVerdict::kInconclusive:
      out = fmt::format("Inconclusive: {}; only {}.", cost_text(d), power_text(c, noise));
      break;
  }
  return out + " " + typical_text(d) + "." + slow_text("A", d.slow_a, c.a, d.steps_a, noise) +
         slow_text("B", d.slow_b, c.b, d.steps_b, noise) + throughput_text(d);
}

/// The verdict without what it rests on.
std::string headline_of(const Diff& d) {
  const Comparison& c = d.step;
  const std::string step = fmt::format("{} → {} a step", time_text(c.a), time_text(c.b));
  switch (d.verdict) {
    case DiffVerdict::kFaster:
      return fmt::format("B is faster by {:.2f}×: {}.", c.a / std::max(1.0, c.b), step);
    case DiffVerdict::kSlower:
      return fmt::format("B is slower by {:.2f}×: {}.", c.b / std::max(1.0, c.a), step);
    case DiffVerdict::kSame:
      return fmt::format("No relevant difference: {}.", step);
    case DiffVerdict::kInconclusive:
      return fmt::format("Inconclusive: {}.", step);
  }
  return "";
}

}  // namespace

std::string p_text(double p) {
  return p < 0.001 ? "p < 0.001" : fmt::format("p = {:.2g}", p);
}

std::string power_text(const Comparison& c, double noise) {
  constexpr double kUseless = 10;
  const double least = std::max(c.minimum_detectable, noise);
  if (!(least < kUseless)) return "only tenfold changes are detectable";
  // A value that rounds to 0 is not 0.
  return fmt::format("changes of {:.1f} % or more are detectable", std::max(0.1, 100 * least));
}

void judge(Diff& d, bool comparable, double noise) {
  d.verdict = DiffVerdict::kInconclusive;
  d.typical_verdict = DiffVerdict::kInconclusive;
  const Comparison& c = d.step;
  if (d.steps_a == 0 || d.steps_b == 0) {
    d.sentence = fmt::format("Inconclusive: no steps to compare. The spans are {} and {}.",
                             time_text(c.a), time_text(c.b));
  } else if (!comparable) {
    d.sentence = fmt::format("Inconclusive: different kinds of devices; {}.", cost_text(d));
  } else if (d.steps_a < kLeastStepsASide || d.steps_b < kLeastStepsASide) {
    d.sentence = fmt::format(
        "Inconclusive: {} and {} steady steps are too few to separate change from noise (at least "
        "{} per side).",
        d.steps_a, d.steps_b, kLeastStepsASide);
  } else {
    d.verdict = verdict_of(c, noise);
    d.typical_verdict = verdict_of(d.typical, noise);
    d.sentence = sentence_of(d, noise);
    d.headline = headline_of(d);
  }
  if (!d.differences.empty())
    d.sentence = fmt::format("Different programs ({}). {}", to_text(d.differences), d.sentence);
}

}  // namespace headway::analyzer
