// SPDX-License-Identifier: MIT
#include "analyzer/audit.h"

#include <doctest/doctest.h>

#include <set>

#include "analyzer/analysis.h"
#include "tests/support/trace_builder.h"

namespace headway::analyzer {
namespace {

using test::TraceBuilder;

std::int64_t count_of(const std::vector<AuditResult>& results, Audit check) {
  for (const AuditResult& result : results) {
    if (result.check == check) return result.count;
  }
  return 0;
}

}  // namespace

TEST_CASE("a sound trace passes every check") {
  TraceBuilder builder;
  builder.range(1, "outer", 0, 100);
  builder.range(1, "inner", 10, 50);
  builder.launch(1, 0, 5, 20, 40, {});
  builder.launch(1, 6, 9, 40, 60, {});
  CHECK(audit(builder.load()).empty());
}

TEST_CASE("ops that overlap on one stream are counted with the time they share") {
  TraceBuilder builder;
  builder.launch(1, 0, 5, 100, 200, {});
  builder.launch(1, 6, 9, 170, 260, {});
  builder.launch(1, 10, 12, 150, 400, {.stream = 2});
  auto results = audit(builder.load());
  REQUIRE(results.size() == 1);
  CHECK(results[0].check == Audit::kOverlapOnStream);
  CHECK(results[0].count == 1);
  CHECK(results[0].time.ns == 30);
}

TEST_CASE("ops without duration and crossing ranges and calls are counted") {
  TraceBuilder builder;
  builder.launch(1, 0, 5, 100, 100, {});
  builder.range(1, "a", 0, 100);
  builder.range(1, "b", 50, 150);
  builder.call(2, trace::DeviceCallKind::kEventRecord, 0, 100);
  builder.call(2, trace::DeviceCallKind::kEventRecord, 90, 120);
  auto results = audit(builder.load());
  CHECK(count_of(results, Audit::kOpWithoutDuration) == 1);
  CHECK(count_of(results, Audit::kCrossingRanges) == 1);
  CHECK(count_of(results, Audit::kCallsCross) == 1);
}

TEST_CASE("a kernel whose end was lost is found among others of its name") {
  TraceBuilder builder;
  for (int i = 0; i < 20; ++i)
    builder.launch(1, i * 1000, i * 1000 + 5, i * 1000 + 10, i * 1000 + 500, {.name = "gemm"});
  builder.launch(1, 30'000, 30'005, 30'010, 5'000'000'000, {.name = "gemm"});
  auto results = audit(builder.load());
  CHECK(count_of(results, Audit::kOpFarTooLong) == 1);
}

TEST_CASE("what the audit finds is among the doubts, the worst first") {
  TraceBuilder builder;
  builder.launch(1, 0, 5, 100, 200, {});
  builder.launch(1, 6, 9, 170, 260, {});
  trace::Trace trace = builder.load();
  Analysis analysis = analyze(trace);
  bool told = false;
  for (const Doubt& doubt : analysis.doubts)
    told = told || doubt.text.find("overlap_on_stream: 1, 30 ns") != std::string::npos;
  CHECK(told);
}

TEST_CASE("every check is declared with an id of its own and a text") {
  std::set<std::string_view> ids;
  for (const AuditCheck& check : audit_checks()) {
    CHECK(ids.insert(check.id).second);
    CHECK(check.text.size() > 20);
  }
}

}  // namespace headway::analyzer
