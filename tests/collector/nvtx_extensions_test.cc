// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/collector/run_recorder.h"
#include "trace/load/load.h"

namespace headway::test {
namespace {

/// tests/targets/nvtx_extensions, recorded once.
const Recorded& run() {
  static TemporaryFolder folder;
  static Recorded recorded = record(folder, {target("nvtx_extensions")});
  return recorded;
}

std::string json_of(const std::string& name) {
  Rows rows = query(run().trace,
                    "SELECT j.value FROM NVTX_EVENTS e JOIN StringIds n ON n.id = e.textId JOIN "
                    "StringIds j ON j.id = e.jsonTextId WHERE n.value = ?1",
                    {name});
  return rows.size() == 1 ? rows[0][0] : "rows: " + std::to_string(rows.size());
}

Rows samples_of(const std::string& series) {
  return query(run().trace,
               "SELECT v.value FROM HEADWAY_COUNTER v JOIN HEADWAY_COUNTER_SERIES s ON s.id = "
               "v.seriesId WHERE s.name = ?1 ORDER BY v.rowid",
               {series});
}

}  // namespace

TEST_CASE("nested payloads: schemas in schemas, arrays of them, enumerations and sets by name") {
  REQUIRE(run().finished.status == 0);
  CHECK(json_of("nested") ==
        R"({"mode":"evaluate","flags":"shuffled|cached","half":1.5,)"
        R"("shape":{"height":224,"width":256},)"
        R"("crops":[{"height":1,"width":2},{"height":3,"width":4}],"scale":0.25})");
  CHECK(json_of("unnamed").starts_with(R"({"mode":9,"flags":8,)"));
}

TEST_CASE("dynamic payloads: lengths in other entries, texts to their end, registered texts") {
  CHECK(json_of("dynamic") == R"({"count":3,"values":[7,8,9],"file":"a\"b","dimensions":[2,3],)"
                              R"("table":[[1,2,3],[-1,-2,-3]],"label":"a label"})");
  CHECK(json_of("cut") ==
        R"({"count":3,"values":null,"file":null,"dimensions":null,"table":null,"label":null})");
  CHECK(json_of("length elsewhere") == R"([{"row":[0.5,1.5,0.1]},{"value":3}])");
}

TEST_CASE("a union shows the member that its selector names") {
  CHECK(json_of("union") == R"({"which":1,"value":{"as float":2.5}})");
}

TEST_CASE("enumerations are stored as Nsight Systems stores them") {
  CHECK(
      query(run().trace,
            "SELECT e.name, numEntries, size, v.idx, v.name, v.value, v.isFlag FROM "
            "NVTX_PAYLOAD_ENUMS e JOIN NVTX_PAYLOAD_ENUM_ENTRIES v ON v.schemaId = e.schemaId AND "
            "v.domainId = e.domainId ORDER BY e.rowid, v.idx") ==
      Rows{{"mode", "2", "1", "0", "train", "1", "0"},
           {"mode", "2", "1", "1", "evaluate", "2", "0"},
           {"flags", "3", "1", "0", "shuffled", "1", "1"},
           {"flags", "3", "1", "1", "augmented", "2", "1"},
           {"flags", "3", "1", "2", "cached", "4", "1"}});
}

TEST_CASE("counters of the program become series, with unit, description and device") {
  CHECK(run().finished.out.find("same counter 1\n") != std::string::npos);
  CHECK(run().finished.out.find("given id 1\n") != std::string::npos);
  CHECK(samples_of("extended.queue depth") == Rows{{"10.0"}, {"9.0"}, {"8.0"}, {"0.0"}});
  CHECK(samples_of("extended.loss") == Rows{{"0.75"}, {"0.5"}});
  CHECK(samples_of("extended.memory.used") == Rows{{"1073741824.0"}});
  CHECK(samples_of("extended.memory.share") == Rows{{"0.25"}});
  CHECK(query(run().trace,
              "SELECT name, unit, description, deviceId, globalPid IS NOT NULL FROM "
              "HEADWAY_COUNTER_SERIES WHERE name LIKE 'extended.%' ORDER BY name") ==
        Rows{{"extended.loss", "", "Batches that wait.", "NULL", "1"},
             {"extended.memory.share", "", "Batches that wait.", "1", "1"},
             {"extended.memory.used", "bytes", "Held by tensors.", "1", "1"},
             {"extended.queue depth", "items", "Batches that wait.", "NULL", "1"}});
  // The sample of a counter that nobody registered.
  CHECK(loss(run().trace, "nvtx_unknown_handle") == 1);
  trace::Trace trace = trace::load(run().trace);
  bool found = false;
  for (const trace::CounterSeries& series : trace.counters) {
    if (series.name != "extended.queue depth") continue;
    found = true;
    CHECK(series.value == std::vector<double>{10, 9, 8, 0});
    CHECK(series.process.valid());
  }
  CHECK(found);
}

TEST_CASE("a wait for a user-defined lock is a range of its own domain") {
  CHECK(
      query(run().trace,
            "SELECT n.value, d.text, e.\"end\" IS NOT NULL FROM NVTX_EVENTS e JOIN StringIds n ON "
            "n.id = e.textId JOIN NVTX_EVENTS d ON d.eventType = 75 AND d.domainId = e.domainId "
            "WHERE d.text = 'NVTX sync'") == Rows{{"the cache's lock", "NVTX sync", "1"}});
  CHECK(ranges(run().trace, "around the lock") == 1);
}

}  // namespace headway::test
