// SPDX-License-Identifier: MIT
// Queries as people write them for exports of Nsight Systems run unchanged on our recordings: the same
// text on a real export and on a run of tests/targets/cuda_training.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/collector/run_recorder.h"
#include "tests/support/recordings.h"

namespace headway::test {
namespace {

/// Kernels by name, as a table of times.
constexpr const char* kKernels =
    "WITH k AS (SELECT COALESCE(d.value, s.value) AS name, kern.\"end\" - kern.start AS duration, "
    "printf('%d %d %d', gridX, gridY, gridZ) AS grid, registersPerThread, deviceId, streamId FROM "
    "CUPTI_ACTIVITY_KIND_KERNEL AS kern LEFT JOIN StringIds AS d ON d.id = kern.demangledName LEFT "
    "JOIN StringIds AS s ON s.id = kern.shortName) SELECT name, round(sum(duration) * 100.0 / "
    "(SELECT sum(duration) FROM k), 1) AS \"Time (%)\", sum(duration) AS \"Total Time (ns)\", "
    "count(*) AS Instances, avg(duration), min(duration), max(duration) FROM k GROUP BY name ORDER "
    "BY 3 DESC";

/// Calls of the CUDA API by name.
constexpr const char* kCalls =
    "SELECT replace(s.value, '_v3020', '') AS name, count(*) AS \"Num Calls\", sum(r.\"end\" - "
    "r.start) AS total, max(r.\"end\" - r.start) FROM CUPTI_ACTIVITY_KIND_RUNTIME AS r JOIN "
    "StringIds AS s ON s.id = r.nameId WHERE r.eventClass IN (0, 1) AND r.returnValue = 0 GROUP BY "
    "s.value ORDER BY total DESC";

/// NVTX ranges by name, with the name of the domain in front.
constexpr const char* kRanges =
    "WITH domains AS (SELECT min(start), domainId AS id, globalTid >> 24 AS process, text AS name "
    "FROM NVTX_EVENTS WHERE eventType = 75 GROUP BY 2, 3), ranges AS (SELECT COALESCE(d.name, '') "
    "|| "
    "':' || COALESCE(ne.text, sid.value, '') AS tag, ne.\"end\" - ne.start AS duration, CASE "
    "ne.eventType WHEN 59 THEN 'PushPop' WHEN 60 THEN 'StartEnd' END AS style FROM NVTX_EVENTS AS "
    "ne "
    "LEFT JOIN domains AS d ON ne.domainId = d.id AND (ne.globalTid >> 24) = d.process LEFT JOIN "
    "StringIds AS sid ON ne.textId = sid.id WHERE ne.eventType IN (59, 60) AND ne.\"end\" IS NOT "
    "NULL) SELECT tag, style, count(*), sum(duration), min(duration), max(duration) FROM ranges "
    "GROUP BY tag, style ORDER BY 4 DESC";

/// Copies by direction.
constexpr const char* kCopies =
    "SELECT op.label, src.label, dst.label, count(*), sum(m.bytes), sum(m.\"end\" - m.start) FROM "
    "CUPTI_ACTIVITY_KIND_MEMCPY AS m LEFT JOIN ENUM_CUDA_MEMCPY_OPER AS op ON op.id = m.copyKind "
    "LEFT JOIN ENUM_CUDA_MEM_KIND AS src ON src.id = m.srcKind LEFT JOIN ENUM_CUDA_MEM_KIND AS dst "
    "ON dst.id = m.dstKind GROUP BY 1, 2, 3 ORDER BY 5 DESC";

/// Kernels with the call that launched them and its thread: how long they waited.
constexpr const char* kLaunches =
    "SELECT t.value, n.value, k.start - r.start AS queued, r.globalTid / 0x1000000 % 0x1000000 AS "
    "pid, r.globalTid % 0x1000000 AS tid FROM CUPTI_ACTIVITY_KIND_KERNEL AS k JOIN "
    "CUPTI_ACTIVITY_KIND_RUNTIME AS r ON r.correlationId = k.correlationId AND r.globalTid / "
    "0x1000000 = k.globalPid / 0x1000000 JOIN StringIds AS n ON n.id = r.nameId JOIN StringIds AS "
    "t "
    "ON t.id = k.shortName ORDER BY queued DESC LIMIT 20";

/// Waits by kind.
constexpr const char* kWaits =
    "SELECT t.label, count(*), sum(s.\"end\" - s.start) FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION "
    "AS "
    "s JOIN ENUM_CUPTI_SYNC_TYPE AS t ON t.id = s.syncType GROUP BY 1 ORDER BY 3 DESC";

/// What the kernels of each NVTX range took, by the calls made inside it.
constexpr const char* kProjection =
    "SELECT COALESCE(n.text, sid.value) AS range_name, count(*), sum(k.\"end\" - k.start), "
    "min(k.start), max(k.\"end\") FROM NVTX_EVENTS AS n LEFT JOIN StringIds AS sid ON sid.id = "
    "n.textId JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r ON r.globalTid = n.globalTid AND r.start >= "
    "n.start AND r.\"end\" <= n.\"end\" JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k ON k.correlationId = "
    "r.correlationId AND k.globalPid / 0x1000000 = r.globalTid / 0x1000000 WHERE n.eventType = 59 "
    "GROUP BY 1 ORDER BY 3 DESC LIMIT 50";

const Recorded& run() {
  static TemporaryFolder folder;
  static Recorded recorded = [] {
    Recorded result;
    result.trace = folder.path() / "run.sqlite";
    Recorder recorder(
        {"--quiet", "-o", result.trace.string(), "--", target("cuda_training"), "20"});
    recorder.with(
        "LD_LIBRARY_PATH=" +
        (std::filesystem::path(target("cuda_training")).parent_path() / "cupti").string());
    recorder.start();
    result.finished = recorder.wait();
    return result;
  }();
  return recorded;
}

}  // namespace

TEST_CASE("queries for exports of Nsight Systems run unchanged on a recording and on an export") {
  for (const char* sql : {kKernels, kCalls, kRanges, kCopies, kLaunches, kWaits, kProjection}) {
    CAPTURE(sql);
    Rows ours = query(run().trace, sql);
    REQUIRE(!ours.empty());
    std::vector<std::filesystem::path> real = recordings("h100_2gpu_1s.sqlite");
    if (real.empty()) {
      MESSAGE("[skipped] no real export here to compare with");
      continue;
    }
    Rows theirs = query(real.front(), sql);
    REQUIRE(!theirs.empty());
    CHECK(ours[0].size() == theirs[0].size());
  }
}

TEST_CASE("queries for exports of Nsight Systems give what was recorded") {
  Rows kernels = query(run().trace, kKernels);
  REQUIRE(kernels.size() == 3);
  for (const auto& row : kernels) {
    CHECK(row[1] == "33.3");
    CHECK(row[3] == "20");
    CHECK(std::stod(row[4]) == doctest::Approx(300'000).epsilon(0.001));
  }
  Rows calls = query(run().trace, kCalls);
  REQUIRE(calls.size() == 3);
  CHECK(calls[0][0] == "cudaStreamSynchronize");
  CHECK(calls[0][1] == "20");
  Rows ranges = query(run().trace, kRanges);
  REQUIRE(ranges.size() == 20);
  CHECK(ranges[0][0].starts_with(":step "));
  CHECK(ranges[0][1] == "PushPop");
  CHECK(query(run().trace, kCopies)[0] ==
        std::vector<std::string>{"Host-to-Device", "Pageable", "Device", "20", "20971520",
                                 query(run().trace, kCopies)[0][5]});
  CHECK(query(run().trace, kWaits)[0][0] == "Stream sync");
  Rows launches = query(run().trace, kLaunches);
  REQUIRE(launches.size() == 20);
  CHECK(launches[0][1] == "cudaLaunchKernel_v7000");
  CHECK(launches[0][3] == launches[0][4]);  // the main thread's
  Rows projection = query(run().trace, kProjection);
  REQUIRE(projection.size() == 20);
  CHECK(projection[0][1] == "3");
}

}  // namespace headway::test
