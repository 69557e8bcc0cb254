// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "analyzer/evidence/padding.h"
#include "analyzer/whatif/fix.h"
#include "tests/analyzer/text_run.h"
#include "tests/support/trace_builder.h"

namespace headway::analyzer {
namespace {

using test::TextRun;

TextRun padded(const std::string& padding) {
  return TextRun((padding.empty() ? "" : "setting padding " + padding + "\n") +
                 "thread main\n  steps 20\n" + test::healthy_step() + "    sync stream\n");
}

Status status_of(const std::string& padding) {
  return padded(padding).finding("padding").status;
}

}  // namespace

TEST_CASE("padding costs its share of what the device computes") {
  const TextRun run = padded("0.34");
  const Finding& finding = run.finding("padding");
  REQUIRE(finding.status == Status::kFound);
  CHECK(finding.claim.find("34.0 %") != std::string::npos);
  CHECK(finding.share_of_step > 0.25);
  CHECK(finding.share_of_step <= 0.34);
  CHECK(!finding.evidence.empty());
  CHECK(std::ranges::find(finding.advice, "PyTorch", &Advice::framework) != finding.advice.end());
}

TEST_CASE("padding below a twentieth of the step is fine, and what is no share says nothing") {
  CHECK(status_of("0.02") == Status::kFine);
  CHECK(status_of("0") == Status::kFine);
  for (const char* no : {"", "much", "-0.1", "1", "0.3x", "nan", "1e400"})
    CHECK(status_of(no) == Status::kCannotTell);
}

TEST_CASE("without padding, kernels take what is content and are not launched for the rest") {
  auto step_ms = [](const TextRun& run, bool fixed) {
    const Predictor predictor(run.trace, run.analysis);
    if (!fixed) return static_cast<double>(predictor.baseline().recorded.ns) / 1e6;
    const Proposal proposal = find_fix("less-padding")->propose(predictor);
    REQUIRE(proposal.applies);
    return static_cast<double>(predictor.predict(proposal.scenario).step.ns) / 1e6;
  };
  const TextRun half = padded("0.5");
  const double now = step_ms(half, false);
  const double then = step_ms(half, true);
  CHECK(then < 0.56 * now);
  CHECK(then > 0.45 * now);
  const TextRun none = padded("0");
  CHECK(!find_fix("less-padding")->propose(Predictor(none.trace, none.analysis)).applies);
}

}  // namespace headway::analyzer
