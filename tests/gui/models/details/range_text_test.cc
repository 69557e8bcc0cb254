// SPDX-License-Identifier: MIT
#include "gui/models/details/range_text.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>

#include "tests/gui/support/sessions.h"
#include "tests/support/recordings.h"
#include "trace/sqlite/database.h"

namespace headway::gui {
namespace {

using analyzer::EventRef;
using Rows = std::map<std::pair<std::string, std::int64_t>, int>;  ///< kind and start: how many

/// Events that overlap `when`, straight from the tables.
Rows scan(const trace::Trace& trace, Interval when) {
  Rows rows;
  auto add = [&](const auto& table, const char* kind) {
    for (std::size_t i = 0; i < table.size(); ++i) {
      if (table.start[i] < when.end && (table.end[i] > when.begin || table.start[i] >= when.begin))
        ++rows[{kind, table.start[i].ns}];
    }
  };
  add(trace.ranges, "range");
  add(trace.calls, "call");
  add(trace.device_ops, "device op");
  return rows;
}

Rows run(const std::filesystem::path& file, const std::string& sql) {
  auto db = trace::sqlite::Database::open_read_only(file);
  auto statement = db.prepare(sql);
  Rows rows;
  std::int64_t last = INT64_MIN;
  while (statement.step()) {
    ++rows[{std::string(statement.text(0)), statement.int64(1)}];
    CHECK(statement.int64(1) >= last);
    last = statement.int64(1);
    CHECK(!statement.is_null(3));
  }
  return rows;
}

void compare(const Session& session, int stretches) {
  std::mt19937_64 random(4);
  const Interval all = session.timeline.bounds;
  const auto length = static_cast<std::uint64_t>(all.length().ns);
  for (int i = 0; i < stretches; ++i) {
    std::int64_t begin = all.begin.ns + static_cast<std::int64_t>(random() % length);
    Interval when{
        {begin},
        {begin + 1 + static_cast<std::int64_t>(random() % (length / (i % 2 ? 50 : 5000) + 1))}};
    CHECK(run(session.trace.path, events_as_sql(session.trace, when)) == scan(session.trace, when));
  }
}

}  // namespace

TEST_CASE("the SELECT of a time range gives the events that are there, from the trace's own file") {
  auto session = test::training_session();
  REQUIRE(is_sqlite_file(session->trace));
  compare(*session, 60);
  compare(*session, 2);
}

TEST_CASE("the SELECT fits recordings of Nsight Systems as well") {
  std::vector<std::filesystem::path> files = test::recordings(".sqlite");
  if (files.empty()) {
    MESSAGE("no recordings here: skipped");
    return;
  }
  for (const std::filesystem::path& file : files) {
    CAPTURE(file.string());
    compare(*open_session(file), 12);
  }
}

TEST_CASE("the SELECT of an event gives its row") {
  auto session = test::training_session();
  auto db = trace::sqlite::Database::open_read_only(session->trace.path);
  for (const char* name : {"wait for batch", "multi_tensor_sgd", "step", "decode"}) {
    EventRef event = test::event_named(session->trace, name);
    auto statement = db.prepare(event_as_sql(session->trace, event));
    REQUIRE(statement.step());
    CHECK(statement.int64(0) == analyzer::interval_of(session->trace, event).begin.ns);
  }
  EventRef call = EventRef::of(trace::CallId{3});
  CHECK(db.prepare(event_as_sql(session->trace, call)).step());
}

TEST_CASE("the text of a time range lists its events by start, names made harmless") {
  test::TraceBuilder builder;
  builder.range(1, "line\nbreak\ttab", 100, 200);
  builder.range(1, "outside", 500, 600);
  builder.range(2, "point", 150, 150);
  builder.launch(1, 110, 120, 130, 400, {.name = "kernel"});
  auto session = test::session_of(builder);
  std::string text = events_as_text(session->timeline, {{125}, {300}});
  CHECK(std::count(text.begin(), text.end(), '\n') == 4);
  CHECK(text.starts_with("start_ns\tduration_ns\tkind\tname\twhere\n100\t100\trange\tline"));
  CHECK(text.find("130\t270\tdevice op\tkernel\tStream 1") != std::string::npos);
  CHECK(text.find("150\t0\trange\tpoint") != std::string::npos);
  CHECK(text.find("outside") == std::string::npos);
  std::string cut = events_as_text(session->timeline, {{0}, {1000}}, 2);
  CHECK(cut.find("# 3 more events in this time") != std::string::npos);
}

TEST_CASE("a trace that is no SQLite file says so") {
  trace::Trace trace = test::two_rank_trace();
  CHECK(!is_sqlite_file(trace));
  trace.path = "/no/such/file";
  CHECK(!is_sqlite_file(trace));
}

}  // namespace headway::gui
