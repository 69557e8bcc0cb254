// SPDX-License-Identifier: MIT
// What a fix of the host's work is predicted to gain is what the run with it gains: workers, and work between steps.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "tests/reference_trainer/simulated_trace/predicted.h"

namespace headway::trainer {

using test::check_done;
using test::kImages;
using test::kText;
using test::mean_step_ns;
using test::Predicted;
using test::Switches;
using test::with;

TEST_CASE("workers that wait for the storage may be more than fit on the processors") {
  const Switches run = {{"device", "sim"},
                        {"model", "ssd"},
                        {"depth", "8"},
                        {"batch", "2"},
                        {"image_size", "128"},
                        {"precision", "bf16"},
                        {"eval", "off"},
                        {"host_cores", "2"},
                        {"workers", "2"},
                        {"prefetch", "16"},
                        {"storage_latency_ms", "1.6"}};
  const Predicted before(run);
  const analyzer::Predictor predictor(before.trace, before.analysis);
  const std::string setting = analyzer::find_fix("more-workers")->propose(predictor).setting;
  REQUIRE(setting.starts_with("--workers "));
  const std::string workers = setting.substr(10, setting.find(' ', 10) - 10);
  // Six compute as much as one processor does; with six, it is idle while most of them wait.
  CHECK(std::stoi(workers) > 8);
  CHECK(mean_step_ns(run, {{"workers", workers}}) < 0.9 * mean_step_ns(run, {{"workers", "6"}}));
}

TEST_CASE("a training thread that hardly ever sleeps shares the processors with its workers") {
  // Eight workers on two processors, and launches that take half of the step.
  const Switches run = with(kImages, {{"source", "files"},
                                      {"batch", "64"},
                                      {"samples", "4096"},
                                      {"workers", "8"},
                                      {"prefetch", "16"},
                                      {"host_cores", "2"},
                                      {"launch_us", "10"}});
  // Long enough that the batches which are made before the first step do not count.
  constexpr int kSteps = 400;
  const Predicted before(run, kSteps);
  const auto check = [&](const std::string& fix, const Switches& change, double within) {
    CAPTURE(fix);
    const double done = mean_step_ns(run, change, kSteps);
    CHECK(std::abs(done / mean_step_ns(run, {}, kSteps) - 1) > 0.05);
    CHECK(before.step_ns(fix) == doctest::Approx(done).epsilon(within));
  };
  check("augment-on-device", {{"augment_on", "device"}}, 0.03);
  check("cuda-graph", {{"cuda_graph", "on"}}, 0.04);
  check("fewer-workers", {{"workers", "1"}, {"prefetch", "2"}}, 0.03);
}

TEST_CASE("work between steps that is left out, or done half as often, gains what is predicted") {
  const auto doing = [](const char* what) {
    return with(kText, {{"pause_every", "4"}, {"pause_ms", "60"}, {"pause_for", what}});
  };
  const Switches none = {{"pause_every", "0"}};
  const Switches half = {{"pause_every", "8"}};
  check_done(doing("garbage-collection"), "no-garbage-collection", none);
  // No worker starts late: what is lost is the training thread's.
  check_done(doing("worker-restart"), "persistent-workers", none);
  // Seven pauses in 60 steps may be half of 15, or of 13 in the steady ones.
  check_done(doing("evaluation"), "evaluate-less-often", half, 0.1);
  check_done(doing("checkpoint"), "checkpoint-less-often", half, 0.1);
  check_done(doing("logging"), "log-less-often", half, 0.1);
}

TEST_CASE(
    "metrics that the training thread no longer computes in each step gain what is predicted") {
  check_done(with(kText, {{"pause_every", "1"}, {"pause_ms", "4"}, {"pause_for", "metrics"}}),
             "free-host", {{"pause_every", "0"}});
}

}  // namespace headway::trainer
