// SPDX-License-Identifier: MIT
#include "gui/models/flames/flame_graph.h"

#include <doctest/doctest.h>

#include "tests/gui/support/sessions.h"

namespace headway::gui {
namespace {

const FlameNode* node(const FlameGraph& graph, std::string_view name) {
  for (const FlameNode& one : graph.nodes) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("stacks that read alike are one box, as wide as their time") {
  test::TraceBuilder builder;
  builder.range(1, "batch 1", 0, 100);
  builder.range(1, "conv", 10, 50);
  builder.range(1, "relu", 50, 60);
  builder.range(1, "batch 2", 100, 300);
  builder.range(1, "conv", 110, 200);
  auto session = test::session_of(builder);
  FlameGraph graph =
      make_flame_graph(session->trace, session->analysis, FlameWeight::kHost, Scope::kWhole);
  const FlameNode* batch = node(graph, "batch #");
  REQUIRE(batch);
  CHECK(batch->total == DurationNs{300});
  CHECK(batch->count == 2);
  CHECK(batch->self == DurationNs{160});
  const FlameNode* conv = node(graph, "conv");
  REQUIRE(conv);
  CHECK(conv->total == DurationNs{130});
  CHECK(&graph.nodes[conv->parent] == batch);
  CHECK(session->timeline.interval_of(conv->longest).length() == DurationNs{90});
  CHECK(graph.nodes[0].total == DurationNs{300});
  CHECK(graph.matching("CONV") == DurationNs{130});
  CHECK(graph.matching("batch") == DurationNs{300});
  CHECK(graph.matching("") == DurationNs{});
}

TEST_CASE("device time stands in the stack of ranges that launched it") {
  test::TraceBuilder builder;
  builder.range(1, "forward", 0, 100);
  builder.range(1, "conv", 10, 50);
  builder.launch(1, 20, 22, 30, 80, {.name = "gemm"});
  builder.launch(1, 60, 62, 90, 100, {.name = "copy"});
  auto session = test::session_of(builder);
  FlameGraph graph =
      make_flame_graph(session->trace, session->analysis, FlameWeight::kDevice, Scope::kWhole);
  CHECK(graph.nodes[0].total == DurationNs{60});
  CHECK(node(graph, "forward")->total == DurationNs{60});
  CHECK(node(graph, "conv")->total == DurationNs{50});
  CHECK(graph.nodes[node(graph, "gemm")->parent].name == "conv");
  CHECK(graph.nodes[node(graph, "copy")->parent].name == "forward");
}

TEST_CASE("over the steady steps host time is cut at their edges") {
  auto session = test::training_session();
  FlameGraph graph =
      make_flame_graph(session->trace, session->analysis, FlameWeight::kHost, Scope::kSteady);
  DurationNs steady;
  for (std::uint32_t s : session->analysis.steps.steady)
    steady += session->analysis.steps.all[s].host.length();
  CHECK(graph.steps == static_cast<std::int64_t>(session->analysis.steps.steady.size()));
  // The training thread is inside its steps all the time.
  DurationNs step = node(graph, "step")->total;
  CHECK(step == steady);
  FlameGraph whole =
      make_flame_graph(session->trace, session->analysis, FlameWeight::kHost, Scope::kWhole);
  CHECK(whole.nodes[0].total > graph.nodes[0].total);
}

TEST_CASE("no child is wider than its parent and siblings do not overlap") {
  auto session = test::training_session();
  for (FlameWeight weight : {FlameWeight::kHost, FlameWeight::kDevice}) {
    FlameGraph graph = make_flame_graph(session->trace, session->analysis, weight, Scope::kSteady);
    REQUIRE(graph.nodes.size() > 10);
    for (std::size_t n = 1; n < graph.nodes.size(); ++n)
      CHECK(graph.nodes[n].total <= graph.nodes[graph.nodes[n].parent].total);
    std::vector<FlameBox> boxes = layout_flames(graph, 0, 800);
    for (const FlameBox& a : boxes) {
      CHECK(a.x >= -0.01);
      CHECK(a.x + a.width <= 800.01);
      for (const FlameBox& b : boxes) {
        bool apart = &a == &b || a.row != b.row || a.x + a.width <= b.x + 0.01 ||
                     b.x + b.width <= a.x + 0.01;
        CHECK(apart);
      }
    }
  }
}

TEST_CASE("zooming shows the ancestors above and the stack over the whole width") {
  auto session = test::training_session();
  FlameGraph graph =
      make_flame_graph(session->trace, session->analysis, FlameWeight::kHost, Scope::kSteady);
  std::uint32_t deep = 0;
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n)
    if (graph.nodes[n].depth > graph.nodes[deep].depth) deep = n;
  std::vector<FlameBox> boxes = layout_flames(graph, deep, 500);
  REQUIRE(boxes.size() > graph.nodes[deep].depth);
  for (std::size_t i = 0; i <= graph.nodes[deep].depth; ++i) {
    CHECK(boxes[i].row == static_cast<int>(i));
    CHECK(boxes[i].width == 500);
  }
  CHECK(boxes[graph.nodes[deep].depth].node == deep);
}

TEST_CASE("hostile ranges neither hang nor break the flame graph") {
  test::TraceBuilder builder;
  test::build_hostile(builder, 300);
  auto session = test::session_of(builder);
  for (FlameWeight weight : {FlameWeight::kHost, FlameWeight::kDevice}) {
    FlameGraph graph = make_flame_graph(session->trace, session->analysis, weight, Scope::kWhole);
    for (const FlameNode& one : graph.nodes) {
      CHECK(one.self >= DurationNs{});
      CHECK(one.name.size() < 4000);
    }
    CHECK(!layout_flames(graph, 0, 1000).empty());
  }
  std::atomic<bool> cancelled = true;
  CHECK(make_flame_graph(session->trace, session->analysis, FlameWeight::kHost, Scope::kWhole,
                         &cancelled)
            .nodes.size() == 1);
}

}  // namespace headway::gui
