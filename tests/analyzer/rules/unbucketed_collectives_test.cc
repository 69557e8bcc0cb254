// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/analyzer/planted_run.h"
#include "tests/analyzer/text_run.h"

namespace headway::analyzer {
namespace {

using test::TextRun;

TextRun exchange(int count, const std::string& size, const std::string& time) {
  return TextRun(fmt::format(
      "world 2\nthread main\n  steps 12\n    repeat 10\n      launch k 500us phase=backward "
      "blocks=864\n    record gradients\n    await gradients stream=comm\n    repeat {}\n      "
      "host 30us\n      collective allreduce {} {} "
      "communicator=dp\n    record reduced stream=comm\n    await reduced\n    range update "
      "phase=update\n      launch adam 150us\n    sync stream\n",
      count, size, time));
}

}  // namespace

TEST_CASE("unbucketed-collectives fires on one small all-reduce per parameter") {
  TextRun run = exchange(200, "40KB", "20us");
  const Finding& finding = run.finding("unbucketed-collectives");
  REQUIRE(finding.status == Status::kFound);
  // 8 MB need one bucket: 199 of 200 times 20 us, and gaps.
  CHECK(finding.recoverable_per_step.ns >= 199 * 20'000);
  CHECK(!finding.evidence.empty());
}

TEST_CASE("unbucketed-collectives counts from 32 on") {
  CHECK(exchange(31, "40KB", "100us").finding("unbucketed-collectives").status == Status::kFine);
  CHECK(exchange(32, "40KB", "100us").finding("unbucketed-collectives").status == Status::kFound);
}

TEST_CASE("unbucketed-collectives is fine with buckets") {
  CHECK(exchange(8, "25MB", "900us").finding("unbucketed-collectives").status == Status::kFine);
}

TEST_CASE("unbucketed-collectives cannot tell without steps on a device") {
  test::TraceBuilder builder;
  builder.range(1, "step", 0, 100, {.kind = trace::RangeKind::kStep});
  CHECK(test::AnalyzedRun(builder).finding("unbucketed-collectives").status == Status::kCannotTell);
}

}  // namespace headway::analyzer
