// SPDX-License-Identifier: MIT
#include "gui/models/timeline/step_lengths.h"

#include <doctest/doctest.h>

#include "gui/models/opening/session.h"
#include "tests/analyzer/ranks/planted_job.h"
#include "tests/gui/support/sessions.h"

namespace headway::gui {

TEST_CASE("a step has one length: that of the Steps page") {
  const auto session = test::training_session();
  const StepLengths lengths = step_lengths(session->analysis);
  REQUIRE(lengths.length.size() == session->analysis.steps.all.size());
  REQUIRE(!session->step_charts.empty());
  for (const StepBar& bar : session->step_charts.front().bars) {
    CHECK(lengths.length[bar.step] == bar.length());
    CHECK(session->timeline.step_lengths.length[bar.step] == bar.length());
    CHECK(lengths.on_device[bar.step]);
  }
}

TEST_CASE("without device work a step lasts until the next one begins") {
  analyzer::Analysis analysis;
  analysis.steps.all = {{0, {}, {}, {{0}, {8}}, {10}}, {1, {}, {}, {{10}, {19}}, {19}}};
  const StepLengths lengths = step_lengths(analysis);
  CHECK(lengths.length[0] == DurationNs{10});
  CHECK(lengths.length[1] == DurationNs{9});
  CHECK(!lengths.on_device[0]);
}

TEST_CASE("a device op belongs to the step that the device works for, of its own rank") {
  const trace::Trace trace = test::planted_trace(test::kEvenJob);
  const analyzer::Analysis analysis = analyzer::analyze(trace);
  for (std::uint32_t op = 0; op < trace.device_ops.size(); ++op) {
    const auto step = step_of(trace, analysis, analyzer::EventRef::of(trace::DeviceOpId{op}));
    if (!step) continue;
    const auto process_of_stream = trace.streams[trace.device_ops.stream[op].value].process;
    CHECK(trace.threads[analysis.steps.all[*step].thread.value].process == process_of_stream);
  }
  for (std::uint32_t range = 0; range < trace.ranges.size(); ++range) {
    const auto step = step_of(trace, analysis, analyzer::EventRef::of(trace::RangeId{range}));
    if (!step) continue;
    CHECK(trace.threads[analysis.steps.all[*step].thread.value].process ==
          trace.threads[trace.ranges.thread[range].value].process);
  }
}

}  // namespace headway::gui
