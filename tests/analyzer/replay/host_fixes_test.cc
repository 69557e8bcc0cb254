// SPDX-License-Identifier: MIT
// Fixes of what the host does in some steps, and of workers that take its processor, against runs without it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fix.h"
#include "tests/analyzer/text_run.h"

namespace headway::analyzer {
namespace {

using test::TextRun;

TextRun run_with(const std::string& body, const std::string& head = "") {
  return TextRun(head + "thread main\n  steps 62\n" + body);
}

double recorded_us(const TextRun& run) {
  return static_cast<double>(Predictor(run.trace, run.analysis).baseline().recorded.ns) / 1e3;
}

struct Predicted {
  Predicted(const TextRun& run, std::string_view fix)
      : predictor(run.trace, run.analysis), proposal(find_fix(fix)->propose(predictor)) {}
  double step_us() const {
    REQUIRE(proposal.applies);
    return static_cast<double>(predictor.predict(proposal.scenario).step.ns) / 1e3;
  }
  Predictor predictor;
  Proposal proposal;
};

const std::string kStep = test::healthy_step();

}  // namespace

TEST_CASE("outlier steps: the mean step with them is that of a run without what slows them down") {
  const TextRun usual = run_with(kStep + "    sync stream\n");
  for (const char* slow : {"      range checkpoint\n        host 60ms\n",
                           "      range evaluation phase=evaluation\n        repeat 40\n"
                           "          launch s16816gemm 500us math=tensor blocks=864\n"
                           "        sync stream\n"}) {
    CAPTURE(slow);
    const TextRun now = run_with(kStep + "    sync stream\n    on every=10 offset=9\n" + slow);
    CHECK(recorded_us(now) > 1.1 * recorded_us(usual));
    const Predicted predicted(now, "usual-steps");
    CHECK(predicted.step_us() == doctest::Approx(recorded_us(usual)).epsilon(0.01));
    CHECK(predicted.proposal.applies);
  }
  const Predicted none(usual, "usual-steps");
  CHECK_FALSE(none.proposal.applies);
}

TEST_CASE("code loaded before the steps: as a run in which it is") {
  const TextRun loaded = run_with("    sync stream\n" + kStep);
  for (const char* loads :
       {"      call cuModuleLoadData 8ms\n",
        "      overhead module-load 6ms name=\"Lazy loading\"\n",
        "      range \"backend_compile (dynamo_timed)\"\n        host 20ms\n        range part\n"
        "          host 5ms\n"}) {
    CAPTURE(loads);
    const TextRun now = run_with(std::string("    sync stream\n    on every=2\n") + loads + kStep);
    CHECK(recorded_us(now) > 1.2 * recorded_us(loaded));
    CHECK(Predicted(now, "eager-loading").step_us() ==
          doctest::Approx(recorded_us(loaded)).epsilon(0.01));
  }
  CHECK_FALSE(Predicted(loaded, "eager-loading").proposal.applies);
}

TEST_CASE("code that is loaded while a kernel is launched takes its time from that launch") {
  const std::string launch = "      launch s16816gemm 100us math=tensor blocks=864";
  const TextRun loaded = run_with(kStep + "    sync stream\n    on every=3\n" + launch + "\n");
  const TextRun now = run_with(kStep + "    sync stream\n    on every=3\n" + launch +
                               " overhead=module-load:20ms\n");
  CHECK(Predicted(now, "eager-loading").step_us() ==
        doctest::Approx(recorded_us(loaded)).epsilon(0.02));
}

TEST_CASE("fewer workers than processors: each has one, and three may be too few") {
  // 16 workers that are always busy on 4 processors: each has a quarter of one, and so has the training thread. Then launches
  // are four times as fast, but a batch comes every 6 ms instead of every 4.5: the prediction says that, too.
  // It takes the training thread to have had a processor, and 13.7 workers to have shared the other three: that is off by 10 %.
  auto with = [](int workers, int host_us) {
    return TextRun(
        fmt::format("meta cpu_count 4\nloader {} prefetch={} cores=4\n  decode 18ms\n"
                    "thread main\n  steps 90\n    input\n    repeat 60\n      host {}us\n"
                    "      launch s16816gemm 20us math=tensor blocks=864\n"
                    "    launch adam 150us blocks=320 phase=update\n",
                    workers, 4 * workers, host_us));
  };
  const TextRun now = with(16, 51);
  const Predicted predicted(now, "fewer-workers");
  CAPTURE(predicted.proposal.text);
  REQUIRE(predicted.proposal.applies);
  CHECK(predicted.proposal.setting.starts_with("--workers 3 "));
  const TextRun then = with(3, 13);
  CHECK(predicted.step_us() == doctest::Approx(recorded_us(then)).epsilon(0.12));
  const Predicted none(then, "fewer-workers");
  CHECK_FALSE(none.proposal.applies);
}

TEST_CASE(
    "a step that recording lengthens: predictions are of the one without, and a busy device is "
    "left as it is") {
  // A launch-bound step, its calls and the work between them recorded at 1.25 times their length.
  const auto launching = [](int call, int between) {
    return run_with(
        fmt::format("    repeat 400\n      host {}us\n      launch relu 2us call={}us blocks=400\n"
                    "    sync stream\n",
                    between, call));
  };
  TextRun slowed = launching(5, 15);
  const TextRun usual = launching(4, 12);
  slowed.analysis.step_options.unrecorded = DurationNs{std::llround(1e3 * recorded_us(usual))};
  const Predictor predictor(slowed.trace, slowed.analysis);
  CHECK(recorded_us(slowed) == doctest::Approx(recorded_us(usual)).epsilon(0.01));
  CHECK(predictor.baseline().cost.of_host == doctest::Approx(0.2).epsilon(0.05));
  CHECK(Predicted(slowed, "cuda-graph").step_us() ==
        doctest::Approx(Predicted(usual, "cuda-graph").step_us()).epsilon(0.02));

  TextRun busy = run_with(kStep + "    sync stream\n");
  const double before = recorded_us(busy);
  busy.analysis.step_options.unrecorded = DurationNs{std::llround(500 * before)};
  const double after = recorded_us(busy);
  CHECK(after >
        0.98 * before);  // no host is so slow that the device could be done in half the time
  busy.analysis.step_options.unrecorded = DurationNs{std::llround(1'100 * before)};
  CHECK(recorded_us(busy) == before);
}

TEST_CASE("nodes of a graph follow each other as closely as measured on such a GPU") {
  // Back to back, 1 µs apart: the device decides.
  const auto on = [](const char* gpu) {
    return run_with("    repeat 400\n      launch relu 9us call=2us blocks=400\n    sync stream\n",
                    fmt::format("device cuda \"{}\" sms=100 gap=1us\n", gpu));
  };
  const double v100 = Predicted(on("Tesla V100-SXM2-16GB"), "cuda-graph").step_us();
  const double h100 = Predicted(on("NVIDIA H100 80GB HBM3"), "cuda-graph").step_us();
  const double mi300 = Predicted(on("AMD Instinct MI300X"), "cuda-graph").step_us();
  CHECK(v100 - h100 == doctest::Approx(400 * (0.62 - 0.2)).epsilon(0.05));
  CHECK(mi300 == doctest::Approx(v100));
}

TEST_CASE(
    "a pause in each step of a thread that issues without any is the host's, not a late launch") {
  const std::string launches = "    repeat 60\n      launch relu 2us call=6us blocks=400\n";
  const TextRun run = run_with(launches + "    host 1ms\n" + launches);
  CHECK(run.finding("host-bound").status == Status::kFound);
  CHECK(run.finding("host-bound").share_of_step == doctest::Approx(1000.0 / 1720).epsilon(0.05));
  CHECK(run_with(launches + launches).finding("host-bound").status == Status::kFine);
}

TEST_CASE("a free that found the device idle waits where the device is later, as others do") {
  // The second free of a step comes when its kernel is over; the first ones all waited.
  const TextRun run = run_with(
      "    launch first 300us call=4us blocks=100\n    free 5us drains\n"
      "    launch second 10us call=4us blocks=100\n    host 100us\n    free 5us drains\n"
      "    host 400us\n");
  const Predictor predictor(run.trace, run.analysis);
  Editor editor(predictor);
  const trace::DeviceOps& ops = run.trace.device_ops;
  for (std::uint32_t i = 0; i < ops.size(); ++i)
    if (run.trace.strings[ops.name[i]] == "second")
      editor.set_duration(predictor.program().graph().points().task(trace::DeviceOpId{i}),
                          DurationNs{500'000});
  const double later = static_cast<double>(predictor.predict(editor.take()).step.ns) / 1e3;
  // Of its 490 µs more the host's own work beside it hides 100.
  CHECK(later - recorded_us(run) == doctest::Approx(490 - 100).epsilon(0.05));
}

}  // namespace headway::analyzer
