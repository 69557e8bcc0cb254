// SPDX-License-Identifier: MIT
// What a program does beside its steps, done less often or not at all: predicted from one run, checked with the other.
#include <doctest/doctest.h>

#include <string>

#include "analyzer/whatif/fix.h"
#include "analyzer/whatif/predict_findings.h"
#include "tests/analyzer/text_run.h"

namespace headway::analyzer {
namespace {

using test::TextRun;

/// A worker makes batches in time: without any, nothing on the thread can be replayed.
constexpr const char* kOnHost =
    "    input\n    range forward kind=phase phase=forward\n      host 4ms\n"
    "    range backward kind=phase phase=backward\n      host 8ms\n"
    "    range Optimizer.step#AdamW.step kind=phase phase=update\n      host 4ms\n";

double step_ms(const TextRun& run) {
  return static_cast<double>(run.analysis.step_cost.per_step().ns) / 1e6;
}

/// The predicted step with the fix; -1 when it does not apply.
double predicted_ms(const TextRun& run, std::string_view fix) {
  const Predictor predictor(run.trace, run.analysis);
  const Proposal proposal = find_fix(fix)->propose(predictor);
  if (!proposal.applies) return -1;
  return static_cast<double>(predictor.predict(proposal.scenario).step.ns) / 1e6;
}

TextRun with(const std::string& step, const std::string& extra, const std::string& before = "") {
  return TextRun(before + "loader 1 prefetch=2\n  decode 2ms\nthread main\n  steps 82\n" + step +
                 extra);
}

}  // namespace

TEST_CASE("half of the evaluations, on the processor and on a device") {
  const std::string often = "    on every=4 offset=2\n      range evaluate\n";
  const std::string seldom = "    on every=8 offset=2\n      range evaluate\n";
  CHECK(predicted_ms(with(kOnHost, often + "        host 20ms\n"), "evaluate-less-often") ==
        doctest::Approx(step_ms(with(kOnHost, seldom + "        host 20ms\n"))).epsilon(0.01));
  const std::string kernels = "        repeat 50\n          launch s16816gemm 200us blocks=864\n";
  const std::string device = test::healthy_step() + "    sync stream\n";
  CHECK(predicted_ms(with(device, often + kernels + "        sync stream\n"),
                     "evaluate-less-often") ==
        doctest::Approx(step_ms(with(device, seldom + kernels + "        sync stream\n")))
            .epsilon(0.02));
}

TEST_CASE(
    "the step after an evaluation takes longer, and as long as others where that is left out") {
  // On the processor the evaluation fills the caches with other data: the forward pass that follows takes 7 ms for 4.
  const std::string save = "      range evaluate\n        host 20ms\n";
  std::string often = "    on every=8 offset=2\n" + save + "    on every=8 offset=6\n" + save;
  std::string seldom = "    on every=8 offset=2\n" + save;
  const auto after = [](int offset) {
    return "    on every=8 offset=" + std::to_string(offset) +
           "\n      range forward kind=phase phase=forward\n        host 3ms\n";
  };
  CHECK(predicted_ms(with(kOnHost, often + after(3) + after(7)), "evaluate-less-often") ==
        doctest::Approx(step_ms(with(kOnHost, seldom + after(3)))).epsilon(0.01));
  // Where it takes longer by chance, no more than the evaluation goes.
  CHECK(predicted_ms(with(kOnHost, often + "    on from=11 to=12\n      host 3ms\n"),
                     "evaluate-less-often") ==
        doctest::Approx(step_ms(with(kOnHost, often)) - 20.0 / 8).epsilon(0.01));
}

TEST_CASE(
    "how often a program evaluates is no chance, so few evaluations do not widen an interval") {
  // Three of 80 steps hold half of the run. A pause that no range names may come once more or less.
  auto width_of = [](const std::string& pause) {
    const TextRun run = with(kOnHost, "    on every=37 offset=3\n" + pause);
    const Predictor predictor(run.trace, run.analysis);
    const Prediction free = predictor.predict(find_fix("free-host")->propose(predictor).scenario);
    return (free.gain_ns.high - free.gain_ns.low) /
           static_cast<double>(predictor.baseline().recorded.ns);
  };
  const double evaluating = width_of("      range evaluate\n        host 500ms\n");
  CHECK(evaluating < 0.35);
  CHECK(width_of("      host 500ms\n") > 2 * evaluating);
}

TEST_CASE("without garbage collection") {
  const std::string extra =
      "    on every=5 offset=2\n      range \"garbage collection\"\n        host 20ms\n";
  CHECK(predicted_ms(with(kOnHost, extra), "no-garbage-collection") ==
        doctest::Approx(step_ms(with(kOnHost, ""))).epsilon(0.001));
  CHECK(predicted_ms(with(kOnHost, ""), "no-garbage-collection") == -1);
}

TEST_CASE("checkpoints beside the training leave the copy of their bytes") {
  const std::string extra = "    on every=8 offset=2\n      range torch.save\n        host 40ms\n";
  // 15 MB at 1.5 GB/s are 10 ms of the 40.
  const TextRun sized = with(kOnHost, extra, "setting checkpoint.bytes 15000000\n");
  const double base = step_ms(with(kOnHost, ""));
  CHECK(predicted_ms(sized, "asynchronous-checkpoint") ==
        doctest::Approx(base + 10.0 / 8).epsilon(0.01));
  const TextRun unknown = with(kOnHost, extra);
  CHECK(predicted_ms(unknown, "asynchronous-checkpoint") ==
        doctest::Approx(base + 0.15 * 40.0 / 8).epsilon(0.01));
}

TEST_CASE("a small checkpoint of many tensors is packing, which no other thread takes over") {
  const std::string extra = "    on every=8 offset=2\n      range torch.save\n        host 10ms\n";
  const std::string flags = "setting optimizer \"AdamW tensors=20 elements=3000 device=cpu\"\n";
  CHECK(predicted_ms(with(kOnHost, extra, "setting checkpoint.bytes 57000\n" + flags),
                     "asynchronous-checkpoint") == -1);
}

TEST_CASE("steps as at first") {
  std::string text =
      std::string("loader 1 prefetch=2\n  decode 2ms\nthread main\n  steps 62\n") + kOnHost;
  for (int from = 4; from < 62; from += 4)
    text += "    on from=" + std::to_string(from) + "\n      host 1ms\n";
  CHECK(predicted_ms(TextRun(text), "steps-as-at-first") == doctest::Approx(16).epsilon(0.05));
}

TEST_CASE("a fused update on the processor, by tensors and elements") {
  const std::string flags =
      "setting torch 2.9.1\nsetting optimizer \"AdamW tensors=100 elements=6400 device=cpu "
      "fused=None\"\n";
  // 100 tensors of 64 elements: about a sixth of the loop.
  CHECK(predicted_ms(with(kOnHost, "", flags), "fused-update") ==
        doctest::Approx(step_ms(with(kOnHost, "")) - 3.3).epsilon(0.01));
  CHECK(predicted_ms(with(kOnHost, ""), "fused-update") == -1);
}

TEST_CASE("the finding of evaluation has its fix, and all of it as what could be gained") {
  TextRun run = with(kOnHost, "    on every=4 offset=2\n      range evaluate\n        host 20ms\n");
  predict_findings(run.trace, run.analysis);
  const Finding& finding = run.finding("evaluation-time");
  REQUIRE(finding.status == Status::kFound);
  REQUIRE(finding.predicted);
  CHECK(finding.predicted->fix == "evaluate-less-often");
  CHECK(finding.predicted->share == doctest::Approx(2.5 / 21).epsilon(0.05));
  CHECK(finding.share_of_step == doctest::Approx(5.0 / 21).epsilon(0.05));
}

TEST_CASE(
    "a machine that is slower for a while hides no evaluation, which comes as often in each run") {
  const std::string slower =
      "    on from=20 to=50\n      range forward kind=phase phase=forward\n        host 6ms\n";
  TextRun run =
      with(kOnHost, slower + "    on every=8 offset=2\n      range evaluate\n        host 12ms\n");
  predict_findings(run.trace, run.analysis);
  CHECK(run.finding("evaluation-time").status == Status::kFound);
}

}  // namespace headway::analyzer
