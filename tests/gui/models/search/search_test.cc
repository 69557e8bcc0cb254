// SPDX-License-Identifier: MIT
#include "gui/models/search/search.h"

#include <doctest/doctest.h>

#include <set>

#include "tests/gui/support/sessions.h"

namespace headway::gui {
namespace {

using analyzer::EventRef;

/// All events whose name contains `needle` in either case, by a scan.
std::set<EventRef> scan(const Session& session, std::string_view needle) {
  std::set<EventRef> hits;
  auto lower = [](std::string_view text) {
    std::string result(text);
    for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
  };
  const trace::Trace& trace = session.trace;
  auto add = [&](const auto& table, EventRef::Kind kind) {
    for (std::uint32_t i = 0; i < table.size(); ++i) {
      bool hit = lower(trace.strings[table.name[i]]).find(lower(needle)) != std::string::npos;
      if (kind == EventRef::Kind::kDeviceOp) {
        auto op = session.analysis.attribution.op_of[i];
        hit = hit || (op.value != 0 &&
                      lower(session.analysis.attribution.ops[op.value].name).find(lower(needle)) !=
                          std::string::npos);
      }
      if (hit) hits.insert({kind, i});
    }
  };
  add(trace.ranges, EventRef::Kind::kRange);
  add(trace.device_ops, EventRef::Kind::kDeviceOp);
  add(trace.calls, EventRef::Kind::kCall);
  return hits;
}

}  // namespace

TEST_CASE("search finds all events that a scan finds, and goes through them once around") {
  auto session = test::training_session();
  for (std::string_view needle :
       {"layer2.0.CONV1", "step", "conv2d_forward", "call", "copy batch"}) {
    CAPTURE(needle);
    std::set<EventRef> expected = scan(*session, needle);
    REQUIRE(!expected.empty());
    Search search(session->trace, session->analysis, needle);
    CHECK(search.hits() == expected.size());
    std::set<EventRef> visited;
    EventRef at;
    TimeNs last = TimeNs::min();
    std::size_t step = std::max<std::size_t>(1, expected.size() / 50);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      at = *search.next(at, true);
      CHECK(visited.insert(at).second);
      TimeNs start = analyzer::interval_of(session->trace, at).begin;
      CHECK(start >= last);
      last = start;
      if (i % step == 0) CHECK(search.position(at) == i + 1);
    }
    CHECK(visited == expected);
    CHECK(visited.contains(*search.next(at, true)));  // round the end
    CHECK(search.position(*search.next(at, true)) == 1);
  }
}

TEST_CASE("a text in double quotes is the whole name, and a matcher may be anything") {
  auto session = test::training_session();
  std::size_t exact = 0;
  std::size_t ending = 0;
  auto count = [&](const auto& table) {
    for (trace::StringId name : table.name) {
      exact += session->trace.strings[name] == "step";
      ending += session->trace.strings[name].ends_with("sgd");
    }
  };
  count(session->trace.ranges);
  count(session->trace.calls);
  count(session->trace.device_ops);
  REQUIRE(exact > 0);
  CHECK(Search(session->trace, session->analysis, "\"step\"").hits() == exact);
  CHECK(Search(session->trace, session->analysis, "\"ste\"").hits() == 0);
  CHECK(Search(session->trace, session->analysis, "sgd$", [](std::string_view text) {
          return text.ends_with("sgd");
        }).hits() == ending);
}

TEST_CASE("backwards is the reverse of forwards") {
  auto session = test::training_session();
  Search search(session->trace, session->analysis, "update");
  EventRef at = *search.next({}, true);
  for (int i = 0; i < 30; ++i) {
    EventRef next = *search.next(at, true);
    CHECK(*search.next(next, false) == at);
    at = next;
  }
  CHECK(search.position(*search.next({}, false)) == search.hits());
}

TEST_CASE("a text that nothing has, an empty one and a cancelled search find nothing") {
  auto session = test::training_session();
  CHECK(Search(session->trace, session->analysis, "no such name").hits() == 0);
  CHECK(!Search(session->trace, session->analysis, "no such name").next({}, true));
  CHECK(Search(session->trace, session->analysis, "").hits() == 0);
  std::atomic<bool> cancelled = true;
  CHECK(Search(session->trace, session->analysis, "step", &cancelled).hits() == 0);
}

TEST_CASE("next of the same name walks the events of one name and stops at the ends") {
  auto session = test::training_session();
  const trace::Trace& trace = session->trace;
  EventRef first = test::event_named(trace, "wait for batch");
  int count = 1;
  EventRef at = first;
  while (auto next = next_of_same_name(trace, at, true)) {
    CHECK(analyzer::name_of(trace, *next) == "wait for batch");
    CHECK(*next_of_same_name(trace, *next, false) == at);
    at = *next;
    ++count;
  }
  CHECK(count == 40);
  CHECK(!next_of_same_name(trace, first, false));
  CHECK(!next_of_same_name(trace, {}, true));
}

}  // namespace headway::gui
