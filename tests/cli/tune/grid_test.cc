// SPDX-License-Identifier: MIT
// The search among listed values: what is run, in which order, and what is said when runs do not go well.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "common/error.h"
#include "tests/cli/tune/fake_runs.h"

namespace headway::tune {
namespace {

using test::predicted;
using test::Values;
using Words = std::vector<std::string>;

/// A program whose step is a formula of its arguments, recorded as it runs. Each run takes a second.
class FakeRecordings final : public Runs {
 public:
  TrainerSwitches knobs;
  std::function<double(const Values&)> step;
  std::function<Forecasts(const Values&)> predict = [](const Values&) { return Forecasts{}; };
  std::function<void(int, const Values&)> before_run = [](int, const Values&) {};
  Words log;
  double scatter = 0.01;  ///< of steps, as a share

  void add(std::string name, std::string value, Words values) {
    TrainerSwitch& one = knobs.all.emplace_back();
    one.name = std::move(name);
    one.value = std::move(value);
    one.tunable = true;
    one.values = std::move(values);
  }
  Run measure(const Change& change, double) override {
    Values values;
    for (const TrainerSwitch& one : knobs.all) values[one.name] = one.value;
    for (const auto& [name, value] : change) values[name] = value;
    log.push_back(words_of(change));
    before_run(static_cast<int>(log.size()), values);
    Run run;
    // Steps scatter by 1 %, in an order that has nothing to do with what is run.
    for (int i = 0; i < 40; ++i)
      run.steps.push_back(step(values) * (1 + scatter * ((i * 7 % 5) - 2) / 2));
    run.wall_s = 1;
    run.forecasts = predict(values);
    run.held_back_by = "Input-bound";
    return run;
  }
  Forecasts forecast(const Change&, double) override { return {}; }
  double elapsed_s() override { return static_cast<double>(log.size()); }
  void tell(std::string_view) override {}
};

Options grid(int max_runs = 20) {
  Options options;
  options.grid = true;
  options.budget_s = 0;
  options.repeat = 1;
  options.max_runs = max_runs;
  return options;
}

/// Workers are predicted, pinned memory gains nothing, and nobody knows of spins.
FakeRecordings loader() {
  FakeRecordings runs;
  runs.add("--num-workers", "0", {"2", "4"});
  runs.add("--spin", "a", {"b"});
  runs.step = [](const Values& v) {
    const double workers = std::stod(v.at("--num-workers"));
    return (workers == 0 ? 0.05 : workers == 2 ? 0.025 : 0.024) * (v.at("--spin") == "b" ? 0.8 : 1);
  };
  runs.predict = [](const Values& v) {
    Forecast use = predicted("use-workers", "--workers 2", 0.48, 0.05);
    use.applies = v.at("--num-workers") == "0";
    Forecast more = predicted("more-workers", "--workers", 0);
    more.applies = false;
    Forecast ceiling = predicted("free-input", "--workers", use.applies ? 0.5 : 0.001, 0.002);
    return Forecasts{{}, {use, more, ceiling}};
  };
  return runs;
}

TEST_CASE("what is predicted comes first, then what nobody knows, and what cannot gain is left") {
  FakeRecordings runs = loader();
  const Result result = search(runs.knobs, grid(), runs);
  CHECK(runs.log == Words{"", "--num-workers 2", "--num-workers 2 --spin b"});
  REQUIRE(result.trials.size() == 2);
  CHECK(result.trials[0].fix == "use-workers");
  REQUIRE(result.trials[0].forecast);
  CHECK(result.trials[0].forecast->gain == doctest::Approx(0.48));
  CHECK(result.trials[0].measured->share == doctest::Approx(0.5).epsilon(0.02));
  CHECK(result.trials[1].fix.empty());
  CHECK(result.trials[1].is_explored);
  CHECK(words_of(result.kept) == "--num-workers 2 --spin b");
  CHECK(result.total.share == doctest::Approx(0.6).epsilon(0.02));
  CHECK(result.total.interval.low < 0.6);
  CHECK(result.stopped == Stopped::kDone);
  REQUIRE(result.untried.size() == 1);
  CHECK(result.untried[0].switches == "--num-workers 4");
  CHECK(*result.prediction_error < 0.1);
}

TEST_CASE("no setting is run twice, and --repeat runs each so often") {
  FakeRecordings runs = loader();
  runs.predict = [](const Values&) { return Forecasts{"no steps were found", {}}; };
  search(runs.knobs, grid(), runs);
  CHECK(std::set<std::string>(runs.log.begin(), runs.log.end()).size() == runs.log.size());
  FakeRecordings again = loader();
  Options options = grid();
  options.repeat = 2;
  const Result result = search(again.knobs, options, again);
  CHECK(again.log == Words{"", "", "--num-workers 2", "--num-workers 2", "--num-workers 2 --spin b",
                           "--num-workers 2 --spin b"});
  CHECK(result.trials[0].pairs == 2);
  CHECK(result.settings.size() == 3);
}

TEST_CASE(
    "a setting with which the program fails is told with its status, and the search goes on") {
  FakeRecordings runs = loader();
  runs.before_run = [](int, const Values& v) {
    if (v.at("--spin") == "b") throw RunFailed("train ended with status 3: no spin");
  };
  const Result result = search(runs.knobs, grid(), runs);
  const auto failed = std::ranges::find(result.trials, Decision::kFailed, &Trial::decision);
  REQUIRE(failed != result.trials.end());
  CHECK(failed->why == "train ended with status 3: no spin");
  CHECK(result.settings.size() == result.trials.size() + 1);
  CHECK(words_of(result.kept) == "--num-workers 2");
  CHECK(result.stopped == Stopped::kDone);
  // One failure is enough for a value that never ran.
  CHECK(std::ranges::count_if(runs.log, [](const std::string& one) {
          return one.find("spin") != std::string::npos;
        }) <= 2);
}

TEST_CASE("a setting that hangs fails when a budget does not end it before") {
  FakeRecordings runs = loader();
  runs.before_run = [](int run, const Values&) {
    if (run == 2) throw RunTooLong{};
  };
  const Result result = search(runs.knobs, grid(), runs);
  CHECK(result.trials[0].decision == Decision::kFailed);
  CHECK(result.trials[0].why.find("was ended") != std::string::npos);
  CHECK(result.trials.size() > 1);
  FakeRecordings short_of_time = loader();
  short_of_time.before_run = runs.before_run;
  Options options = grid();
  options.budget_s = 10;
  CHECK(search(short_of_time.knobs, options, short_of_time).stopped == Stopped::kBudget);
}

TEST_CASE(
    "runs and time are limits, Ctrl-C tells the best so far, and what was not tried is told") {
  FakeRecordings few = loader();
  const Result two = search(few.knobs, grid(2), few);
  CHECK(few.log.size() == 2);
  CHECK(two.stopped == Stopped::kBudget);
  CHECK(words_of(two.kept) == "--num-workers 2");
  CHECK(std::ranges::any_of(two.untried, [](const Untried& left) {
    return left.switches == "--spin b" && left.why.find("budget") != std::string::npos;
  }));
  FakeRecordings timed = loader();
  Options options = grid();
  options.budget_s = 2.5;
  CHECK(search(timed.knobs, options, timed).stopped == Stopped::kBudget);
  CHECK(timed.log.size() == 2);
  FakeRecordings stopped = loader();
  stopped.before_run = [](int run, const Values&) {
    if (run == 3) throw Interrupted{2};
  };
  const Result result = search(stopped.knobs, grid(), stopped);
  CHECK(result.stopped == Stopped::kSignal);
  CHECK(words_of(result.kept) == "--num-workers 2");
}

TEST_CASE("a first run from which nothing can be learnt is an error that says what to do") {
  FakeRecordings runs = loader();
  runs.before_run = [](int, const Values&) { throw RunFailed("no steps are seen"); };
  CHECK_THROWS_WITH_AS(search(runs.knobs, grid(), runs), "no steps are seen", Error);
}

TEST_CASE("what several fixes speak for is tried at once, and what it gains is what is told") {
  FakeRecordings runs;
  runs.add("--pin-memory", "off", {"on"});
  runs.add("--num-workers", "0", {"2"});
  runs.step = [](const Values& v) { return v.at("--num-workers") == "2" ? 0.04 : 0.05; };
  runs.predict = [](const Values& v) {
    Forecast pinned = predicted("pinned-copies", "", 0.3);
    pinned.applies = v.at("--pin-memory") == "off";
    return Forecasts{{}, {pinned, predicted("use-workers", "--workers 2", 0.2)}};
  };
  const Result result = search(runs.knobs, grid(), runs);
  REQUIRE(result.trials[0].forecast);
  CHECK(result.trials[0].fix == "pinned-copies + use-workers");
  CHECK(result.trials[0].forecast->gain == doctest::Approx(1 - 0.7 * 0.8));
  CHECK(runs.log.front() == "");
  CHECK(runs.log.at(1) == "--pin-memory on --num-workers 2");
  CHECK(result.total.share == doctest::Approx(0.2).epsilon(0.02));
}

TEST_CASE("many arguments with many values are searched near the best") {
  FakeRecordings runs;
  for (int i = 0; i < 8; ++i) runs.add("--spin" + std::to_string(i), "0", {"1", "2", "3"});
  runs.step = [](const Values& v) {
    double step = 0.05;
    for (const auto& [name, value] : v) step *= value == "1" ? 0.9 : 1;
    return step;
  };
  const Result result = search(runs.knobs, grid(25), runs);
  CHECK(runs.log.size() == 25);
  CHECK(result.total.share > 0.45);
}

TEST_CASE("what seems better within its interval is run again, a few times") {
  FakeRecordings runs;
  runs.add("--spin", "a", {"b"});
  runs.step = [](const Values& v) { return v.at("--spin") == "b" ? 0.097 : 0.1; };
  runs.scatter = 0.5;
  const Result result = search(runs.knobs, grid(), runs);
  CHECK(runs.log == Words{"", "--spin b", "--spin b", "--spin b"});
  REQUIRE(result.trials.size() == 3);
  CHECK(!result.trials[0].is_repeat);
  CHECK(result.trials[2].is_repeat);
  CHECK(result.trials[2].round == 4);
  CHECK(result.trials[2].decision == Decision::kNoGain);
  REQUIRE(result.settings.size() == 2);
  CHECK(result.settings[1].runs == std::vector<int>{2, 3, 4});
  CHECK(result.stopped == Stopped::kDone);
  // One that is really better is found so.
  runs.log.clear();
  runs.step = [&runs](const Values& v) {
    if (v.at("--spin") == "a") return 0.1;
    return runs.log.size() == 2 ? 0.095 : 0.06;  // other programs ran at first
  };
  CHECK(words_of(search(runs.knobs, grid(), runs).kept) == "--spin b");
}

}  // namespace
}  // namespace headway::tune
