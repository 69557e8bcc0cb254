// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/collector/run_recorder.h"
#include "trace/load/load.h"

namespace headway::test {

TEST_CASE("what a program says by the conventions fills Headway's own tables") {
  TemporaryFolder folder;
  Recorded run = record(folder, {target("conventions")});
  REQUIRE(run.finished.status == 0);
  CHECK(query(run.trace, "SELECT type, cores, name FROM HEADWAY_DEVICE") ==
        Rows{{"2", "2", "host device"}});
  CHECK(query(run.trace, "SELECT deviceId, streamId, name FROM HEADWAY_STREAM") ==
        Rows{{"0", "1", "compute"}});
  CHECK(query(run.trace, "SELECT name, value FROM HEADWAY_SETTING") == Rows{{"workers", "it's 4"}});
  CHECK(query(run.trace,
              "SELECT op, forwardOp, phase, name, type, shape, inputs, flops, bytes, outputBytes "
              "FROM HEADWAY_GRAPH_OP") ==
        Rows{{"3", "NULL", "2", "layer1.conv1", "conv2d", "1x2x3", "1 2", "1000", "2000", "500"}});
  CHECK(query(run.trace,
              "SELECT value, kind, phase, op, batch, step, flops FROM HEADWAY_RANGE JOIN "
              "NVTX_EVENTS n ON n.rowid=rangeRow JOIN StringIds s ON s.id=textId ORDER BY start") ==
        Rows{{"step", "1", "0", "NULL", "NULL", "0", "0"},
             {"conv", "3", "2", "3", "0", "NULL", "1000"},
             {"step", "1", "0", "NULL", "NULL", "1", "0"},
             {"conv", "3", "2", "3", "1", "NULL", "1000"},
             {"step", "1", "0", "NULL", "NULL", "2", "0"},
             {"conv", "3", "2", "3", "2", "NULL", "1000"},
             {"never ends", "4", "0", "NULL", "99", "NULL", "0"}});
  CHECK(
      query(run.trace,
            "SELECT value, kind, streamId, correlationId, op, batch, bytes, phase, end>=start FROM "
            "HEADWAY_DEVICE_OP JOIN StringIds ON id=nameId ORDER BY start") ==
      Rows{{"conv_kernel", "1", "1", "100", "3", "0", "2000", "2", "1"},
           {"conv_kernel", "1", "1", "101", "3", "1", "2000", "2", "1"},
           {"conv_kernel", "1", "1", "102", "3", "2", "2000", "2", "1"}});
  CHECK(query(run.trace,
              "SELECT value, kind, streamId, correlationId, syncId FROM HEADWAY_DEVICE_CALL JOIN "
              "StringIds ON id=nameId ORDER BY start") ==
        Rows{{"launch", "1", "1", "100", "NULL"},
             {"launch", "1", "1", "101", "NULL"},
             {"launch", "1", "1", "102", "NULL"}});
  // They stand in their own tables only.
  CHECK(number(run.trace, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType IN (34, 59)") == 7);
  CHECK(number(run.trace, "SELECT count(*) FROM NVTX_PAYLOAD_SCHEMAS") == 7);
}

TEST_CASE("the loader joins ranges with what they say, calls with ops, and nests them") {
  TemporaryFolder folder;
  Recorded run = record(folder, {target("conventions")});
  trace::Trace trace = trace::load(run.trace);
  REQUIRE(trace.ranges.size() == 7);
  for (std::uint32_t i = 0; i < 7; ++i) {
    const trace::RangeInfo* info = trace.info(trace::RangeId{i});
    REQUIRE(info != nullptr);
    bool is_op = info->kind == trace::RangeKind::kOp;
    CHECK(trace.ranges.depth[i] == (is_op ? 1 : 0));
  }
  REQUIRE(trace.device_ops.size() == 3);
  REQUIRE(trace.calls.size() == 3);
  for (std::uint32_t i = 0; i < 3; ++i) CHECK(trace.device_ops.call[i].value == i);
  CHECK(trace.setting("workers") == "it's 4");
}

}  // namespace headway::test
