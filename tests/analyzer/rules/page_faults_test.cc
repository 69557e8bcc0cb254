// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string>

#include "analyzer/evidence/page_faults.h"
#include "analyzer/whatif/fix.h"
#include "tests/analyzer/text_run.h"

namespace headway::analyzer {
namespace {

using test::TextRun;

/// Steps of 13 ms on the processor.
TextRun run_with(const std::string& counted) {
  return TextRun((counted.empty() ? "" : "setting page_faults \"" + counted + "\"\n") +
                 "thread main\n  steps 40\n"
                 "    range \"nn.Module: Net\" kind=phase phase=forward\n      host 4ms\n"
                 "    range backward kind=phase phase=backward\n      host 8ms\n"
                 "    range Optimizer.step#SGD.step kind=phase phase=update\n      host 1ms\n");
}

Status status_of(const std::string& counted) {
  return run_with(counted).finding("page-faults").status;
}

double gain_ms(const TextRun& run) {
  const Predictor predictor(run.trace, run.analysis);
  const Proposal proposal = find_fix("keep-freed-memory")->propose(predictor);
  REQUIRE(proposal.applies);
  return static_cast<double>(predictor.predict(proposal.scenario).gain.ns) / 1e6;
}

bool applies(const TextRun& run) {
  return find_fix("keep-freed-memory")->propose(Predictor(run.trace, run.analysis)).applies;
}

}  // namespace

TEST_CASE("page faults cost their number times what one takes among other work") {
  const TextRun run = run_with("per_step=2000 ns=1600 libc=1 pid=" +
                               std::to_string(run_with("").trace.processes[0].pid));
  const Finding& finding = run.finding("page-faults");
  REQUIRE(finding.status == Status::kFound);
  CHECK(finding.recoverable_per_step == DurationNs{4'000'000});
  CHECK(!finding.evidence.empty());
  CHECK(gain_ms(run) == doctest::Approx(4).epsilon(0.02));
}

TEST_CASE("page faults that nobody counted, or of another process, say nothing, and few are fine") {
  CHECK(status_of("") == Status::kCannotTell);
  CHECK(status_of("per_step=2000 ns=1600 libc=1 pid=1") == Status::kCannotTell);
  for (const char* no : {"per_step=2000", "ns=1600 libc=1", "per_step=-2 ns=1600",
                         "per_step=x ns=1", "per_step=nan ns=1600", "per_step=1e300 ns=1e300"})
    CHECK(status_of(no) == Status::kCannotTell);
  CHECK(status_of("per_step=100 ns=1600 libc=1") == Status::kFine);
  const TextRun few = run_with("per_step=3 ns=0 libc=1");  // too few for one to be measured
  CHECK(few.finding("page-faults").status == Status::kFine);
  CHECK(few.finding("page-faults").claim.find("3 in each step") != std::string::npos);
  CHECK(!applies(few));
  CHECK(!applies(run_with("per_step=5 ns=1600 libc=1")));
  CHECK(!applies(run_with("")));
}

TEST_CASE("the C library can be told to keep memory only where it gives memory back") {
  const TextRun other = run_with("per_step=2000 ns=1600 libc=0");
  CHECK(other.finding("page-faults").status == Status::kFound);
  CHECK(!applies(other));
}

TEST_CASE("faults are never all that a thread computes") {
  const TextRun run = run_with("per_step=20000 ns=1600 libc=1");
  CHECK(gain_ms(run) == doctest::Approx(0.9 * 13).epsilon(0.02));
}

}  // namespace headway::analyzer
