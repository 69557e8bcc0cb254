// SPDX-License-Identifier: MIT
// Reading a part of a trace, and knowing beforehand how much there is.
#include <doctest/doctest.h>

#include <fstream>

#include "common/error.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/trace_builder.h"
#include "trace/import/extent.h"
#include "trace/load/live.h"
#include "trace/load/load.h"
#include "trace/meta_keys.h"
#include "trace/sqlite/database.h"

namespace headway::trace {
namespace {

std::filesystem::path steps_file(test::TraceBuilder& builder) {
  builder.range(1, "the whole run", 0, 100'000);
  for (std::int64_t i = 0; i < 100; ++i) {
    builder.range(1, "step", i * 1000, i * 1000 + 900);
    builder.mark(1, "mark", i * 1000 + 5);
    builder.launch(1, i * 1000 + 10, i * 1000 + 20, i * 1000 + 1500, i * 1000 + 1700, {});
    builder.counter("process.cpu", "%", i * 1000, 50);
  }
  return builder.save();
}

}  // namespace

TEST_CASE("a stretch holds the events that touch it and one line that says so") {
  test::TraceBuilder builder;
  Trace all = load(steps_file(builder));
  LoadOptions options;
  options.stretch = Interval{{20'000}, {30'000}};
  Trace part = load(builder.save(), options);
  auto touching = [&](const auto& table) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < table.size(); ++i) {
      Interval when{table.start[i], table.end[i]};
      count += when.begin < options.stretch->end &&
               (when.end > options.stretch->begin || when.begin >= options.stretch->begin);
    }
    return count;
  };
  CHECK(part.ranges.size() == touching(all.ranges));
  CHECK(part.calls.size() == touching(all.calls));
  CHECK(part.device_ops.size() == touching(all.device_ops));
  CHECK(part.ranges.size() == 1 + 10 + 10);
  CHECK(part.counters.at(0).time.size() == 10);
  CHECK(part.losses.size() == 1);
  REQUIRE(!part.losses.empty());
  CHECK(part.losses[0].name == "loaded_in_part");
  CHECK(part.losses[0].text.find("20.0 µs") != std::string::npos);
  CHECK(all.losses.empty());
}

TEST_CASE(
    "the end of a long recording that still runs is the same, found without reading the rest") {
  test::TraceBuilder builder;
  builder.domain("late");
  constexpr std::int64_t kStep = 10'000'000;
  for (std::int64_t i = 0; i < 3000; ++i) {
    builder.range(1, "step", i * kStep, i * kStep + kStep - 1);
    builder.launch(1, i * kStep + 10, i * kStep + 20, i * kStep + 1500, i * kStep + 1700, {});
    builder.counter("process.cpu", "%", i * kStep, 50);
  }
  builder.io(1, IoOp::kRead, "/data/x", 2990 * kStep, 2990 * kStep + 5, 100);
  const std::filesystem::path file = builder.save();
  LoadOptions options;
  options.stretch = Interval{{2900 * kStep}, {std::int64_t{1} << 60}};
  const Trace ended = load(file, options);
  CHECK(recording_progress(file).recorder == Recorder::kFinished);
  {
    sqlite::Database database = sqlite::Database::open(file);
    database.execute("UPDATE HEADWAY_META SET value='recording' WHERE name='state'");
    database.execute("INSERT INTO HEADWAY_META VALUES('recorder', '" + this_process() + "')");
  }
  CHECK(recording_progress(file).recorder == Recorder::kRuns);
  CHECK(recording_progress(file).newest.ns == 3000 * kStep - 1);
  const Trace live = load(file, options);
  REQUIRE(live.meta_value(meta::kLive) == "1");
  CHECK(live.ranges.size() == 100);
  CHECK(live.ranges.start == ended.ranges.start);
  CHECK(live.domains == ended.domains);
  CHECK(live.strings[live.ranges.name[0]] == "step");
  CHECK(live.domains.at(live.ranges.domain[0].value) == "late");
  CHECK(live.device_ops.start == ended.device_ops.start);
  CHECK(live.calls.start == ended.calls.start);
  CHECK(live.calls.op == ended.calls.op);
  CHECK(live.io.start == ended.io.start);
  CHECK(live.counters.at(0).time == ended.counters.at(0).time);
}

TEST_CASE("a stretch in which nothing happened is a trace without events") {
  test::TraceBuilder builder;
  LoadOptions options;
  options.stretch = Interval{{5'000'000}, {6'000'000}};
  CHECK(load(steps_file(builder), options).event_count() == 0);
}

TEST_CASE("a part of a JSON file is refused with the way to get one") {
  test::TemporaryFolder folder;
  std::ofstream(folder / "x.json") << R"({"traceEvents": []})";
  LoadOptions options;
  options.stretch = Interval{{0}, {1000}};
  CHECK_THROWS_WITH_AS(load(folder / "x.json", options), doctest::Contains("headway import"),
                       Error);
}

TEST_CASE("the extent of a trace is known without reading it") {
  test::TraceBuilder builder;
  std::filesystem::path file = steps_file(builder);
  std::optional<Extent> extent = extent_of(file);
  REQUIRE(extent);
  CHECK(extent->events == static_cast<std::int64_t>(load(file).event_count()));
  CHECK(std::is_sorted(extent->when.begin(), extent->when.end()));
  CHECK(extent->span().begin.ns >= 0);
  CHECK(extent->span().end.ns <= 101'000);
  CHECK(extent->span().length().ns > 80'000);
  Interval half = extent->middle(0.5);
  CHECK(half.length().ns > 35'000);
  CHECK(half.length().ns < 65'000);
  CHECK(half.contains({50'000}));
  CHECK(!extent->middle(0).empty());
  CHECK(!extent_of("/does/not/exist"));
}

}  // namespace headway::trace
