// SPDX-License-Identifier: MIT
#include "gui/models/details/details.h"

#include <doctest/doctest.h>

#include "tests/gui/support/sessions.h"

namespace headway::gui {
namespace {

using analyzer::EventRef;

const Detail* line(const std::vector<Detail>& details, std::string_view label) {
  for (const Detail& detail : details) {
    if (detail.label == label) return &detail;
  }
  return nullptr;
}

std::string value(const std::vector<Detail>& details, std::string_view label) {
  const Detail* found = line(details, label);
  return found ? found->value : "(no such line)";
}

}  // namespace

TEST_CASE("a device op tells its op, batch, rates and launching call, which leads back to it") {
  test::TraceBuilder builder;
  builder.graph_op(4, "conv2d", "layer1.conv", trace::Phase::kForward, {});
  builder.range(1, "step", 0, 10'000, {.kind = trace::RangeKind::kStep, .step = 7});
  builder.range(1, "layer1.conv", 100, 900,
                {.kind = trace::RangeKind::kOp, .phase = trace::Phase::kForward, .op = 4});
  builder.launch(1, 200, 300, 1'000, 3'000,
                 {.name = "conv_kernel",
                  .phase = trace::Phase::kForward,
                  .op = 4,
                  .batch = 3,
                  .bytes = 4'000,
                  .flops = 2'000'000});
  builder.launch(1, 400, 500, 4'000, 10'000, {.name = "conv_kernel"});
  auto session = test::session_of(builder);
  Target op = Target::of(EventRef::of(trace::DeviceOpId{0}));
  std::vector<Detail> details = describe(session->timeline, op);
  CHECK(title_of(session->timeline, op) == "conv_kernel");
  CHECK(value(details, "Duration") == "2.00 µs");
  CHECK(value(details, "Op") == "layer1.conv (conv2d)");
  CHECK(value(details, "Batch") == "3");
  CHECK(value(details, "Bytes") == "4.00 kB · 2.00 GB/s");
  CHECK(value(details, "Operations") == "2.00 MFLOP · 1.00 TFLOP/s");
  CHECK(value(details, "Path") == "step › layer1.conv");
  CHECK(value(details, "Since launch").starts_with("800 ns"));
  CHECK(value(details, "In step") == "7");
  CHECK(value(details, "Same name").starts_with("2 events"));
  REQUIRE(line(details, "Launched by"));
  Target call = line(details, "Launched by")->link;
  CHECK(call == Target::of(EventRef::of(trace::CallId{0})));
  std::vector<Detail> of_call = describe(session->timeline, call);
  REQUIRE(line(of_call, "Enqueued"));
  CHECK(line(of_call, "Enqueued")->link == op);
}

TEST_CASE("a range tells its own time outside of inner ranges") {
  test::TraceBuilder builder;
  builder.range(1, "outer", 0, 1'000);
  builder.range(1, "a", 100, 300);
  builder.range(1, "inner of a", 150, 250);
  builder.range(1, "b", 500, 600);
  auto session = test::session_of(builder);
  std::vector<Detail> details =
      describe(session->timeline, Target::of(test::event_named(session->trace, "outer")));
  CHECK(value(details, "Own time").starts_with("700 ns"));
  details =
      describe(session->timeline, Target::of(test::event_named(session->trace, "inner of a")));
  CHECK(value(details, "Path") == "outer › a › inner of a");
}

TEST_CASE("an op without a launching call says so, an unfinished range and a mark too") {
  test::TraceBuilder builder;
  builder.mark(1, "epoch", 50);
  builder.open_range(1, "open", 10);
  builder.launch(1, 0, 5, 20, 30, {.name = "k"});
  builder.process_killed(9, 100);
  trace::Trace trace = builder.load();
  trace.device_ops.call[0] = {};
  auto session = make_session(std::move(trace));
  auto text = [&](EventRef event, std::string_view label) {
    return value(describe(session->timeline, Target::of(event)), label);
  };
  CHECK(text(EventRef::of(trace::DeviceOpId{0}), "Launched by").starts_with("unknown"));
  CHECK(text(test::event_named(session->trace, "open"), "Note").starts_with("never ended"));
  CHECK(text(test::event_named(session->trace, "epoch"), "Kind") == "Mark");
}

TEST_CASE("a selected time tells its length, the classes that fill it and the busiest names") {
  auto session = test::training_session();
  const analyzer::DeviceStep& step = session->analysis.partitions[0].steps[10];
  std::vector<Detail> details = describe(session->timeline, step.interval);
  CHECK(value(details, "Length") == value(details, "Length"));
  // The classes of a whole step are those of the partition.
  for (const analyzer::TimeClassInfo& info : analyzer::time_classes()) {
    if (step.times[info.time_class].ns == 0) continue;
    REQUIRE(line(details, info.label));
  }
  CHECK(line(details, "Stream 1 of device 0"));
  CHECK(line(details, "conv2d_backward_nhwc"));
  CHECK(line(details, "conv2d_backward_nhwc")->link);
}

TEST_CASE("segments and steps are described with what caused them") {
  auto session = test::training_session();
  const auto& segments = session->analysis.partitions[0].segments;
  for (std::uint32_t i = 0; i < segments.size(); ++i) {
    if (segments[i].time_class != analyzer::TimeClass::kDecode) continue;
    std::vector<Detail> details = describe(session->timeline, Target::segment(0, i));
    CHECK(value(details, "Class") == "Input: decode");
    REQUIRE(line(details, "Because of"));
    CHECK(line(details, "Because of")->link);
    break;
  }
  CHECK(title_of(session->timeline, Target::step(4)) == "Step 4");
  CHECK(line(describe(session->timeline, Target::step(4)), "Compute"));
  CHECK(value(describe(session->timeline, Target::step(0)), "Note").starts_with("excluded"));
}

TEST_CASE("every event of a hostile trace can be described, in short lines") {
  test::TraceBuilder builder;
  test::build_hostile(builder, 3);
  auto session = test::session_of(builder);
  for (const Row& row : session->timeline.rows) {
    RowId id = RowId::from(static_cast<std::size_t>(&row - session->timeline.rows.data()));
    for (const Lane& lane : row.lanes) {
      Target target = session->timeline.target_of(id, lane.rows(0).front());
      CHECK(title_of(session->timeline, target).size() < 4 * 500);
      for (const Detail& detail : describe(session->timeline, target)) {
        CHECK(detail.value.size() < 4'000);
        CHECK(detail.value.find('\n') == std::string::npos);
        CHECK(detail.value.find('\x1b') == std::string::npos);
      }
    }
  }
}

}  // namespace headway::gui
