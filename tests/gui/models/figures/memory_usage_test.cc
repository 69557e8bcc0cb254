// SPDX-License-Identifier: MIT
#include "gui/models/figures/memory_usage.h"

#include <doctest/doctest.h>

#include <limits>

#include "tests/gui/support/sessions.h"

namespace headway::gui {

TEST_CASE("peaks, growth and peaks by step come from the counters of memory alone") {
  test::TraceBuilder builder;
  for (int s = 0; s < 12; ++s) {
    std::int64_t t = s * 1000;
    builder.range(1, "step", t, t + 1000, {.kind = trace::RangeKind::kStep, .step = s});
    builder.launch(1, t + 10, t + 20, t + 30, t + 900,
                   {.name = "sgd", .phase = trace::Phase::kUpdate});
    builder.counter("process.memory", "bytes", t + 500, 1e9 + s * 1e8 + (s == 7 ? 5e9 : 0));
    builder.counter("process.memory", "bytes", t + 990, 1e9 + s * 1e8);
    builder.counter("process.read", "bytes/s", t + 500, 1e12);
  }
  auto session = test::session_of(builder);
  MemoryUsage memory = make_memory_usage(session->trace, session->analysis);
  REQUIRE(memory.series.size() == 1);
  CHECK(memory.series[0].title == "process.memory");
  CHECK(memory.series[0].peak == doctest::Approx(6.7e9));
  CHECK(memory.series[0].peak_at == TimeNs{7500});
  CHECK(memory.missing.empty());
  REQUIRE(memory.growth.table.rows.size() == 1);
  int per_step = memory.growth.column("per_step");
  REQUIRE(per_step > 0);
  CHECK(std::get<std::int64_t>(memory.growth.table.rows[0][static_cast<std::size_t>(per_step)]) ==
        100'000'000);
  CHECK(memory.text.find("grows by 100 MB a step") != std::string::npos);
  REQUIRE(memory.steps.table.rows.size() == 12);
  CHECK(std::get<std::int64_t>(memory.steps.table.rows[7][2]) == 6'700'000'000);
  CHECK(memory.steps.links[7].kind == Target::Kind::kStep);
}

TEST_CASE("allocations are listed by call and lead to the longest") {
  test::TraceBuilder builder;
  builder.call(1, trace::DeviceCallKind::kAllocate, 0, 50);
  builder.call(1, trace::DeviceCallKind::kAllocate, 100, 300);
  builder.call(1, trace::DeviceCallKind::kFree, 400, 410);
  builder.call(1, trace::DeviceCallKind::kDeviceSynchronize, 500, 900);
  auto session = test::session_of(builder);
  MemoryUsage memory = make_memory_usage(session->trace, session->analysis);
  REQUIRE(memory.calls.table.rows.size() == 2);
  std::uint32_t most = arranged(memory.calls, {memory.calls.sort_column, true, ""})[0];
  CHECK(session->timeline.interval_of(memory.calls.links[most]).length() == DurationNs{200});
  CHECK(memory.missing.find("headway record") != std::string::npos);
}

TEST_CASE("samples that are no amount of memory are passed over") {
  test::TraceBuilder builder;
  test::build_hostile(builder, 10);
  auto session = test::session_of(builder);
  MemoryUsage memory = make_memory_usage(session->trace, session->analysis);
  for (const MemoryUsage::Series& series : memory.series) CHECK(series.peak <= 1e18);
  CHECK(counter_value(std::numeric_limits<double>::infinity(), "bytes") == "–");
  CHECK(counter_value(1.5e9, "bytes") == "1.50 GB");
  CHECK(counter_value(12.34, "%") == "12.3 %");
}

}  // namespace headway::gui
