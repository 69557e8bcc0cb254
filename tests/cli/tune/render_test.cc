// SPDX-License-Identifier: MIT
#include "cli/tune/render.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/tune/fake_runs.h"

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
  CHECK(has(text, "2 runs and 2 recordings; "));
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
  CHECK(has(text, "Best: the command line"));
  Result interrupted;
  interrupted.stopped = Stopped::kSignal;
  interrupted.total = no_gain();
  CHECK(has(render_text(interrupted, facts(false)), "Interrupted before"));
}

/// A search among listed values in which one setting failed.
struct Varied {
  VariedCommand command{{"python3", "train.py", "--num-workers", "0"},
                        {"--num-workers=0,2", "OMP_NUM_THREADS=,4"},
                        [](const char*) -> const char* { return nullptr; }};
  Result result;
  RunFacts facts{.command = {"python3", "train.py", "--num-workers", "0"},
                 .max_runs = 6,
                 .varied = &command,
                 .per_sample = true};

  Varied() {
    const Change workers = {{"--num-workers", "2"}};
    result.run_s = 1;
    result.runs = 3;
    result.base_step_s = 0.04;
    result.best_step_s = 0.02;
    result.kept = workers;
    result.total = {.share = 0.5, .interval = {0.45, 0.55}, .ratios = {}};
    result.settings = {{.setting = {},
                        .runs = {1},
                        .step_s = 0.04,
                        .half_width = 0.02,
                        .samples_per_s = 800,
                        .held_back_by = "Input-bound",
                        .failed = ""},
                       {.setting = workers,
                        .runs = {2, 4},
                        .step_s = 0.02,
                        .half_width = 0.02,
                        .samples_per_s = 1600,
                        .held_back_by = "Host-bound",
                        .failed = ""},
                       {.setting = {{"OMP_NUM_THREADS=", "4"}},
                        .runs = {3},
                        .samples_per_s = {},
                        .held_back_by = "",
                        .failed = "train.py ended with status 3: \033[2Jno"}};
    Trial first;
    first.round = 2;
    first.change = workers;
    first.fix = "use-workers";
    first.forecast = test::predicted("use-workers", "--workers 2", 0.48);
    first.measured = result.total;
    first.decision = Decision::kKept;
    Trial second;
    second.round = 3;
    second.change = {{"OMP_NUM_THREADS=", "4"}};
    second.decision = Decision::kFailed;
    second.why = "train.py ended with status 3: \033[2Jno";
    result.trials = {first, second};
  }
};

TEST_CASE("of any command: each run with its setting, why it was tried, and the line to paste") {
  const Varied it;
  const std::string text = render_text(it.result, it.facts);
  CAPTURE(text);
  CHECK(has(text, "Run  --num-workers  OMP_NUM_THREADS  Step cost"));
  CHECK(has(text, "2,4  2              (none)           20.0 ms ± 2.0 %"));
  CHECK(has(text, "Host-bound  <- best"));
  CHECK(has(text, "status 3"));
  CHECK(has(text, "use-workers"));
  CHECK(has(text, "48.0 % (47.0 to 49.0)"));
  CHECK(has(text, "OMP_NUM_THREADS=4  runs so far"));
  CHECK(has(text, "first run"));
  CHECK(has(text, "\n  env -u OMP_NUM_THREADS python3 train.py --num-workers=2\n"));
  CHECK(has(text, "3 runs of at most 6 for 4 settings"));
  CHECK(!has(text, "\033"));
}

TEST_CASE("of any command: JSON has settings, arguments and the line") {
  const Varied it;
  const auto json = nlohmann::json::parse(render_json(it.result, it.facts));
  CHECK(json.at("arguments")[1].at("values") == nlohmann::json{"", "4"});
  REQUIRE(json.at("settings").size() == 3);
  CHECK(json.at("settings")[1].at("values").at("--num-workers") == "2");
  CHECK(json.at("settings")[1].at("samples_per_s") == 1600);
  CHECK(json.at("settings")[2].at("step_s").is_null());
  CHECK(json.at("settings")[2].at("failed").get<std::string>().find("status 3") !=
        std::string::npos);
  CHECK(json.at("trials")[0].at("predicted").at("share") == doctest::Approx(0.48));
  CHECK(json.at("trials")[1].at("decision") == "failed");
  CHECK(json.at("per_sample") == true);
  CHECK(json.at("max_runs") == 6);
  CHECK(json.at("budget_s").is_null());
  CHECK(json.at("best").at("command").back() == "--num-workers=2");
  CHECK(json.at("best_line") == "env -u OMP_NUM_THREADS python3 train.py --num-workers=2");
}

TEST_CASE("of any command: stopped before the first run was over") {
  Varied it;
  it.result.settings.clear();
  CHECK(has(render_text(it.result, it.facts), "Interrupted before the first run"));
}

TEST_CASE("what a failed run wrote cannot move the cursor") {
  Result result = found();
  result.trials[0].decision = Decision::kFailed;
  result.trials[0].why = "bad \033[2J";
  CHECK(!has(render_text(result, facts(true)), "\033"));
}

}  // namespace
}  // namespace headway::tune
