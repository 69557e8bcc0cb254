// SPDX-License-Identifier: MIT
#include "tests/gui/support/sessions.h"

#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>

#include "tests/support/training_trace.h"

namespace headway::test {
namespace {

void build(TraceBuilder& builder, const TrainingTrace& run) {
  run.build(builder);
  builder.save();
}

}  // namespace

std::filesystem::path training_file() {
  static TraceBuilder builder;
  static std::once_flag built;
  std::call_once(built, [] { build(builder, {}); });
  return builder.save();
}

std::filesystem::path faster_file() {
  static TraceBuilder builder;
  static std::once_flag built;
  std::call_once(built, [] {
    TrainingTrace run;
    run.decode = 3'000'000;
    run.augment = 1'000'000;
    run.conv = 300'000;
    run.blocks = 5;
    build(builder, run);
  });
  return builder.save();
}

std::shared_ptr<const gui::Session> faster_session() {
  static std::shared_ptr<const gui::Session> session = gui::open_session(faster_file());
  return session;
}

std::filesystem::path long_file() {
  static TraceBuilder builder;
  static std::once_flag built;
  std::call_once(built, [] {
    TrainingTrace run;
    run.steps = 500;
    build(builder, run);
  });
  return builder.save();
}

std::shared_ptr<const gui::Session> training_session() {
  static std::shared_ptr<const gui::Session> session = gui::open_session(training_file());
  return session;
}

std::shared_ptr<const gui::Session> session_of(TraceBuilder& builder) {
  return gui::make_session(builder.load());
}

analyzer::EventRef event_named(const trace::Trace& trace, std::string_view name) {
  auto find = [&](const auto& table) -> std::uint32_t {
    for (std::uint32_t i = 0; i < table.size(); ++i) {
      if (trace.strings[table.name[i]] == name) return i;
    }
    return UINT32_MAX;
  };
  if (std::uint32_t i = find(trace.ranges); i != UINT32_MAX)
    return analyzer::EventRef::of(trace::RangeId{i});
  if (std::uint32_t i = find(trace.device_ops); i != UINT32_MAX)
    return analyzer::EventRef::of(trace::DeviceOpId{i});
  if (std::uint32_t i = find(trace.calls); i != UINT32_MAX)
    return analyzer::EventRef::of(trace::CallId{i});
  throw std::runtime_error("no event named " + std::string(name));
}

void build_hostile(TraceBuilder& builder, int threads) {
  const std::int64_t ten_years = std::int64_t{10} * 365 * 24 * 3600 * 1'000'000'000;
  builder.range(1, std::string(1 << 20, 'x'), 0, 1000);
  builder.range(1, "<b>bold</b><img src='file:///etc/passwd'>", 10, 20);
  builder.range(1, "line\nbreak\ttab\x1b[2Jescape\x01", 20, 30);
  builder.range(1, "\u202egnp.tac\u2066", 30, 40);
  builder.range(1, "", 40, 50);
  builder.range(1, "&ampersand && \"quotes\" %1 %2 %s", 50, 60);
  builder.range(1, "漢字 עברית عربى 🚀", 60, 90);
  for (int i = 0; i < 50; ++i) builder.range(1, "point", 95, 95);
  builder.range(1, "early", -ten_years, -ten_years + 5);
  builder.range(1, "late", ten_years - 5, ten_years);
  for (int depth = 0; depth < 400; ++depth) builder.range(2, "deep", depth, 10'000 - depth);
  // Overlap without nesting, which the loader cannot turn into a tree.
  for (int i = 0; i < 400; ++i) builder.range(3, "staggered", i, 5'000 + i);
  for (int t = 0; t < threads; ++t) builder.range(1000 + t, "worker", t, t + 10);
  for (int i = 0; i < 300; ++i)
    builder.launch(1, 100 + i, 101 + i, 90 - i, 2'000, {.name = "before its launch"});
  builder.launch(1, 500, 501, 600, 600, {.name = "kernel of no length"});
  builder.call(1, trace::DeviceCallKind::kDeviceSynchronize, 700, 700);
  builder.counter("infinite", "%", 0, std::numeric_limits<double>::infinity());
  builder.counter("huge", "bytes", 0, 1e308);
  builder.counter("huge", "bytes", 500, -1e308);
  builder.counter("empty name next", "", 10, 1);
  builder.thread_name(2, std::string(100'000, 'n'));
}

}  // namespace headway::test
