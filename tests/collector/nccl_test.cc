// SPDX-License-Identifier: MIT
// NCCL without a GPU: a stand-in drives the profiler interface as NCCL does
// (tests/targets/nccl_profiler); the real library is called with a null communicator.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/collector/run_recorder.h"
#include "trace/load/load.h"

namespace headway::test {
namespace {

/// Path of libnccl.so.2, from the system or a Python package; empty when there is none.
std::string find_nccl() {
  for (const char* name : {"/usr/local/cuda/lib64/libnccl.so.2", "/usr/local/cuda/lib/libnccl.so.2",
                           "/usr/lib/x86_64-linux-gnu/libnccl.so.2"}) {
    if (std::filesystem::exists(name)) return name;
  }
  const char* given = std::getenv("HEADWAY_TEST_NCCL");
  return given ? given : "";
}

std::string json_of(const std::filesystem::path& trace, const std::string& name) {
  Rows rows = query(trace,
                    "SELECT j.value FROM NVTX_EVENTS e JOIN StringIds n ON n.id = e.textId JOIN "
                    "StringIds j ON j.id = e.jsonTextId WHERE n.value = ?1 ORDER BY e.start",
                    {name});
  return rows.empty() ? "no row" : rows[0][0];
}

}  // namespace

TEST_CASE("NCCL: what its profiler plugin is told is a table, and completes the collectives") {
  TemporaryFolder folder;
  Recorded run = record(folder, {target("nccl_profiler")}, {"--nccl-profiler"});
  REQUIRE(run.finished.status == 0);
  CHECK(run.finished.out == "mask 6\nhandle 0\n");
  CHECK(
      query(run.trace,
            "SELECT f.value, c.value, rank, ranks, sequence, count, d.value, peer, a.value, "
            "p.value, channels, warps FROM HEADWAY_NCCL_OP JOIN StringIds f ON f.id = functionId "
            "JOIN StringIds c ON c.id = communicatorId JOIN StringIds d ON d.id = dtypeId LEFT "
            "JOIN StringIds a ON a.id = algorithmId LEFT JOIN StringIds p ON p.id = protocolId") ==
      Rows{{"AllReduce", "0x123456789abcdef0", "3", "8", "41", "2000", "ncclFloat32", "0", "RING",
            "SIMPLE", "8", "16"},
           {"AllReduce", "0x123456789abcdef0", "3", "8", "42", "100", "ncclFloat32", "0", "TREE",
            "LL128", "8", "16"},
           {"Send", "0x123456789abcdef0", "3", "8", "NULL", "64", "ncclBfloat16", "5", "NULL",
            "NULL", "2", "NULL"}});
  // Events of the plugin must not appear as marks of the program.
  CHECK(number(run.trace, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 34") == 0);
  trace::Trace trace = trace::load(run.trace);
  REQUIRE(trace.collectives.size() == 2);
  CHECK(trace.collectives[0].bytes == 400);
  CHECK(trace.collectives[0].sequence == 42);
  CHECK(trace.collectives[1].bytes == 8000);
  CHECK(trace.collectives[1].sequence == 41);
  CHECK(trace.collectives[1].ranks == 8);
  CHECK(trace.strings[trace.collectives[1].dtype] == "ncclFloat32");
}

TEST_CASE("NCCL: what its profiler plugin is told outside the chosen windows is left out") {
  TemporaryFolder folder;
  Recorded run = record(folder, {target("nccl_profiler")},
                        {"--nccl-profiler", "--capture-range", "nvtx:profiled"});
  REQUIRE(run.finished.status == 0);
  CHECK(query(run.trace,
              "SELECT value, count FROM HEADWAY_NCCL_OP JOIN StringIds ON id = "
              "functionId") == Rows{{"AllReduce", "100"}, {"Send", "64"}});
  CHECK(ranges(run.trace, "ncclAllReduce") == 0);
  CHECK(meta(run.trace, "scope.events_left_out") == "3");
}

TEST_CASE("NCCL: without --nccl-profiler there is no plugin, and another one keeps its place") {
  TemporaryFolder folder;
  Recorded run = record(folder, {target("nccl_profiler")});
  CHECK(run.finished.out == "no plugin\n");
  TemporaryFolder other;
  Recorder recorder(
      {"-o", (other / "run.sqlite").string(), "--nccl-profiler", "--", target("nccl_profiler")});
  recorder.with("NCCL_PROFILER_PLUGIN=/nowhere/libother.so");
  recorder.start();
  Finished finished = recorder.wait();
  CHECK(finished.status == 0);
  CHECK(finished.out == "no plugin\n");
  CHECK(finished.err.find("NCCL_PROFILER_PLUGIN is set to /nowhere/libother.so") !=
        std::string::npos);
}

TEST_CASE("NCCL: the payloads of the real library are decoded, and its schemas stored") {
  const std::string library = find_nccl();
  if (library.empty()) {
    MESSAGE("[skipped] no libnccl.so.2; set HEADWAY_TEST_NCCL to one");
    return;
  }
  TemporaryFolder folder;
  Recorded run = record(folder, {target("nccl_calls"), library});
  if (run.finished.status == 77) {
    MESSAGE("[skipped] " << run.finished.out);
    return;
  }
  REQUIRE(run.finished.status == 0);
  CHECK(run.finished.out.find("refused 8") != std::string::npos);
  CHECK(ranges(run.trace, "ncclAllReduce") == 2);
  // Field names and the enumeration are NCCL's own.
  CHECK(json_of(run.trace, "ncclAllReduce").find("\"Message size [bytes]\":4000") !=
        std::string::npos);
  CHECK(json_of(run.trace, "ncclAllReduce").find("\"Reduction operation\":\"Max\"") !=
        std::string::npos);
  CHECK(json_of(run.trace, "ncclBroadcast").find("\"Root\":3") != std::string::npos);
  CHECK(json_of(run.trace, "ncclSend").find("\"Peer rank\":3") != std::string::npos);
  CHECK(number(run.trace,
               "SELECT count(*) FROM NVTX_PAYLOAD_SCHEMA_ENTRIES WHERE name = 'NCCL communicator "
               "ID'") >= 5);
  CHECK(number(run.trace,
               "SELECT count(*) FROM NVTX_PAYLOAD_ENUM_ENTRIES WHERE name IN ('Sum', 'Product', "
               "'Max', 'Min', 'Avg')") == 5);
  trace::Trace trace = trace::load(run.trace);
  CHECK(trace.collectives.size() == 8);
  std::int64_t bytes = 0;
  for (const trace::Collective& collective : trace.collectives) {
    if (trace.strings[collective.kind] == "allreduce") bytes += collective.bytes;
  }
  CHECK(bytes == 12'000);
}

}  // namespace headway::test
