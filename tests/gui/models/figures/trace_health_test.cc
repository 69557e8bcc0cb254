// SPDX-License-Identifier: MIT
#include "gui/models/figures/trace_health.h"

#include <doctest/doctest.h>

#include "tests/gui/support/sessions.h"

namespace headway::gui {
namespace {

const HealthLine* line(const TraceHealth& health, std::string_view what) {
  for (const HealthSection& section : health.sections) {
    for (const HealthLine& one : section.lines)
      if (one.what.starts_with(what)) return &one;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("a whole trace is called whole, and what was recorded is counted") {
  auto session = test::training_session();
  TraceHealth health = make_trace_health(session->trace, session->analysis);
  CHECK(health.worst != HealthLevel::kLoss);
  REQUIRE(line(health, "Training steps"));
  CHECK(line(health, "Training steps")->level == HealthLevel::kGood);
  CHECK(line(health, "Stages of the input pipeline")->level == HealthLevel::kGood);
  CHECK(line(health, "Device ops with a recorded launch call")->level == HealthLevel::kGood);
  CHECK(line(health, "None: all"));
}

TEST_CASE("what is missing comes with what to record") {
  test::TraceBuilder builder;
  builder.range(1, "r", 0, 100);
  auto session = test::session_of(builder);
  TraceHealth health = make_trace_health(session->trace, session->analysis);
  CHECK(line(health, "Device ops")->value == "not recorded");
  CHECK(!line(health, "Device ops")->advice.empty());
  CHECK(line(health, "Training steps")->level == HealthLevel::kDoubt);
  CHECK(line(health, "Device ops with") == nullptr);
}

TEST_CASE("a cut run and an audit's complaint are told, with a place to look at") {
  test::TraceBuilder builder;
  builder.launch(1, 0, 1, 100, 300, {.name = "a"});
  builder.launch(1, 2, 3, 200, 400, {.name = "b"});
  builder.process_killed(9, 500);
  auto session = test::session_of(builder);
  TraceHealth health = make_trace_health(session->trace, session->analysis);
  CHECK(health.worst == HealthLevel::kLoss);
  CHECK(health.headline.find("missing") != std::string::npos);
  const HealthLine* overlap = line(health, "overlap_on_stream");
  REQUIRE(overlap);
  CHECK(overlap->target);
  CHECK(overlap->level == HealthLevel::kDoubt);
}

}  // namespace headway::gui
