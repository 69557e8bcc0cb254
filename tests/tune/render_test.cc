// SPDX-License-Identifier: MIT
#include "tune/render.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/tune/fake_runs.h"

namespace headway::tune {
namespace {

RunFacts facts(bool exact) {
  return {.command = {"headway-train", "--sync", "op", "--text-dir", "a b"},
          .simulated = exact,
          .exact = exact,
          .steps = 60,
          .repeat = 3,
          .budget_s = 300};
}

Result found() {
  test::FakeRuns runs;
  runs.simulate();
  runs.add("sync", "op", {"never"});
  runs.step = [](const test::Values& v) { return v.at("sync") == "op" ? 0.004 : 0.002; };
  runs.predict = [](const test::Values& v) {
    return Forecasts{{},
                     {test::predicted("syncs", "--sync never", v.at("sync") == "op" ? 0.48 : 0)}};
  };
  return search(runs.switches, {}, runs);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("the text has the steps of the search, the command line to copy, and how good it is") {
  const std::string text = render_text(found(), facts(true));
  CAPTURE(text);
  CHECK(has(text, "Base: 4.00 ms per step"));
  CHECK(has(text, "48.0 % (47.0 to 49.0)"));
  CHECK(has(text, "kept"));
  CHECK(has(text, "Best: 2.00 ms instead of 4.00 ms per step, 50.0 % less, 2.00× as fast"));
  CHECK(has(text, "\n  headway-train --text-dir 'a b' --sync never\n"));
  CHECK(has(text, "Predicted steps were off by 4.0 % (median)."));
  CHECK(has(text, "2 runs and 2 recordings; nothing is left to try."));
}

TEST_CASE("JSON has the same") {
  const auto json = nlohmann::json::parse(render_json(found(), facts(true)));
  CHECK(json.at("schema") == "headway.tune");
  CHECK(json.at("version") == 1);
  CHECK(json.at("base").at("step_s") == doctest::Approx(0.004));
  REQUIRE(json.at("trials").size() == 1);
  const auto& trial = json.at("trials")[0];
  CHECK(trial.at("fix") == "syncs");
  CHECK(trial.at("change") == nlohmann::json{{"sync", "never"}});
  CHECK(trial.at("from") == nlohmann::json{{"sync", "op"}});
  CHECK(trial.at("predicted").at("share") == doctest::Approx(0.48));
  CHECK(trial.at("measured").at("low") == doctest::Approx(0.5));
  CHECK(trial.at("decision") == "kept");
  CHECK(json.at("best").at("gain").at("share") == doctest::Approx(0.5));
  CHECK(json.at("best").at("command").back() == "never");
  CHECK(json.at("stopped") == "done");
  CHECK(json.at("prediction_error") == doctest::Approx(0.04));
}

TEST_CASE("nothing found, and nothing run") {
  Result nothing = found();
  nothing.kept.clear();
  nothing.trials.clear();
  const std::string text = render_text(nothing, facts(true));
  CHECK(has(text, "Nothing was tried."));
  CHECK(has(text, "Best: the command line as it is"));
  Result interrupted;
  interrupted.stopped = Stopped::kSignal;
  interrupted.total = no_gain();
  CHECK(has(render_text(interrupted, facts(false)), "Interrupted before the base had run."));
}

TEST_CASE("what a failed run wrote cannot move the cursor") {
  Result result = found();
  result.trials[0].decision = Decision::kFailed;
  result.trials[0].why = "bad \033[2J";
  CHECK(!has(render_text(result, facts(true)), "\033"));
}

}  // namespace
}  // namespace headway::tune
