// SPDX-License-Identifier: MIT
#include "gui/models/flames/call_stacks.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/gui/support/sessions.h"
#include "tests/support/property.h"

namespace headway::gui {
namespace {

const FlameNode& node(const FlameGraph& graph, std::string_view name) {
  const auto found = std::ranges::find(graph.nodes, name, &FlameNode::name);
  REQUIRE(found != graph.nodes.end());
  return *found;
}

DurationNs sum_of_own_times(const FlameGraph& graph) {
  DurationNs sum;
  for (const FlameNode& one : graph.nodes) sum += one.self;
  return sum;
}

void check_whole(const FlameGraph& graph, Interval when) {
  CHECK(graph.nodes[0].total == when.length());
  CHECK(sum_of_own_times(graph) == when.length());
  for (std::size_t n = 1; n < graph.nodes.size(); ++n) {
    CHECK(graph.nodes[n].total.ns > 0);
    CHECK(graph.nodes[n].parent < n);
  }
}

/// Two steps of a Python program: forward with two convolutions each, one launches a kernel.
std::shared_ptr<const Session> stacks() {
  test::TraceBuilder builder;
  builder.thread_name(1, "trainer");
  builder.range(1, "train.py(9): step", 1000, 2000);
  builder.range(1, "net.py(3): forward", 1100, 1900);
  builder.range(1, "conv", 1200, 1400);
  builder.launch(1, 1250, 1300, 1320, 1360, {.name = "gemm"});
  builder.range(1, "conv", 1500, 1800);
  builder.range(1, "train.py(9): step", 2000, 3000);
  builder.range(1, "net.py(3): forward", 2100, 2200);
  builder.range(2, "loader", 1000, 1500);
  return test::session_of(builder);
}

trace::ThreadId thread_named(const Session& session, std::string_view name) {
  const auto& threads = session.trace.threads;
  const auto found = std::ranges::find(threads, name, &trace::Thread::name);
  REQUIRE(found != threads.end());
  return trace::ThreadId::from(static_cast<std::size_t>(found - threads.begin()));
}

}  // namespace

TEST_CASE("stacks of a thread are merged by name, with calls inside and exact own times") {
  auto session = stacks();
  const trace::ThreadId thread = thread_named(*session, "trainer");
  const FlameGraph graph = make_call_stacks(session->timeline, thread, {{1000}, {3000}});
  check_whole(graph, {{1000}, {3000}});
  CHECK(graph.nodes[0].name == "trainer");
  CHECK(graph.nodes[0].self == DurationNs{0});
  const FlameNode& step = node(graph, "train.py(9): step");
  CHECK(step.total == DurationNs{2000});
  CHECK(step.self == DurationNs{1100});
  CHECK(step.count == 2);
  const FlameNode& forward = node(graph, "net.py(3): forward");
  CHECK(forward.total == DurationNs{900});
  CHECK(forward.self == DurationNs{400});
  const FlameNode& conv = node(graph, "conv");
  CHECK(conv.total == DurationNs{500});
  CHECK(conv.self == DurationNs{450});
  CHECK(session->timeline.interval_of(conv.longest) == Interval{{1500}, {1800}});
  const FlameNode& call = graph.nodes.back();
  CHECK(&graph.nodes[call.parent] == &conv);
  CHECK(call.total == DurationNs{50});
  CHECK(call.longest.event.kind == analyzer::EventRef::Kind::kCall);
  CHECK(most_own_time(graph) ==
        "Most own time: train.py(9): step 1.10 µs (55.0 %), conv 450 ns (22.5 %), net.py(3): "
        "forward 400 ns (20.0 %)");
}

TEST_CASE("a stretch cuts what reaches beyond it, and what no range covers is the root's own") {
  auto session = stacks();
  const trace::ThreadId thread = thread_named(*session, "trainer");
  const FlameGraph inner = make_call_stacks(session->timeline, thread, {{1270}, {1550}});
  check_whole(inner, {{1270}, {1550}});
  CHECK(node(inner, "train.py(9): step").total == DurationNs{280});
  CHECK(node(inner, "net.py(3): forward").self == DurationNs{100});
  CHECK(node(inner, "conv").total == DurationNs{130 + 50});
  CHECK(inner.nodes.back().total == DurationNs{30});  // the call, which began before
  const FlameGraph beyond = make_call_stacks(session->timeline, thread, {{500}, {4000}});
  check_whole(beyond, {{500}, {4000}});
  CHECK(beyond.nodes[0].self == DurationNs{1500});
  const FlameGraph nothing = make_call_stacks(session->timeline, thread, {{500}, {600}});
  CHECK(nothing.nodes.size() == 1);
  CHECK(nothing.nodes[0].self == DurationNs{100});
  CHECK(make_call_stacks(session->timeline, thread, {{1500}, {1500}}).nodes.size() == 1);
}

TEST_CASE("numbers that count are left out of names, those of source lines stay") {
  test::TraceBuilder builder;
  builder.range(1, "batch 1", 0, 100);
  builder.range(1, "a.py(3): f", 10, 20);
  builder.range(1, "a.py(4): f", 20, 40);
  builder.range(1, "batch 2", 100, 300);
  builder.range(1, "<built-in method items of dict object at 0x7f0e88f0a200>", 110, 120);
  builder.range(1, "<built-in method items of dict object at 0x7f0e88f0b600>", 130, 150);
  auto session = test::session_of(builder);
  const FlameGraph graph =
      make_call_stacks(session->timeline, session->trace.ranges.thread[0], {{0}, {300}});
  CHECK(node(graph, "batch #").count == 2);
  CHECK(node(graph, "<built-in method items of dict object>").total == DurationNs{30});
  CHECK(node(graph, "a.py(3): f").total == DurationNs{10});
  CHECK(node(graph, "a.py(4): f").total == DurationNs{20});
}

TEST_CASE("the thread shown first is that of the target, else the training thread") {
  auto session = test::training_session();
  const TimelineModel& model = session->timeline;
  const analyzer::Step& step = session->analysis.steps.all[3];
  const StackThreads of_step = stack_threads(model, step.host, Target::step(3));
  CHECK(of_step.first == step.thread);
  CHECK(std::ranges::count(of_step.threads, step.thread) == 1);
  CHECK(stack_threads(model, step.host, {}).first == step.thread);
  for (std::uint32_t s = 0; s < 20; ++s)
    CHECK(stack_threads(model, model.interval_of(Target::segment(0, s)), Target::segment(0, s))
              .first == step.thread);
  auto small = stacks();
  const Target loader = Target::of(test::event_named(small->trace, "loader"));
  const StackThreads both = stack_threads(small->timeline, {{1000}, {1500}}, loader);
  CHECK(both.threads.size() == 2);
  CHECK(both.first == small->trace.ranges.thread[loader.event.index]);
  // A thread that does nothing there is not listed; an empty stretch has none.
  CHECK(stack_threads(small->timeline, {{2500}, {2600}}, loader).threads.size() == 1);
  CHECK(stack_threads(small->timeline, {{4000}, {4100}}, {}).threads.empty());
  CHECK(!stack_threads(small->timeline, {{4000}, {4100}}, {}).first.valid());
}

TEST_CASE("own times sum to the stretch wherever it is cut, also in hostile traces") {
  test::TraceBuilder builder;
  test::build_hostile(builder, 60);
  auto hostile = test::session_of(builder);
  auto training = test::training_session();
  test::check_property("own times sum to the stretch", [&] {
    const Session& session = *rc::gen::arbitrary<bool>() ? *hostile : *training;
    const Interval bounds = session.timeline.bounds;
    const std::int64_t begin = *rc::gen::inRange<std::int64_t>(bounds.begin.ns, bounds.end.ns);
    const std::int64_t length =
        *rc::gen::inRange<std::int64_t>(1, std::max<std::int64_t>(2, bounds.length().ns / 4));
    const Interval when{{begin}, {begin + length}};
    const auto count = static_cast<std::uint32_t>(session.trace.threads.size());
    const trace::ThreadId thread{*rc::gen::inRange<std::uint32_t>(0, count)};
    const FlameGraph graph = make_call_stacks(session.timeline, thread, when);
    RC_ASSERT(graph.nodes[0].total == when.length());
    RC_ASSERT(sum_of_own_times(graph) == when.length());
  });
}

TEST_CASE("stacks that are given up are the root alone") {
  const std::atomic<bool> cancelled = true;
  auto session = stacks();
  CHECK(make_call_stacks(session->timeline, session->trace.ranges.thread[0],
                         session->timeline.bounds, &cancelled)
            .nodes.size() == 1);
}

}  // namespace headway::gui
