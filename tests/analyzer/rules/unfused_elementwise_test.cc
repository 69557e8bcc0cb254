// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/planted_run.h"

namespace headway::analyzer {
namespace {

using test::AnalyzedRun;
using test::TraceBuilder;
using trace::Phase;

/// conv -> batch norm -> relu -> conv, with `elementwise` ns in each of the middle two, 20 steps of
/// 1 ms.
void chain(TraceBuilder& builder, std::int64_t elementwise, bool graph = true, bool linked = true) {
  if (graph) {
    builder.graph_op(1, "conv2d", "conv1", Phase::kForward, {}, 100, 1000);
    builder.graph_op(2, "batch_norm", "bn1", Phase::kForward, {1}, 4000, 1000);
    if (linked) {
      builder.graph_op(3, "relu", "relu1", Phase::kForward, {2}, 2000, 1000);
    } else {
      builder.graph_op(3, "relu", "relu1", Phase::kForward, {1}, 2000, 1000);
    }
    builder.graph_op(4, "conv2d", "conv2", Phase::kForward, {3}, 100, 1000);
  }
  for (int s = 0; s < 20; ++s) {
    std::int64_t t = 1'000'000 + s * 1'000'000;
    builder.range(1, "step", t, t + 999'999, {.kind = trace::RangeKind::kStep, .step = s});
    std::int64_t now = t;
    std::int64_t rest = (1'000'000 - 2 * elementwise) / 2;
    for (int op = 1; op <= 4; ++op) {
      std::int64_t duration = op == 2 || op == 3 ? elementwise : rest;
      builder.launch(1, t - 100 + op, t - 99 + op + 1, now, now + duration,
                     {.name = "k", .phase = Phase::kForward, .op = op});
      now += duration;
    }
  }
}

}  // namespace

TEST_CASE("unfused-elementwise fires on a chain of batch norm and relu and estimates by traffic") {
  TraceBuilder builder;
  chain(builder, 150'000);
  AnalyzedRun run(builder);
  const Finding& finding = run.finding("unfused-elementwise");
  CHECK(finding.status == Status::kFound);
  CHECK(finding.sub_cause == "batch_norm → relu");
  // 300 µs for 6000 bytes; fusing saves one write and one read of 1000 bytes.
  CHECK(finding.recoverable_per_step.ns == 100'000);
  REQUIRE(!finding.evidence.empty());
  CHECK(finding.evidence[0].event.kind == EventRef::Kind::kDeviceOp);
}

TEST_CASE("unfused-elementwise is fine when the chain is cheap or the ops are not linked") {
  TraceBuilder cheap;
  chain(cheap, 60'000);
  CHECK(AnalyzedRun(cheap).finding("unfused-elementwise").status == Status::kFine);
  TraceBuilder unlinked;
  chain(unlinked, 150'000, true, false);
  CHECK(AnalyzedRun(unlinked).finding("unfused-elementwise").status == Status::kFine);
}

TEST_CASE("unfused-elementwise fires from five percent on") {
  TraceBuilder below;
  chain(below, 74'000);
  CHECK(AnalyzedRun(below).finding("unfused-elementwise").status == Status::kFine);
  TraceBuilder above;
  chain(above, 76'000);
  CHECK(AnalyzedRun(above).finding("unfused-elementwise").status == Status::kFound);
}

TEST_CASE("unfused-elementwise cannot tell without an op graph") {
  TraceBuilder builder;
  chain(builder, 150'000, false);
  CHECK(AnalyzedRun(builder).finding("unfused-elementwise").status == Status::kCannotTell);
}

}  // namespace headway::analyzer
