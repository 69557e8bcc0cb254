// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "analyzer/whatif/fix.h"
#include "tests/analyzer/planted_run.h"
#include "tests/analyzer/text_run.h"
#include "tests/support/trace_builder.h"

namespace headway::analyzer {
namespace {

using test::TextRun;

/// The body of a step of 10.15 ms, six spaces deep.
std::string body() {
  const std::string text = test::healthy_step() + "    sync stream\n";
  std::string deeper;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at) + 1;
    deeper += "  " + text.substr(at, end - at);
    at = end;
  }
  return deeper;
}

/// Twelve times five steps, and `between` after each five.
TextRun fives(const std::string& between) {
  return TextRun("thread main\n  repeat 12\n    steps 5\n" + body() +
                 (between.empty() ? "" : "    " + between + "\n"));
}

double step_ms(const TextRun& run) {
  return static_cast<double>(run.analysis.step_cost.per_step().ns) / 1e6;
}

/// The predicted step without pauses; -1 where the fix does not apply.
double without_pauses_ms(const TextRun& run) {
  const Predictor predictor(run.trace, run.analysis);
  const Proposal proposal = find_fix("no-pauses")->propose(predictor);
  if (!proposal.applies) return -1;
  return static_cast<double>(predictor.predict(proposal.scenario).step.ns) / 1e6;
}

}  // namespace

TEST_CASE("pauses too short for a finding of their own are replayed all the same") {
  // 1.5 ms before every fifth step of 10.15 ms: 2.8 %. Launches that come late after a pause may make it more than 5.
  const TextRun run = fives("host 1500us");
  CHECK(run.finding("host-pauses").status == Status::kFine);
  CHECK(without_pauses_ms(run) == doctest::Approx(step_ms(run) - 0.28).epsilon(0.01));
}

TEST_CASE("host-pauses says how often the host stops, for how long, and what it costs") {
  const TextRun run = fives("host 60ms");
  const Finding& finding = run.finding("host-pauses");
  REQUIRE(finding.status == Status::kFound);
  CHECK(finding.sub_cause == "periodic");
  CHECK(finding.claim.find("every 5 steps") != std::string::npos);
  // 58 steady steps hold 11 of them.
  CHECK(finding.recoverable_per_step.ns == doctest::Approx(60e6 * 11 / 58).epsilon(0.01));
  CHECK(!finding.evidence.empty());
  CHECK(finding.evidence.front().event.kind == EventRef::Kind::kNone);
  CHECK(!finding.advice.empty());
  // One cause, one finding.
  for (const char* other : {"step-outlier", "garbage-collection", "evaluation-time", "host-bound"})
    CHECK(run.finding(other).status == Status::kFine);
}

TEST_CASE("host-pauses takes over from step-outlier, and leaves it what is too little for a rule") {
  auto run = [](const char* time) {
    return TextRun("thread main\n  repeat 4\n    steps 20\n" + body() + "    host " + time + "\n");
  };
  const TextRun large = run("90ms");
  CHECK(large.finding("host-pauses").status == Status::kFound);
  CHECK(large.finding("step-outlier").status == Status::kFine);
  const TextRun small = run("8ms");
  CHECK(small.finding("host-pauses").status == Status::kFine);
  CHECK(small.finding("step-outlier").status == Status::kFound);
}

TEST_CASE("host-pauses is fine just below five percent and fires just above") {
  CHECK(fives("host 2500us").finding("host-pauses").status == Status::kFine);
  CHECK(fives("host 2900us").finding("host-pauses").status == Status::kFound);
}

TEST_CASE("host-pauses leaves named causes to their rules, and names a range that tells none") {
  CHECK(fives("range evaluate\n      host 60ms").finding("host-pauses").status == Status::kFine);
  const TextRun run = fives("range callback\n      host 60ms");
  REQUIRE(run.finding("host-pauses").status == Status::kFound);
  CHECK(run.finding("host-pauses").claim.find("'callback'") != std::string::npos);
}

TEST_CASE("host-pauses says that the host stops inside of steps, which are too many for outliers") {
  const TextRun run("thread main\n  repeat 12\n    steps 4\n" + body() +
                    "    steps 1\n      host 60ms\n" + body());
  const Finding& finding = run.finding("host-pauses");
  REQUIRE(finding.status == Status::kFound);
  CHECK(finding.sub_cause == "periodic");
  CHECK(finding.claim.find("inside of steps") != std::string::npos);
  // That it lies in the step's own range says nothing.
  CHECK(finding.claim.find("'step'") == std::string::npos);
  CHECK(run.finding("host-bound").status == Status::kFine);
  CHECK(without_pauses_ms(run) == doctest::Approx(step_ms(fives(""))).epsilon(0.02));
  // Rarer ones are outliers.
  const TextRun rare("thread main\n  repeat 3\n    steps 19\n" + body() +
                     "    steps 1\n      host 90ms\n" + body());
  CHECK(rare.finding("host-pauses").status == Status::kFine);
  CHECK(rare.finding("step-outlier").status == Status::kFound);
}

TEST_CASE("host-pauses sees pauses inside of steps behind a wait that drained the queue") {
  // Shorter than the host had waited for the device: the partition has that wait answer for all of it.
  const TextRun run("thread main\n  repeat 12\n    steps 4\n" + body() +
                    "    steps 1\n      host 8ms\n" + body());
  const Finding& finding = run.finding("host-pauses");
  REQUIRE(finding.status == Status::kFound);
  CHECK(finding.claim.find("inside of steps") != std::string::npos);
  CHECK(finding.recoverable_per_step.ns == doctest::Approx(8e6 * 11 / 58).epsilon(0.05));
  CHECK(without_pauses_ms(run) == doctest::Approx(step_ms(fives(""))).epsilon(0.02));
}

TEST_CASE("host-pauses says when each step has one") {
  const TextRun run("thread main\n  repeat 40\n    steps 1\n" + body() + "    host 4ms\n");
  const Finding& finding = run.finding("host-pauses");
  REQUIRE(finding.status == Status::kFound);
  CHECK(finding.sub_cause == "each-step");
  CHECK(finding.recoverable_per_step.ns == doctest::Approx(4'000'000).epsilon(0.05));
  auto each = [](const char* pause) {
    return TextRun("thread main\n  repeat 40\n    steps 1\n" + body() + "    host " + pause + "\n")
        .finding("host-pauses")
        .status;
  };
  CHECK(each("800us") == Status::kFound);  // 7 % of the step
  CHECK(each("300us") == Status::kFine);   // 3 %
}

TEST_CASE("host-pauses cannot tell without steps, or from few") {
  CHECK(TextRun("thread main\n  launch s16816gemm 5ms\n").finding("host-pauses").status ==
        Status::kCannotTell);
  CHECK(TextRun("thread main\n  steps 8\n" + test::healthy_step()).finding("host-pauses").status ==
        Status::kCannotTell);
}

TEST_CASE("without pauses: as a run that has none, on a device, on a processor, and on two ranks") {
  CHECK(without_pauses_ms(fives("host 60ms")) == doctest::Approx(step_ms(fives(""))).epsilon(0.01));
  CHECK(without_pauses_ms(fives("")) == -1);
  auto on_host = [](const char* between) {
    return TextRun(
        fmt::format("loader 1 prefetch=2\n  decode 2ms\nthread main\n  repeat 12\n"
                    "    steps 5\n      input\n      range forward phase=forward\n"
                    "        host 12ms\n{}",
                    between));
  };
  CHECK(without_pauses_ms(on_host("    host 60ms\n")) ==
        doctest::Approx(step_ms(on_host(""))).epsilon(0.01));
  auto two = [](const char* between) {
    return TextRun(
        fmt::format("ranks 2\nthread main\n  repeat 12\n    steps 5\n{}"
                    "      collective allreduce 25MB 1ms\n      sync device\n{}",
                    body(), between));
  };
  CHECK(without_pauses_ms(two("    host 60ms\n")) ==
        doctest::Approx(step_ms(two(""))).epsilon(0.01));
}

TEST_CASE("host-pauses names what runs in pauses, by samples of the stack and as a share of them") {
  auto claim = [](bool sampled) {
    test::TraceBuilder builder;
    std::int64_t t = 0;
    for (int i = 0; i < 40; ++i, t += 10'000'000) {
      builder.range(1, "step", t, t + 10'000'000, {.kind = trace::RangeKind::kStep, .step = i});
      builder.range(1, "conv2d", t, t + 10'000'000);
      if (i % 10 != 9) continue;
      // 40 ms: three quarters in the environment, a quarter in the loop itself.
      for (int k = 0; sampled && k < 8; ++k) {
        const std::int64_t at = t + 12'000'000 + k * 5'000'000;
        builder.sample(1, k % 4 == 3 ? "main (agent.py:7)" : "play (env.py:3);main (agent.py:5)",
                       at, 5'000);
      }
      t += 40'000'000;
    }
    test::AnalyzedRun run(builder);
    const Finding& finding = run.finding("host-pauses");
    REQUIRE(finding.status == Status::kFound);
    return finding.claim;
  };
  CHECK(claim(true).find("75.0 % of that time in 'play (env.py:3)'") != std::string::npos);
  CHECK(claim(true).find("Nothing is recorded") == std::string::npos);
  CHECK(claim(false).find("Nothing is recorded there.") != std::string::npos);
}

}  // namespace headway::analyzer
