// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/tune/search.h"

namespace headway::tune::test {

using Values = std::map<std::string, std::string>;

/// A trainer whose step is a formula of its switches. Each run takes a second of a clock of its own.
class FakeRuns final : public Runs {
 public:
  TrainerSwitches switches;
  std::function<double(const Values&)> step = [](const Values&) { return 1.0; };
  /// What is predicted for the values in effect.
  std::function<Forecasts(const Values&)> predict = [](const Values&) { return Forecasts{}; };
  /// Called before each run with its number, from 1; may throw what Runs may throw.
  std::function<void(int, const Values&)> before_run = [](int, const Values&) {};
  double noise = 0;  ///< share by which runs differ at most
  std::vector<std::string> log;
  double clock = 0;

  void add(std::string name, std::string value, std::vector<std::string> values) {
    switches.all.push_back({.name = std::move(name),
                            .value = std::move(value),
                            .tunable = true,
                            .values = std::move(values)});
  }
  void add_number(std::string name, std::string value, std::int64_t least, std::int64_t most) {
    switches.all.push_back({.name = std::move(name),
                            .value = std::move(value),
                            .tunable = true,
                            .least = least,
                            .most = most});
  }
  void add_fixed(std::string name, std::string value) {
    switches.all.push_back({.name = std::move(name), .value = std::move(value)});
  }
  void simulate() {
    add_fixed("device", "sim");
    add_fixed("jitter", "0");
  }

  Values values(const Change& change) const {
    Values all;
    for (const TrainerSwitch& one : switches.all) all[one.name] = one.value;
    for (const auto& [name, value] : change) all[name] = value;
    return all;
  }

  Run measure(const Change& change, double) override {
    log.push_back("run " + words_of(change));
    clock += 1;
    before_run(++runs_, values(change));
    // Runs differ in a fixed order that has nothing to do with what is run.
    const double off = noise * (static_cast<double>((runs_ * 7) % 5) / 2 - 1);
    const double s = step(values(change)) * (1 + off);
    return {{s * 0.999, s, s, s * 1.001}, 1};
  }
  Forecasts forecast(const Change& change, double) override {
    log.push_back("record " + words_of(change));
    clock += 1;
    before_run(++runs_, values(change));
    return predict(values(change));
  }
  double elapsed_s() override { return clock; }
  void tell(std::string_view) override {}

 private:
  int runs_ = 0;
};

inline Forecast predicted(std::string fix, std::string words, double gain, double margin = 0.01) {
  return {.fix = std::move(fix),
          .switches = std::move(words),
          .ceiling = false,
          .applies = true,
          .text = {},
          .gain = gain,
          .interval = {gain - margin, gain + margin}};
}

}  // namespace headway::tune::test
