// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>

#include "cli/tune/search.h"

namespace headway::tune::test {

/// 27 settings of three arguments, with what a step takes in each, drawn from a seed: two runs of one setting
/// differ by about 1 %.
class Surface {
 public:
  enum class Shape : std::uint8_t {
    kSum,       ///< the logarithm is a sum of an effect for each value
    kTogether,  ///< and each two arguments change each other's effect by about a third
    kPipeline,  ///< batches are made beside the step: the slower of both counts
  };
  Surface(Shape shape, std::uint64_t seed) : random_(seed) {
    std::array<std::array<double, 3>, 3> effect{};
    for (auto& argument : effect)
      for (double& one : argument) one = normal(0.25);
    const double load = 0.02 + 0.06 * uniform();
    const double compute = 0.005 + 0.02 * uniform();
    for (std::size_t i = 0; i < 27; ++i) {
      const std::array<std::size_t, 3> at = {i / 9, i / 3 % 3, i % 3};
      double log_step = std::log(0.02);
      for (std::size_t k = 0; k < 3; ++k) log_step += effect[k][at[k]];
      if (shape == Shape::kTogether) log_step += normal(0.25 / 3 * std::sqrt(3.0));
      if (shape == Shape::kPipeline) {
        const double made = load * std::exp(effect[1][at[1]]);
        const double used = compute * std::exp(effect[2][at[2]]);
        const auto workers = static_cast<double>(2 * at[0]);
        log_step = std::log(workers == 0 ? made + used : std::max(made / workers, used) * 1.02);
      }
      step_s_[i] = std::exp(log_step);
    }
  }

  double step_s(const std::array<std::size_t, 3>& at) const {
    return step_s_[9 * at[0] + 3 * at[1] + at[2]];
  }
  double best_s() const { return *std::min_element(step_s_.begin(), step_s_.end()); }
  double normal(double sd) {
    // The same on every platform, which std::normal_distribution is not.
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sd * sum;
  }
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1.0p-53; }

 private:
  std::mt19937_64 random_;
  std::array<double, 27> step_s_{};
};

/// Runs of a surface. What is predicted: for the first `predicted` arguments the best value of each beside the run's
/// others, off by about 10 % of what it gains and 2 % of the step.
class SurfaceRuns final : public Runs {
 public:
  SurfaceRuns(Surface surface, std::size_t predicted)
      : surface_(std::move(surface)), predicted_(predicted) {
    for (const char* name : {"--num-workers", "--second", "--third"}) {
      TrainerSwitch& one = knobs.all.emplace_back();
      one.name = name;
      one.value = "0";
      one.tunable = true;
      one.values = {"2", "4"};
      one.fixes = {kFixes[knobs.all.size() - 1]};
    }
  }

  TrainerSwitches knobs;
  int count = 0;

  std::array<std::size_t, 3> at(const Change& change) const {
    std::array<std::size_t, 3> result{};
    for (const auto& [name, value] : change)
      for (std::size_t k = 0; k < 3; ++k)
        if (knobs.all[k].name == name) result[k] = static_cast<std::size_t>(std::stoi(value)) / 2;
    return result;
  }
  double step_s(const Change& change) const { return surface_.step_s(at(change)); }
  const Surface& surface() const { return surface_; }

  Run measure(const Change& change, double) override {
    ++count;
    const double level = step_s(change) * (1 + surface_.normal(0.01));
    Run run;
    for (int i = 0; i < 40; ++i) run.steps.push_back(level * (1 + surface_.normal(0.03)));
    run.wall_s = 1;
    run.forecasts = forecast(change, 0);
    return run;
  }
  Forecasts forecast(const Change& change, double) override {
    Forecasts result;
    const std::array<std::size_t, 3> here = at(change);
    for (std::size_t k = 0; k < predicted_; ++k) {
      std::array<std::size_t, 3> best = here;
      for (std::size_t value = 0; value < 3; ++value) {
        std::array<std::size_t, 3> there = here;
        there[k] = value;
        if (surface_.step_s(there) < surface_.step_s(best)) best = there;
      }
      Forecast one;
      one.fix = kFixes[k];
      one.applies = best != here;
      one.switches = "--workers " + std::to_string(2 * best[k]);
      const double gain = 1 - surface_.step_s(best) / surface_.step_s(here);
      one.gain = gain * (1 + surface_.normal(0.1)) + surface_.normal(0.02);
      one.interval = {one.gain - 0.04 - 0.2 * gain, one.gain + 0.04 + 0.2 * gain};
      result.fixes.push_back(one);
    }
    return result;
  }
  double elapsed_s() override { return count; }
  void tell(std::string_view) override {}

 private:
  /// One for each argument, whose settings name a number of workers.
  static constexpr std::array<const char*, 3> kFixes = {"more-workers", "use-workers",
                                                        "fewer-workers"};
  Surface surface_;
  std::size_t predicted_;
};

}  // namespace headway::tune::test
