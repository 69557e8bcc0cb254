// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/planted_run.h"
#include "tests/analyzer/text_run.h"

namespace headway::analyzer {

using test::AnalyzedRun;
using test::PlantedRun;

TEST_CASE("host-sync fires on a wait after every kernel and calls it per-op") {
  AnalyzedRun run(PlantedRun{.sync_every_kernel = true});
  const Finding& finding = run.finding("host-sync");
  CHECK(finding.status == Status::kFound);
  CHECK(finding.sub_cause == "per-op");
  CHECK(run.analysis.findings[0].rule == "host-sync");
  // 11 kernels: 30 µs to wake up, 1 µs to the next launch, 8 µs latency each.
  CHECK(finding.recoverable_per_step.ns == 11 * 39'000);
  REQUIRE(!finding.evidence.empty());
  CHECK(finding.evidence[0].event.kind == EventRef::Kind::kCall);
}

TEST_CASE("host-sync is fine when waits return before the queue is empty") {
  test::TraceBuilder builder;
  PlantedRun{}.build(builder);
  for (int i = 0; i < 20; ++i)
    builder.call(1, trace::DeviceCallKind::kEventSynchronize, 2'000'000 + i * 1'000'000,
                 2'000'500 + i * 1'000'000);
  AnalyzedRun run(builder);
  CHECK(run.finding("host-sync").status == Status::kFine);
}

TEST_CASE("host-sync is fine at small shares and fires at larger ones") {
  CHECK(AnalyzedRun(PlantedRun{.kernel = 1'000'000, .sync_every_kernel = true})
            .finding("host-sync")
            .status == Status::kFine);
  CHECK(AnalyzedRun(PlantedRun{.kernel = 500'000, .sync_every_kernel = true})
            .finding("host-sync")
            .status == Status::kFound);
}

TEST_CASE("host-sync cannot tell without steps on a device") {
  test::TraceBuilder builder;
  builder.range(1, "step", 0, 100, {.kind = trace::RangeKind::kStep});
  CHECK(AnalyzedRun(builder).finding("host-sync").status == Status::kCannotTell);
}

TEST_CASE("host-sync names the framework's op behind the wait, without its id") {
  test::TextRun run(
      "thread main\n  steps 12\n    repeat 10\n      host 4us\n      launch k 100us blocks=864\n"
      "      range \"aten::is_nonzero, op_id = 3\" domain=cpu_op\n"
      "        range \"aten::item, op_id = 4\" domain=cpu_op\n"
      "          range \"aten::_local_scalar_dense, op_id = 5\" domain=cpu_op\n"
      "            copy d2h 1B memory=pageable\n            sync stream wake=40us\n");
  const Finding& finding = run.finding("host-sync");
  REQUIRE(finding.status == Status::kFound);
  CHECK(finding.claim.find("comes from 'aten::is_nonzero'") != std::string::npos);
  CHECK(finding.evidence.at(0).note.find("aten::is_nonzero") != std::string::npos);
}

TEST_CASE("host-sync is fine when the wait is for the step before") {
  test::TextRun run("thread main\n  steps 12\n    on from=1\n      sync event done\n" +
                    test::healthy_step(20, 300) + "    record done\n" + test::healthy_step(4, 300));
  CHECK(run.finding("host-sync").status == Status::kFine);
}

}  // namespace headway::analyzer
