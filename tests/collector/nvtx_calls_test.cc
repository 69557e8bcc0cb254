// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <map>

#include "tests/collector/run_recorder.h"
#include "trace/load/load.h"

namespace headway::test {
namespace {

/// The events of the target, recorded once for all cases of this file that run in one process.
const Recorded& run() {
  static TemporaryFolder folder;
  static Recorded recorded = record(folder, {target("nvtx_calls")});
  return recorded;
}

constexpr const char* kColumns =
    "eventType, end IS NOT NULL, rangeId IS NOT NULL, category, color, domainId, "
    "globalTid=endGlobalTid, (SELECT value FROM StringIds WHERE id=jsonTextId)";

std::vector<std::string> event(const std::string& name) {
  Rows rows = query(run().trace,
                    std::string("SELECT ") + kColumns +
                        " FROM NVTX_EVENTS JOIN StringIds ON id=textId WHERE value=?1",
                    {name});
  return rows.size() == 1 ? rows[0] : std::vector<std::string>{"rows", std::to_string(rows.size())};
}

std::string value_of(const std::string& name, const std::string& column) {
  Rows rows = query(run().trace,
                    "SELECT " + column +
                        " FROM NVTX_EVENTS JOIN StringIds ON id=textId "
                        "WHERE value=?1",
                    {name});
  return rows.empty() ? "no row" : rows[0][0];
}

constexpr const char* kBatchJson = R"({"id":9,"loss":1.5,"shape":[1,-2,3],"model":"res\"net"})";

using Row = std::vector<std::string>;

}  // namespace

TEST_CASE("marks and ranges of the default domain come back with text, colour and category") {
  REQUIRE(run().finished.status == 0);
  CHECK(event("mark a") == Row{"34", "0", "0", "NULL", "NULL", "0", "NULL", "NULL"});
  CHECK(event("mark w ä€😀") == Row{"34", "0", "0", "NULL", "NULL", "0", "NULL", "NULL"});
  CHECK(event("mark ex") == Row{"34", "0", "0", "70000", "4278255488", "0", "NULL", "NULL"});
  CHECK(event("push a") == Row{"59", "1", "0", "NULL", "NULL", "0", "NULL", "NULL"});
  CHECK(event("push w ä") == Row{"59", "1", "0", "NULL", "NULL", "0", "NULL", "NULL"});
  CHECK(event("push ex") == Row{"59", "1", "0", "7", "NULL", "0", "NULL", "NULL"});
  CHECK(event("left open") == Row{"59", "0", "0", "NULL", "NULL", "0", "NULL", "NULL"});
}

TEST_CASE("push and pop return nesting levels to the program") {
  CHECK(run().finished.out.find("levels 0 1 2 2 1 0 -1\n") != std::string::npos);
}

TEST_CASE("start/end ranges may end on another thread") {
  CHECK(event("start a") == Row{"60", "1", "1", "NULL", "NULL", "0", "1", "NULL"});
  CHECK(event("start w ä") == Row{"60", "1", "1", "NULL", "NULL", "0", "0", "NULL"});
  CHECK(value_of("start ex", "int64Value") == "-5");
}

TEST_CASE("domains, registered strings and categories are interned and outlive their destruction") {
  for (const char* line : {"same domain 1\n", "same string 1\n", "same schema 1\n"})
    CHECK(run().finished.out.find(line) != std::string::npos);
  CHECK(event("registered") == Row{"59", "1", "0", "3", "NULL", "1", "NULL", "NULL"});
  CHECK(event("after destroy") == Row{"59", "1", "0", "NULL", "NULL", "1", "NULL", "NULL"});
  CHECK(
      query(run().trace, "SELECT domainId, text FROM NVTX_EVENTS WHERE eventType=75 ORDER BY 1") ==
      Rows{{"1", "calls"}, {"2", "payloads"}});
  CHECK(
      query(run().trace,
            "SELECT domainId, category, text FROM NVTX_EVENTS WHERE eventType=33 ORDER BY 1, 2") ==
      Rows{{"0", "7", "seventh"},
           {"0", "70000", "far ä"},
           {"1", "3", "third"},
           {"1", "4", "fourth ä"}});
}

TEST_CASE("payload values come back in the column of their type") {
  std::map<std::string, std::pair<std::string, std::string>> expected = {
      {"u64", {"uint64Value", "-1"}},  // all ones: SQLite's integers are signed
      {"i64", {"int64Value", "-1234567890123"}},
      {"double", {"doubleValue", "0.5"}},
      {"u32", {"uint32Value", "4000000000"}},
      {"i32", {"int32Value", "-7"}},
      {"float", {"floatValue", "0.25"}}};
  for (const auto& [name, column] : expected) {
    CHECK_MESSAGE(value_of(name, column.first) == column.second, name);
    for (const auto& [other, other_column] : expected) {
      if (other != name) CHECK_MESSAGE(value_of(name, other_column.first) == "NULL", name);
    }
  }
}

TEST_CASE("extended payloads are decoded to JSON, also those given at the end of a range") {
  std::string json = kBatchJson;
  CHECK(event("one payload").back() == json);
  CHECK(event("two payloads").back() == "[" + json + "," + json + "]");
  CHECK(event("payload at the end").back() == json);
  CHECK(number(run().trace,
               "SELECT count(*) FROM NVTX_EVENTS JOIN StringIds ON id=jsonTextId WHERE "
               "eventType=34 AND value=?1",
               {json}) == 1);
  CHECK(number(run().trace,
               "SELECT count(*) FROM NVTX_EVENTS JOIN StringIds ON id=jsonTextId WHERE "
               "eventType=60 AND value=?1",
               {"[" + json + "," + json + "]"}) == 1);
  CHECK(number(run().trace,
               "SELECT count(*) FROM NVTX_EVENTS JOIN StringIds ON id=jsonTextId WHERE value=?1",
               {R"({"value":"predefined"})"}) == 1);
}

TEST_CASE("schemas are stored as Nsight Systems stores them") {
  CHECK(query(run().trace,
              "SELECT domainId, name, type, numEntries, payloadSize FROM NVTX_PAYLOAD_SCHEMAS") ==
        Rows{{"2", "batch", "1", "4", "24"}});
  CHECK(query(run().trace,
              "SELECT idx, name, description, type, flags, arrayOrUnionDetail, offset FROM "
              "NVTX_PAYLOAD_SCHEMA_ENTRIES ORDER BY idx") ==
        Rows{{"0", "id", "of the batch", "16", "0", "0", "0"},
             {"1", "loss", "NULL", "19", "0", "0", "4"},
             {"2", "shape", "NULL", "13", "16", "3", "8"},
             {"3", "model", "NULL", "75", "0", "8", "14"}});
}

TEST_CASE("names with quotes, SQL, escape sequences, bad UTF-8 and 10 KB survive as data") {
  CHECK(ranges(run().trace, "it's \"quoted\"; DROP TABLE NVTX_EVENTS; --\n\x1b[31m") == 1);
  CHECK(ranges(run().trace, std::string(10'000, 'x')) == 1);
  CHECK(ranges(run().trace, std::string(16 * 1024, 'y')) == 1);
  CHECK(loss(run().trace, "nvtx_payload_cut") == 1);
  CHECK(ranges(run().trace, "bad \xef\xbf\xbd utf-8") == 1);
  CHECK(ranges(run().trace, "") == 1);
}

TEST_CASE("unmatched pops, ends and foreign handles are counted") {
  // A pop and an end too many; one foreign string, and a foreign domain at push and at pop.
  CHECK(loss(run().trace, "nvtx_pop_without_push") == 2);
  CHECK(loss(run().trace, "nvtx_unknown_handle") == 3);
  CHECK(loss(run().trace, "ring_full") == 0);
}

TEST_CASE("the trace of a program loads, with its process, threads and meta data") {
  CHECK(intact(run().trace));
  trace::Trace trace = trace::load(run().trace);
  CHECK(trace.complete);
  REQUIRE(trace.processes.size() == 1);
  CHECK(trace.processes[0].name == "nvtx_calls");
  CHECK(trace.processes[0].injected);
  CHECK(trace.processes[0].exit_code == 0);
  REQUIRE(trace.processes[0].end.has_value());
  CHECK(*trace.processes[0].end <= trace.end);
  CHECK(trace.threads.size() == 1);  // the other one only ended a range
  CHECK(number(run().trace,
               "SELECT count(*) FROM ThreadNames JOIN StringIds ON id=nameId WHERE "
               "value='the main thread' AND globalTid&0xffffff=globalTid>>24") == 1);
  for (const char* key : {"schema_version", "tool_version", "command", "host", "cpu", "cpu_count",
                          "clock", "duration_ns", "overhead_ns_per_event", "recorder_cpu_ns"})
    CHECK_MESSAGE(!meta(run().trace, key).empty(), key);
  CHECK(meta(run().trace, "cuda") == "off: no process initialised CUDA");
  CHECK(number(run().trace, "SELECT count(*) FROM HEADWAY_CLOCK") >= 1);
  for (TimeNs start : trace.ranges.start) CHECK((start.ns > 0 && start <= trace.end));
}

TEST_CASE("times are right on both clocks") {
  for (const char* clock : {"tsc", "realtime"}) {
    TemporaryFolder folder;
    Recorded recorded = record(folder, {target("processes"), "daemon"}, {"--clock", clock});
    if (recorded.finished.status == 2) {
      MESSAGE("[skipped] " << recorded.finished.err);
      continue;
    }
    CHECK(meta(recorded.trace, "clock") == clock);
    // The daemon sleeps 400 ms before its range.
    std::int64_t between =
        number(recorded.trace,
               "SELECT (SELECT start FROM NVTX_EVENTS JOIN StringIds ON id=textId WHERE "
               "value='daemon') - (SELECT start FROM NVTX_EVENTS JOIN StringIds ON id=textId WHERE "
               "value='parent')");
    CHECK(between > 400'000'000);
    CHECK(between < 5'000'000'000);
  }
}

}  // namespace headway::test
