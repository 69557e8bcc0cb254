// SPDX-License-Identifier: MIT
// What exports of different versions of Nsight Systems have and lack.
#include <doctest/doctest.h>

#include "common/error.h"
#include "tests/support/recordings.h"
#include "tests/support/temporary_folder.h"
#include "tests/trace/nsys_sample.h"
#include "trace/load/load.h"
#include "trace/load/nccl.h"
#include "trace/meta_keys.h"

namespace headway::trace {
namespace {

using test::nsys_sample;
using test::run_sql;

Trace load_sql(const std::string& more) {
  test::TemporaryFolder folder;
  run_sql(folder / "export.sqlite", nsys_sample() + more);
  return load(folder / "export.sqlite");
}

}  // namespace

TEST_CASE("NCCL's payloads give bytes, communicator, ranks and the kernel that carried it out") {
  Trace trace = load_sql("");
  REQUIRE(trace.collectives.size() == 1);
  const Collective& collective = trace.collectives[0];
  CHECK(trace.strings[collective.kind] == "allreduce");
  CHECK(collective.bytes == 4096);
  CHECK(trace.strings[collective.communicator] == "0x00000000deadbeef");
  CHECK(collective.ranks == 2);
  CHECK(trace.strings[collective.dtype] == "f32");
  REQUIRE(collective.op.valid());
  CHECK(trace.device_ops.start[collective.op.value].ns == 220);
  CHECK(trace.world_size == 2);
  CHECK(trace.processes[trace.threads[trace.ranges.thread[0].value].process.value].rank == 1);
  CHECK(trace.meta_value(meta::kProducer) == "Nsight Systems");
}

TEST_CASE("payloads exported as JSON say the same as binary ones") {
  Trace trace = load_sql(
      "UPDATE NVTX_EVENTS SET jsonText='{\"NCCL communicator ID\":3735928559,\"Message size "
      "[bytes]\":4096}', binaryData=NULL WHERE textId=4;");
  REQUIRE(trace.collectives.size() == 1);
  CHECK(trace.collectives[0].bytes == 4096);
  CHECK(trace.collectives[0].ranks == 2);
}

TEST_CASE("broken payloads are no evidence, and the kernel's name still tells the kind") {
  for (const char* change :
       {"UPDATE NVTX_EVENTS SET binaryData=x'01';", "UPDATE NVTX_EVENTS SET binaryData='text';",
        "UPDATE NVTX_EVENTS SET binaryData=zeroblob(40);",
        "UPDATE NVTX_EVENTS SET binaryData=NULL, jsonText='{broken';",
        "UPDATE NVTX_PAYLOAD_SCHEMA_ENTRIES SET offset=9223372036854775807;",
        "UPDATE NVTX_PAYLOAD_SCHEMA_ENTRIES SET type=-5, arrayOrUnionDetail=1<<60, flags=16;",
        "DROP TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES;", "DROP TABLE NVTX_EVENTS;"}) {
    CAPTURE(change);
    Trace trace = load_sql(change);
    REQUIRE(trace.collectives.size() == 1);
    CHECK(trace.strings[trace.collectives[0].kind] == "allreduce");
    CHECK(trace.collectives[0].op.valid());
  }
}

TEST_CASE("operations of a group belong to the kernel that its end launches") {
  std::string tid = std::to_string(test::packed(10, 11));
  Trace trace = load_sql(
      "INSERT INTO StringIds VALUES(20,'ncclGroupStart'),(21,'ncclGroupEnd'),(22,'ncclSend'),"
      "(23,'ncclRecv'),(24,'ncclDevKernel_SendRecv');"
      "INSERT INTO NVTX_EVENTS(start,end,eventType,globalTid,textId,domainId) VALUES"
      "(300,301,59," +
      tid + ",20,1),(302,303,59," + tid + ",22,1),(304,305,59," + tid + ",23,1),(306,320,59," +
      tid +
      ",21,1);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(308,312,0," +
      tid +
      ",9,3,0,NULL);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(400,500,0,1,20,9," +
      std::to_string(test::packed(10)) + ",24,24,1,1,1,1,1,1,NULL);");
  REQUIRE(trace.collectives.size() == 3);
  CHECK(trace.strings[trace.collectives[1].kind] == "send");
  CHECK(trace.strings[trace.collectives[2].kind] == "recv");
  CHECK(trace.collectives[1].op == trace.collectives[2].op);
  CHECK(trace.device_ops.start[trace.collectives[1].op.value].ns == 400);
}

TEST_CASE("a wait and the record it waits for have the same id, and overheads are told apart") {
  Trace trace = load_sql("");
  REQUIRE(trace.calls.size() == 4);
  CHECK(trace.calls.sync_id[2] == 99);
  CHECK(trace.calls.sync_id[3] == 99);
  REQUIRE(trace.calls.stream[2].valid());
  CHECK(trace.streams[trace.calls.stream[2].value].ordinal == 20);
  CHECK(trace.streams[trace.calls.stream[3].value].ordinal == 7);
  REQUIRE(trace.overheads.size() == 2);
  CHECK(trace.overheads[0].kind == Overhead::Kind::kProfiler);
  CHECK(trace.overheads[1].kind == Overhead::Kind::kModuleLoad);
  CHECK(trace.strings[trace.overheads[1].name] == "Lazy function loading");
}

TEST_CASE("GPUs are known from the tables of each version and from the system's description") {
  for (const char* tables :
       {"CREATE TABLE TARGET_INFO_GPU(id INT,name TEXT,smCount INT,computeMajor INT,computeMinor "
        "INT,totalMemory INT,memoryBandwidth INT,clockRate INT);INSERT INTO TARGET_INFO_GPU "
        "VALUES(0,'H100',132,9,0,85899345920,3350000000000,1980000000);",
        "CREATE TABLE TARGET_INFO_CUDA_GPU(deviceId INT,name TEXT,numMultiprocessors "
        "INT,computeCapabilityMajor INT,computeCapabilityMinor INT,globalMemorySize "
        "INT,globalMemoryBandwidth INT,clockRate INT);INSERT INTO TARGET_INFO_CUDA_GPU "
        "VALUES(0,'H100',132,9,0,85899345920,3350000000000,1980000000);",
        "CREATE TABLE TARGET_INFO_SYSTEM_ENV(globalVid INT,name TEXT,value TEXT);INSERT INTO "
        "TARGET_INFO_SYSTEM_ENV VALUES(0,'GpuInfo','{\"Gpus\":[{\"Id\":0,\"Name\":\"H100\","
        "\"SmCount\":132,\"ComputeMajor\":9,\"ComputeMinor\":0,\"TotalMemory\":\"85899345920\","
        "\"MemoryBandwidth\":\"3350000000000\",\"ClockRate\":1980000000}]}');"}) {
    CAPTURE(tables);
    Trace trace = load_sql(tables);
    REQUIRE(trace.devices.size() == 1);
    CHECK(trace.devices[0].name == "H100");
    CHECK(trace.devices[0].cores == 132);
    CHECK(trace.devices[0].compute_major == 9);
    CHECK(trace.devices[0].memory_bytes == 85899345920);
    CHECK(trace.devices[0].memory_bytes_per_second == 3350000000000);
  }
  CHECK(load_sql("CREATE TABLE TARGET_INFO_SYSTEM_ENV(name TEXT,value TEXT);INSERT INTO "
                 "TARGET_INFO_SYSTEM_ENV VALUES('GpuInfo','{not json');")
            .devices[0]
            .name.empty());
}

TEST_CASE(
    "device 0 of two processes is two GPUs when the export says so, and their order is the rank") {
  std::string pid = std::to_string(test::packed(30));
  Trace trace = load_sql(
      "DELETE FROM NVTX_EVENTS;"
      "CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId INT,cudaId INT,pid INT,uuid "
      "TEXT,numMultiprocessors INT);INSERT INTO TARGET_INFO_CUDA_DEVICE "
      "VALUES(5,0,10,'',132),(3,0,30,'',132);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT start,end,deviceId,contextId,streamId,"
      "correlationId," +
      pid +
      ",demangledName,shortName,gridX,gridY,gridZ,blockX,blockY,blockZ,"
      "graphNodeId FROM CUPTI_ACTIVITY_KIND_KERNEL;");
  REQUIRE(trace.devices.size() == 2);
  CHECK(trace.devices[0].ordinal == 5);
  CHECK(trace.devices[1].ordinal == 3);
  for (const Process& process : trace.processes) CHECK(process.rank == (process.pid == 10));
}

TEST_CASE("an export of one rank takes its rank from the command's environment") {
  Trace trace = load_sql(
      "DELETE FROM NVTX_EVENTS;"
      "CREATE TABLE META_DATA_CAPTURE(name TEXT,value TEXT);INSERT INTO META_DATA_CAPTURE VALUES"
      "('PROCESS_0:ENVIRONMENT_VARIABLE','XRANK=\"9\"'),"
      "('PROCESS_0:ENVIRONMENT_VARIABLE','RANK=\"3\"'),"
      "('PROCESS_0:ENVIRONMENT_VARIABLE','WORLD_SIZE=\"8\"');");
  CHECK(trace.world_size == 8);
  std::int32_t highest = 0;
  for (const Process& process : trace.processes) highest = std::max(highest, process.rank);
  CHECK(highest == 3);
}

TEST_CASE("exports of old versions lack columns and tables, and still link calls with kernels") {
  Trace trace = load_sql(
      "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN globalPid;"
      "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN demangledName;"
      "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN graphNodeId;"
      "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN gridZ;"
      "ALTER TABLE NVTX_EVENTS DROP COLUMN binaryData;"
      "ALTER TABLE NVTX_EVENTS DROP COLUMN jsonText;"
      "ALTER TABLE NVTX_EVENTS DROP COLUMN jsonTextId;"
      "UPDATE NVTX_EVENTS SET text='inline' WHERE textId=5; "
      "UPDATE NVTX_EVENTS SET textId=NULL WHERE textId=5;"
      "DROP TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION; DROP TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT;"
      "DROP TABLE PROFILER_OVERHEAD; DROP TABLE CUPTI_ACTIVITY_KIND_OVERHEAD;");
  REQUIRE(trace.device_ops.size() == 2);
  CHECK(trace.device_ops.call[0].valid());
  CHECK(trace.strings[trace.device_ops.name[0]] == "gemm");
  CHECK(trace.device_ops.blocks[0] == 8);
  CHECK(trace.strings[trace.ranges.name[0]] == "inline");
}

TEST_CASE("a CUDA graph that was traced as a whole is one op, with its nodes only they count") {
  std::string pid = std::to_string(test::packed(10));
  std::string graph =
      "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start INT,end INT,deviceId INT,contextId INT,"
      "streamId INT,correlationId INT,globalPid INT,graphId INT,graphExecId INT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES(500,900,0,1,7,1," +
      pid + ",1,1);";
  Trace whole = load_sql(graph);
  REQUIRE(whole.device_ops.size() == 3);
  CHECK(whole.strings[whole.device_ops.name[2]] == "[CUDA graph]");
  CHECK(whole.device_ops.call[2].valid());
  CHECK(
      load_sql(graph + "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId=7;").device_ops.size() ==
      2);
}

TEST_CASE("values of other types and sizes never crash the reader and leave the rest readable") {
  const char* columns[] = {"CUPTI_ACTIVITY_KIND_KERNEL.start",
                           "CUPTI_ACTIVITY_KIND_KERNEL.end",
                           "CUPTI_ACTIVITY_KIND_KERNEL.deviceId",
                           "CUPTI_ACTIVITY_KIND_KERNEL.streamId",
                           "CUPTI_ACTIVITY_KIND_KERNEL.globalPid",
                           "CUPTI_ACTIVITY_KIND_KERNEL.correlationId",
                           "CUPTI_ACTIVITY_KIND_KERNEL.demangledName",
                           "CUPTI_ACTIVITY_KIND_KERNEL.gridX",
                           "CUPTI_ACTIVITY_KIND_RUNTIME.globalTid",
                           "CUPTI_ACTIVITY_KIND_RUNTIME.nameId",
                           "CUPTI_ACTIVITY_KIND_RUNTIME.start",
                           "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION.streamId",
                           "CUPTI_ACTIVITY_KIND_OVERHEAD.overheadType",
                           "NVTX_EVENTS.eventType",
                           "NVTX_EVENTS.domainId",
                           "NVTX_EVENTS.text",
                           "NVTX_EVENTS.globalTid",
                           "StringIds.value",
                           "NVTX_PAYLOAD_SCHEMA_ENTRIES.name",
                           "NVTX_PAYLOAD_SCHEMA_ENTRIES.schemaId"};
  const char* values[] = {
      "NULL",      "'text'",           "-1", "9223372036854775807", "-9223372036854775808", "1e300",
      "x'00ff00'", "zeroblob(100000)", "''"};
  for (const char* column : columns) {
    for (const char* value : values) {
      std::string where = column;
      std::size_t dot = where.find('.');
      std::string change = "UPDATE OR IGNORE " + where.substr(0, dot) + " SET " +
                           where.substr(dot + 1) + "=" + value + ";";
      CAPTURE(change);
      try {
        Trace trace = load_sql(change);
        CHECK(trace.ranges.size() <= 3);
      } catch (const Error& error) {
        CHECK(error.code() == ExitCode::kBadInput);
      }
    }
  }
}

TEST_CASE("every prefix of an export either loads or says what is wrong") {
  test::TemporaryFolder folder;
  run_sql(folder / "whole.sqlite", "PRAGMA page_size=512;" + nsys_sample());
  auto bytes = std::filesystem::file_size(folder / "whole.sqlite");
  for (std::uintmax_t size = 0; size < bytes; size += size < 600 ? 37 : 509) {
    CAPTURE(size);
    std::filesystem::copy_file(folder / "whole.sqlite", folder / "cut.sqlite",
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(folder / "cut.sqlite", size);
    CHECK_THROWS_AS(load(folder / "cut.sqlite"), Error);
  }
}

TEST_CASE("the real exports hold what Nsight Systems recorded of communication and profiling") {
  auto files = test::recordings(".sqlite");
  if (files.empty()) {
    MESSAGE("skipped: the real recordings are not on this machine");
    return;
  }
  for (const auto& file : files) {
    CAPTURE(file);
    Trace trace = load(file);
    std::string name = file.filename().string();
    CHECK(trace.meta_value(meta::kToolVersion) != "");
    if (name == "h100_mfu_before.sqlite") {
      // 132 sends and 132 receives in 66 groups, two of each in one. The window that the export was
      // cut to splits two groups: eight operations have no kernel, two of the 66 kernels no launch.
      std::size_t sends = 0;
      std::size_t joined = 0;
      for (const Collective& collective : trace.collectives) {
        sends += trace.strings[collective.kind] == "send";
        joined += collective.op.valid();
      }
      CHECK(trace.collectives.size() == 132 + 132 + 2);
      CHECK(sends == 132);
      CHECK(joined == 132 + 132 - 8 + 2);
      CHECK(trace.overheads.size() == 6);
      std::size_t waits = 0;
      for (std::size_t i = 0; i < trace.calls.size(); ++i)
        waits +=
            trace.calls.kind[i] == DeviceCallKind::kStreamWaitEvent && trace.calls.sync_id[i] != 0;
      CHECK(waits == 200);
      std::vector<std::int32_t> ranks;
      for (const Stream& stream : trace.streams)
        ranks.push_back(trace.processes[stream.process.value].rank);
      CHECK(*std::max_element(ranks.begin(), ranks.end()) == 1);
    } else if (name == "h100_2gpu_1s.sqlite") {
      CHECK(trace.overheads.size() == 198);
    } else if (name == "tiny.sqlite") {
      CHECK(trace.overheads.size() == 31);
      REQUIRE(trace.devices.size() == 1);
      CHECK(trace.devices[0].name == "NVIDIA GeForce RTX 3080");
    }
  }
}

}  // namespace headway::trace
