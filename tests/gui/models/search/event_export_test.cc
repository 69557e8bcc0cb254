// SPDX-License-Identifier: MIT
#include "gui/models/search/event_export.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/gui/support/sessions.h"

namespace headway::gui {
namespace {

struct Csv {
  std::string text;
  std::size_t rows = 0;
  std::size_t pieces = 0;
};

Csv csv_of(const Session& session, const EventSelection& selection) {
  Csv csv;
  csv.rows = write_events_csv(session, selection, [&](std::string_view piece) {
    csv.text += piece;
    ++csv.pieces;
  });
  return csv;
}

}  // namespace

TEST_CASE("the events that touch a time are written, and no others") {
  test::TraceBuilder builder;
  builder.range(1, "before", 0, 100);
  builder.range(1, "reaches in", 50, 101);
  builder.range(2, "inside, \"quoted\"", 120, 130);
  builder.range(2, "a point", 150, 150);
  builder.range(3, "=SUM(A1)", 199, 300);
  builder.range(3, "after", 200, 300);
  auto session = test::session_of(builder);
  Csv csv = csv_of(*session, {{{100}, {200}}});
  CHECK(csv.rows == 4);
  CHECK(csv.text.starts_with("kind,start_ns,end_ns,duration_ns,name,where,op\r\n"));
  CHECK(csv.text.find("range,50,101,51,reaches in,") != std::string::npos);
  CHECK(csv.text.find("\"inside, \"\"quoted\"\"\"") != std::string::npos);
  CHECK(csv.text.find("a point") != std::string::npos);
  CHECK(csv.text.find("'=SUM(A1)") != std::string::npos);
  CHECK(csv.text.find("before") == std::string::npos);
  CHECK(csv.text.find("after") == std::string::npos);
}

TEST_CASE("all events of a name are written, whatever the time") {
  auto session = test::training_session();
  Csv csv = csv_of(*session, {{}, "wait for batch"});
  CHECK(csv.rows == 40);
  CHECK(csv_of(*session, {{}, "no such name"}).rows == 0);
  CHECK(csv_of(*session, {{}, "no such name"}).text.starts_with("kind,"));
}

TEST_CASE("a whole trace is written in pieces under one header") {
  auto session = test::training_session();
  Csv csv = csv_of(*session, {{TimeNs::min(), TimeNs::max()}});
  const trace::Trace& trace = session->trace;
  CHECK(csv.rows == trace.ranges.size() + trace.calls.size() + trace.device_ops.size());
  CHECK(static_cast<std::size_t>(std::count(csv.text.begin(), csv.text.end(), '\n')) ==
        csv.rows + 1);
  CHECK(csv.pieces > 1);
  CHECK(csv.text.find("kind,start_ns", 10) == std::string::npos);
  CHECK(csv.text.find("device op,") != std::string::npos);
}

}  // namespace headway::gui
