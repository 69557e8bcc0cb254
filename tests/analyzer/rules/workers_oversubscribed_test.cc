// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/text_run.h"

namespace headway::analyzer {

using test::healthy_step;
using test::TextRun;

namespace {

/// Launches every 64 us of kernels of 20 us, beside `workers` that decode all the time.
TextRun slow_host(int workers, int processors, const std::string& more = "") {
  return TextRun("meta cpu_count " + std::to_string(processors) + "\n" + more + "loader " +
                 std::to_string(workers) +
                 " prefetch=4\n  decode 3ms\nthread main\n  steps 40\n    input\n"
                 "    repeat 60\n      host 60us\n      launch k 20us blocks=864\n");
}

}  // namespace

TEST_CASE("workers-oversubscribed fires when more threads compute than there are processors") {
  // Workers that make batches without a pause: the trainer takes one each 4 ms.
  TextRun run(
      "meta cpu_count 4\nloader 12 prefetch=20\n  decode 50ms\nthread main\n  steps 40\n    input\n"
      "    repeat 60\n      host 60us\n      launch k 20us blocks=864\n");
  const Finding& finding = run.finding("workers-oversubscribed");
  REQUIRE(finding.status == Status::kFound);
  CHECK(finding.claim.find("12 workers and the trainer want") != std::string::npos);
  CHECK(finding.recoverable_per_step < run.finding("launch-bound").recoverable_per_step);
  CHECK(!finding.evidence.empty());
}

TEST_CASE("workers-oversubscribed is fine with as many processors as busy threads") {
  CHECK(slow_host(2, 4).finding("workers-oversubscribed").status == Status::kFine);
}

TEST_CASE("workers-oversubscribed believes samples that show idle processors") {
  CHECK(slow_host(12, 2, "counter machine.cpu 89 unit=%\n")
            .finding("workers-oversubscribed")
            .status == Status::kFine);
}

TEST_CASE("workers-oversubscribed is fine when the host is ahead of the device") {
  TextRun run("meta cpu_count 2\nloader 12\n  decode 50ms\nthread main\n  steps 20\n    input\n" +
              healthy_step());
  CHECK(run.finding("workers-oversubscribed").status != Status::kFound);
}

TEST_CASE("workers-oversubscribed cannot tell without the number of processors or of workers") {
  TextRun run("thread main\n  steps 20\n    repeat 60\n      host 60us\n      launch k 20us\n");
  CHECK(run.finding("workers-oversubscribed").status == Status::kCannotTell);
}

}  // namespace headway::analyzer
