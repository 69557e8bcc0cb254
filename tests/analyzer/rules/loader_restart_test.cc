// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string>

#include "tests/analyzer/text_run.h"

namespace headway::analyzer {
namespace {

using test::TextRun;

/// A step of 13 ms on the processor.
constexpr const char* kStep =
    "    range forward kind=phase phase=forward\n      host 4ms\n"
    "    range backward kind=phase phase=backward\n      host 8ms\n"
    "    range Optimizer.step#SGD.step kind=phase phase=update\n      host 1ms\n";

TextRun run_with(const std::string& range, const std::string& time) {
  std::string steps = std::string("    steps 10\n") + kStep;
  for (std::size_t at = steps.find("\n    range"); at != std::string::npos;
       at = steps.find("\n    range", at + 1))
    steps.insert(at + 1, "  ");
  for (std::size_t at = steps.find("\n      host"); at != std::string::npos;
       at = steps.find("\n      host", at + 1))
    steps.insert(at + 1, "  ");
  return TextRun("thread main\n  repeat 5\n" + steps + "    range " + range + "\n      host " +
                 time + "\n");
}

}  // namespace

TEST_CASE("loader-restart fires on workers that start with each epoch, and offers to keep them") {
  const TextRun run = run_with("DataLoader.__iter__", "40ms");
  const Finding& finding = run.finding("loader-restart");
  REQUIRE(finding.status == Status::kFound);
  CHECK(finding.share_of_step > 0.15);
  CHECK(finding.share_of_step < 0.25);
  bool keeps = false;
  for (const Advice& advice : finding.advice)
    keeps |= advice.knob.find("persistent_workers") != std::string::npos;
  CHECK(keeps);
}

TEST_CASE("loader-restart is fine with a quick restart, and with another cause") {
  CHECK(run_with("DataLoader.__iter__", "2ms").finding("loader-restart").status == Status::kFine);
  CHECK(run_with("evaluate", "40ms").finding("loader-restart").status == Status::kFine);
}

TEST_CASE("loader-restart cannot tell without steps") {
  TextRun none("thread main\n  launch s16816gemm 5ms\n");
  CHECK(none.finding("loader-restart").status == Status::kCannotTell);
}

}  // namespace headway::analyzer
