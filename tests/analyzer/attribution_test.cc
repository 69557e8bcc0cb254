// SPDX-License-Identifier: MIT
#include "analyzer/attribution/attribution.h"

#include <doctest/doctest.h>

#include "tests/support/property.h"
#include "tests/support/trace_builder.h"

namespace headway::analyzer {

using test::TraceBuilder;
using trace::Phase;

TEST_CASE(
    "an op is attributed by its own tag, else by the ranges around its launch, else not at all") {
  TraceBuilder builder;
  builder.graph_op(4, "conv2d", "layer1.conv", Phase::kForward, {});
  builder.graph_op(5, "relu", "layer1.relu", Phase::kForward, {4});
  builder.range(1, "forward", 0, 100, {.kind = trace::RangeKind::kPhase, .phase = Phase::kForward});
  builder.range(1, "layer1.relu", 20, 40, {.kind = trace::RangeKind::kOp, .op = 5});
  builder.range(1, "aten::add, op_id = 77", 50, 60);
  builder.launch(1, 5, 6, 10, 11, {.name = "tagged", .op = 4});
  builder.launch(1, 25, 26, 30, 31, {.name = "by range"});
  builder.launch(1, 55, 56, 60, 61, {.name = "by name"});
  builder.launch(1, 200, 201, 210, 211, {.name = "outside"});
  trace::Trace trace = builder.load();
  Attribution attribution = attribute(trace);
  auto op = [&](int i) {
    return attribution.ops[attribution.op_of[static_cast<std::size_t>(i)].value];
  };
  CHECK(op(0).name == "layer1.conv");
  CHECK(op(0).type == "conv2d");
  CHECK(op(1).name == "layer1.relu");
  CHECK(op(2).name == "aten::add");
  CHECK(op(3).name == "(unattributed)");
  CHECK(attribution.phase_of[2] == Phase::kForward);
  CHECK(attribution.phase_of[3] == Phase::kNone);
}

TEST_CASE("the innermost range is what a scan over all ranges finds") {
  test::check_property("innermost", [] {
    TraceBuilder builder;
    // Properly nested: split intervals recursively.
    std::int64_t next = 0;
    auto nest = [&](auto&& self, std::int64_t begin, std::int64_t end, int depth) -> void {
      if (end - begin < 3 || depth > 4) return;
      std::int64_t a = *rc::gen::inRange(begin, end - 1);
      std::int64_t b = *rc::gen::inRange(a + 1, end);
      builder.range(1, "r" + std::to_string(next++), a, b);
      self(self, a, b, depth + 1);
      self(self, b, end, depth + 1);
    };
    nest(nest, 0, 60, 0);
    trace::Trace trace = builder.load();
    if (trace.threads.empty()) return;
    for (std::int64_t t = 0; t < 60; ++t) {
      trace::RangeId expected;
      for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
        if (trace.ranges.interval(trace::RangeId{i}).contains({t}))
          expected = trace::RangeId{i};  // sorted: later is inner
      }
      RC_ASSERT(innermost_range(trace, trace::ThreadId{0}, {t}) == expected);
    }
  });
}

}  // namespace headway::analyzer
