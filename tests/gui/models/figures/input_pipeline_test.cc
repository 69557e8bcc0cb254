// SPDX-License-Identifier: MIT
#include "gui/models/figures/input_pipeline.h"

#include <doctest/doctest.h>

#include "tests/gui/support/sessions.h"

namespace headway::gui {
namespace {

using trace::RangeKind;

std::int64_t total(const LinkedTable& table, std::string_view stage, std::string_view column) {
  for (const auto& row : table.table.rows) {
    if (std::get<std::string>(row[0]) == stage)
      return std::get<std::int64_t>(row[static_cast<std::size_t>(table.column(column))]);
  }
  return -1;
}

}  // namespace

TEST_CASE("the stage with most of the workers' time is named, with what the step waits") {
  auto session = test::training_session();
  InputPipeline input = make_input_pipeline(session->trace, session->analysis);
  CHECK(input.knows_stages);
  CHECK(input.knows_waits);
  CHECK(input.missing.empty());
  CHECK(input.text.find("Decode takes most") != std::string::npos);
  CHECK(input.text.find("Steps wait for their batch") != std::string::npos);
  CHECK(input.workers.bars.size() == 2);
  CHECK(input.threads.table.rows.size() == 2);
  CHECK(input.waits.table.rows.size() == session->analysis.steps.all.size());
  for (const Target& link : input.stages.links) CHECK((link || input.stages.links.back() == link));
}

TEST_CASE("a worker's stages and its waiting make up the window exactly") {
  auto session = test::training_session();
  InputPipeline input = make_input_pipeline(session->trace, session->analysis);
  Interval window{TimeNs::max(), TimeNs::min()};
  for (std::uint32_t s : session->analysis.steps.steady) {
    window.begin = std::min(window.begin, session->analysis.steps.all[s].host.begin);
    window.end = std::max(window.end, session->analysis.steps.all[s].host.end);
  }
  for (const StackedBar& bar : input.workers.bars) CHECK(bar.total() == window.length());
}

TEST_CASE("stages are summed over workers and the rest of a batch is shown") {
  test::TraceBuilder builder;
  builder.range(5, "batch", 0, 100, {.kind = RangeKind::kBatch, .batch = 0});
  builder.range(5, "read", 0, 30, {.kind = RangeKind::kRead, .batch = 0, .bytes = 3000});
  builder.range(5, "decode", 40, 90, {.kind = RangeKind::kDecode, .batch = 0});
  builder.range(6, "batch", 50, 150, {.kind = RangeKind::kBatch, .batch = 1});
  builder.range(6, "decode", 50, 130, {.kind = RangeKind::kDecode, .batch = 1});
  auto session = test::session_of(builder);
  InputPipeline input = make_input_pipeline(session->trace, session->analysis);
  CHECK(total(input.stages, "Read", "total_ns") == 30);
  CHECK(total(input.stages, "Read", "bytes") == 3000);
  CHECK(total(input.stages, "Decode", "total_ns") == 130);
  CHECK(total(input.stages, "Other batch work", "total_ns") == 40);
  CHECK(total(input.stages, "Decode", "max_ns") == 80);
  CHECK(total(input.stages, "Augment", "total_ns") == -1);
  CHECK(!input.knows_waits);
}

TEST_CASE("a trace without a loader says what to record") {
  test::TraceBuilder builder;
  builder.range(1, "forward", 0, 100);
  auto session = test::session_of(builder);
  InputPipeline input = make_input_pipeline(session->trace, session->analysis);
  CHECK(input.missing.find("NVTX") != std::string::npos);
  test::TraceBuilder hostile;
  test::build_hostile(hostile, 100);
  auto broken = test::session_of(hostile);
  CHECK(!make_input_pipeline(broken->trace, broken->analysis).missing.empty());
}

}  // namespace headway::gui
