// SPDX-License-Identifier: MIT
#include "cli/tune/search.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "common/error.h"
#include "tests/cli/tune/fake_runs.h"

namespace headway::tune {
namespace {

using test::FakeRuns;
using test::predicted;
using test::Values;

/// Waits for the device hide the update: without them the update is most of the step.
FakeRuns two_causes() {
  FakeRuns runs;
  runs.simulate();
  runs.add("fused_optimizer", "off", {"multi-tensor"});
  runs.add("sync", "op", {"never"});
  runs.step = [](const Values& v) {
    return 1.0 + (v.at("sync") == "op" ? 3.0 : 0) + (v.at("fused_optimizer") == "off" ? 1.0 : 0);
  };
  runs.predict = [step = runs.step](const Values& v) {
    Forecasts forecasts;
    for (auto [name, value, fix] : {std::tuple{"fused_optimizer", "multi-tensor", "optimizer"},
                                    std::tuple{"sync", "never", "syncs"}}) {
      Values changed = v;
      changed[name] = value;
      forecasts.fixes.push_back(
          predicted(fix, words_of({{name, value}}), 1 - step(changed) / step(v)));
    }
    return forecasts;
  };
  return runs;
}

std::vector<std::string> decisions(const Result& result) {
  std::vector<std::string> all;
  for (const Trial& trial : result.trials)
    all.push_back(words_of(trial.change) + ": " + std::string(decision_id(trial.decision)));
  return all;
}
using Words = std::vector<std::string>;

TEST_CASE("what is predicted to gain most is tried first, and predictions are made again") {
  FakeRuns runs = two_causes();
  const Result result = search(runs.switches, {}, runs);
  CHECK(decisions(result) == Words{"--sync never: kept", "--fused-optimizer multi-tensor: kept"});
  CHECK(runs.log == Words{"run ", "record ", "run --sync never", "record --sync never",
                          "run --sync never --fused-optimizer multi-tensor",
                          "record --sync never --fused-optimizer multi-tensor"});
  CHECK(result.trials[1].forecast->gain == doctest::Approx(0.5));
  CHECK(result.total.share == doctest::Approx(0.8));
  CHECK(result.best_step_s == doctest::Approx(1.0));
  CHECK(result.stopped == Stopped::kDone);
  CHECK(*result.prediction_error < 1e-9);
}

TEST_CASE("a healthy run is measured and recorded once, and nothing is tried") {
  FakeRuns runs = two_causes();
  for (TrainerSwitch& one : runs.switches.all)
    if (!one.values.empty()) one.value = one.values.front();
  const Result result = search(runs.switches, {}, runs);
  CHECK(result.trials.empty());
  CHECK(runs.log.size() == 2);
  REQUIRE(result.untried.size() == 2);
  CHECK(result.untried[0].why == "so already");
  CHECK(!result.prediction_error);
}

TEST_CASE("a fix whose interval ends below the noise is not tried") {
  FakeRuns runs;
  runs.add("sync", "op", {"never"});
  runs.noise = 0.02;
  runs.predict = [](const Values&) {
    return Forecasts{{}, {predicted("syncs", "--sync never", 0.004, 0.001)}};
  };
  const Result result = search(runs.switches, {}, runs);
  CHECK(result.trials.empty());
  CHECK(result.noise > 0.01);
  REQUIRE(result.untried.size() == 1);
  CHECK(result.untried[0].why.find("at most 0.5 %") != std::string::npos);
}

TEST_CASE("runs are interleaved, and a gain within the noise is not kept") {
  FakeRuns runs;
  runs.add("sync", "op", {"never"});
  runs.noise = 0.05;
  runs.predict = [](const Values&) {
    return Forecasts{{}, {predicted("syncs", "--sync never", 0.3)}};
  };
  const Result result = search(runs.switches, {}, runs);
  CHECK(Words(runs.log.begin() + 5, runs.log.begin() + 12) ==
        Words{"record ", "run ", "run --sync never", "run --sync never", "run ", "run ",
              "run --sync never"});
  CHECK(decisions(result) == Words{"--sync never: no-gain"});
  CHECK(result.kept.empty());
  CHECK(*result.prediction_error > 0.2);  // predicted, and not there
}

TEST_CASE("a gain well above the noise is kept with an interval that holds it") {
  FakeRuns runs = two_causes();
  std::erase_if(runs.switches.all, [](const TrainerSwitch& one) { return one.name == "device"; });
  runs.noise = 0.02;
  const Result result = search(runs.switches, {}, runs);
  CHECK(result.kept.size() == 2);
  CHECK(result.total.interval.low < 0.8);
  CHECK(result.total.interval.high > 0.8);
  CHECK(result.total.interval.low > 0.75);
}

TEST_CASE("what a fix was wrong about is not tried again beside the same settings") {
  FakeRuns runs = two_causes();
  const auto step = runs.step;
  runs.step = [step](const Values& v) {  // syncs cost nothing
    Values without = v;
    without["sync"] = "never";
    return step(without);
  };
  const Result result = search(runs.switches, {}, runs);
  CHECK(decisions(result) == Words{"--sync never: no-gain", "--fused-optimizer multi-tensor: kept",
                                   "--sync never: no-gain"});
}

TEST_CASE("alternatives that realise one fix are each tried") {
  FakeRuns runs;
  runs.simulate();
  runs.add("fused_bn", "off", {"on"});
  runs.add("graph_compiler", "off", {"on"});
  runs.step = [](const Values& v) { return v.at("graph_compiler") == "on" ? 0.8 : 1.0; };
  runs.predict = [](const Values& v) {
    return Forecasts{{},
                     {predicted("fuse", "--fused-bn on, --graph-compiler on",
                                v.at("graph_compiler") == "on" ? 0.0 : 0.2, 0)}};
  };
  const Result result = search(runs.switches, {}, runs);
  CHECK(decisions(result) == Words{"--fused-bn on: no-gain", "--graph-compiler on: kept"});
}

TEST_CASE("numbers without a prediction climb while they gain, up first, then down") {
  FakeRuns runs;
  runs.simulate();
  runs.add_number("workers", "2", 1, 64);
  runs.add_number("prefetch", "8", 1, 64);
  runs.step = [](const Values& v) {
    const double workers = std::stod(v.at("workers"));
    return 1 + 1 / std::min(workers, 8.0) + std::stod(v.at("prefetch")) / 100;
  };
  const Result result = search(runs.switches, {}, runs);
  CHECK(decisions(result) == Words{"--workers 4: kept", "--workers 8: kept",
                                   "--workers 16: no-gain", "--prefetch 16: slower",
                                   "--prefetch 4: kept", "--prefetch 2: kept",
                                   "--prefetch 1: kept"});
  CHECK(words_of(result.kept) == "--workers 8 --prefetch 1");
}

TEST_CASE("a ceiling below the noise spares the switches that it is about") {
  FakeRuns runs;
  runs.simulate();
  runs.add_number("workers", "2", 1, 64);
  runs.add_number("run_ahead", "2", 1, 8);
  for (const bool applies : {true, false}) {
    runs.log.clear();
    runs.predict = [applies](const Values&) {
      Forecast ceiling = predicted("free-input", "--workers, --prefetch", 0.0, 0.0);
      ceiling.ceiling = true;
      ceiling.applies = applies;
      ceiling.text = "no thread waits for input";
      return Forecasts{{}, {ceiling}};
    };
    const Result result = search(runs.switches, {}, runs);
    CHECK(decisions(result) == Words{"--run-ahead 4: no-gain", "--run-ahead 1: no-gain"});
    REQUIRE(result.untried.size() == 1);
    CHECK(result.untried[0].switches == "--workers");
  }
}

TEST_CASE("without predictions every tunable switch is tried, in the trainer's order") {
  FakeRuns runs = two_causes();
  runs.predict = [](const Values&) { return Forecasts{"no steps were found", {}}; };
  const Result result = search(runs.switches, {}, runs);
  CHECK(decisions(result) == Words{"--fused-optimizer multi-tensor: kept", "--sync never: kept"});
  CHECK(result.cannot == "no steps were found");
}

TEST_CASE("switches that are not to be changed stay, with the reason") {
  FakeRuns runs;
  runs.simulate();
  runs.add_fixed("batch", "1");
  runs.add("precision", "fp32", {"tf32"});
  runs.switches.all.back().when_allowed = true;
  runs.step = [](const Values& v) { return v.at("precision") == "tf32" ? 0.5 : 1.0; };
  runs.predict = [](const Values&) {
    return Forecasts{
        {},
        {predicted("tensor-cores", "--precision tf32", 0.5), predicted("larger", "--batch 8", 0.5),
         predicted("graph", "--cuda-graph on", 0.5)}};
  };
  const Result result = search(runs.switches, {}, runs);
  CHECK(result.trials.empty());
  REQUIRE(result.untried.size() == 3);
  CHECK(result.untried[0].why.find("--allow precision") != std::string::npos);
  CHECK(result.untried[1].why.find("computation") != std::string::npos);
  CHECK(result.untried[2].why.find("headway-train") != std::string::npos);

  Options options;
  options.allow = {"precision"};
  CHECK(words_of(search(runs.switches, options, runs).kept) == "--precision tf32");
}

TEST_CASE("--only leaves everything else as it is") {
  FakeRuns runs = two_causes();
  Options options;
  options.only = {"fused_optimizer"};
  const Result result = search(runs.switches, options, runs);
  CHECK(words_of(result.kept) == "--fused-optimizer multi-tensor");
  CHECK(std::ranges::any_of(result.untried, [](const Untried& left) {
    return left.why.find("--only") != std::string::npos;
  }));
}

TEST_CASE("wrong names in --only and --allow list the right ones") {
  FakeRuns runs = two_causes();
  Options options;
  options.only = {"synk"};
  CHECK_THROWS_WITH_AS(search(runs.switches, options, runs),
                       doctest::Contains("fused_optimizer, sync"), Error);
  options.only = {"jitter"};
  CHECK_THROWS_WITH_AS(search(runs.switches, options, runs), doctest::Contains("--only "), Error);
  options.only = {};
  options.allow = {"sync"};
  CHECK_THROWS_WITH_AS(search(runs.switches, options, runs), doctest::Contains("--allow sync"),
                       Error);
}

TEST_CASE("a budget too short for one comparison says how long one run takes") {
  for (const double budget : {0.0, 2.5}) {
    FakeRuns runs = two_causes();
    Options options;
    options.budget_s = budget;
    CHECK_THROWS_WITH_AS(search(runs.switches, options, runs), doctest::Contains("1.00 s"), Error);
    CHECK(runs.log.size() == 1);
  }
}

TEST_CASE("a budget that is used in the middle leaves what was found and what was not tried") {
  FakeRuns runs = two_causes();
  Options options;
  options.budget_s = 4.5;  // base, recording, one comparison, recording
  const Result result = search(runs.switches, options, runs);
  CHECK(words_of(result.kept) == "--sync never");
  CHECK(result.stopped == Stopped::kBudget);
  CHECK(std::ranges::any_of(result.untried, [](const Untried& left) {
    return left.switches == "--fused-optimizer multi-tensor" &&
           left.why.find("budget") != std::string::npos;
  }));
}

TEST_CASE("a signal in the middle keeps what was found") {
  FakeRuns runs = two_causes();
  runs.before_run = [](int run, const Values&) {
    if (run == 5) throw Interrupted{2};
  };
  const Result result = search(runs.switches, {}, runs);
  CHECK(words_of(result.kept) == "--sync never");
  CHECK(result.stopped == Stopped::kSignal);
  CHECK(result.signal == 2);
}

TEST_CASE("a change with which the trainer fails is not kept, and the search goes on") {
  FakeRuns runs = two_causes();
  runs.before_run = [](int, const Values& v) {
    if (v.at("sync") == "never") throw RunFailed("headway-train: no");
  };
  const Result result = search(runs.switches, {}, runs);
  REQUIRE(!result.trials.empty());
  CHECK(result.trials[0].decision == Decision::kFailed);
  CHECK(result.trials[0].why == "headway-train: no");
  CHECK(words_of(result.kept) == "--fused-optimizer multi-tensor");
}

TEST_CASE("a base that fails is an error with what the trainer said") {
  FakeRuns runs = two_causes();
  runs.before_run = [](int, const Values&) { throw RunFailed("headway-train: out of memory"); };
  CHECK_THROWS_WITH_AS(search(runs.switches, {}, runs), "headway-train: out of memory", Error);
}

TEST_CASE("a change that is clearly slower is not repeated") {
  FakeRuns runs;
  runs.add("sync", "op", {"never"});
  runs.step = [](const Values& v) { return v.at("sync") == "never" ? 2.0 : 1.0; };
  runs.predict = [](const Values&) {
    return Forecasts{{}, {predicted("syncs", "--sync never", 0.3)}};
  };
  const Result result = search(runs.switches, {}, runs);
  CHECK(decisions(result) == Words{"--sync never: slower"});
  CHECK(result.trials[0].pairs == 1);
}

}  // namespace
}  // namespace headway::tune
