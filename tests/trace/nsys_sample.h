// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <filesystem>
#include <string>

namespace headway::test {

/// Runs SQL on a file; the file is made when it is missing.
inline void run_sql(const std::filesystem::path& path, const std::string& sql) {
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  char* error = nullptr;
  int code = sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &error);
  CAPTURE(error ? std::string(error) : std::string());
  CHECK(code == SQLITE_OK);
  sqlite3_free(error);
  sqlite3_close(db);
}

/// globalTid of pid and tid as Nsight Systems packs them.
constexpr long long packed(long long pid, long long tid = 0) {
  return (1LL << 48) | pid << 24 | tid;
}

/// The tables of an export of 2024 with one process (pid 10) that launches a kernel and an NCCL
/// allreduce of two ranks, waits for an event, and was profiled a little.
inline std::string nsys_sample() {
  std::string pid = std::to_string(packed(10));
  std::string tid = std::to_string(packed(10, 11));
  // Payloads: header of 32 bytes, then u64 communicator, and u64 size or i32 ranks, rank, device.
  return "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT NOT NULL);"
         "INSERT INTO StringIds VALUES(1,'gemm'),(2,'ncclDevKernel_AllReduce_Sum_f32_RING_LL'),"
         "(3,'cudaLaunchKernel_v7000'),(4,'ncclAllReduce'),(5,'ncclCommInitRank'),"
         "(6,'cudaEventRecord_v3020'),(7,'cudaStreamWaitEvent_v3020'),(8,'Buffer flush'),"
         "(9,'Lazy function loading');"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT,end INT,deviceId INT,contextId INT,"
         "streamId INT,correlationId INT,globalPid INT,demangledName INT,shortName INT,gridX INT,"
         "gridY INT,gridZ INT,blockX INT,blockY INT,blockZ INT,graphNodeId INT);"
         "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
         "(100,200,0,1,7,1," +
         pid +
         ",1,1,4,2,1,128,2,1,NULL),"
         "(220,320,0,1,20,2," +
         pid +
         ",2,2,8,1,1,512,1,1,NULL);"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT,end INT,eventClass INT,globalTid INT,"
         "correlationId INT,nameId INT,returnValue INT,callchainId INT);"
         "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES"
         "(50,60,0," +
         tid + ",1,3,0,NULL),(72,78,0," + tid +
         ",2,3,0,NULL),"
         "(80,82,0," +
         tid + ",3,6,0,NULL),(84,86,0," + tid +
         ",4,7,0,NULL);"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start INT,end INT,deviceId INT,"
         "contextId INT,streamId INT,correlationId INT,globalPid INT,syncType INT,eventId INT,"
         "eventSyncId INT);"
         "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES(84,86,0,1,7,4," +
         pid +
         ",2,5,99);"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT(timestamp INT,deviceId INT,contextId INT,"
         "streamId INT,correlationId INT,globalPid INT,eventId INT,eventSyncId INT);"
         "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES(0,0,1,20,3," +
         pid +
         ",5,99);"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD(start INT,end INT,eventClass INT,globalTid INT,"
         "correlationId INT,nameId INT,overheadType INT);"
         "INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD VALUES(55,58,103," +
         tid +
         ",1,9,7);"
         "CREATE TABLE PROFILER_OVERHEAD(start INT,end INT,globalTid INT,nameId INT,"
         "overheadType INT);"
         "INSERT INTO PROFILER_OVERHEAD VALUES(40,45," +
         tid +
         ",8,3);"
         "CREATE TABLE NVTX_EVENTS(start INT,end INT,eventType INT,text TEXT,globalTid INT,"
         "textId INT,domainId INT,jsonTextId INT,jsonText TEXT,binaryData BLOB);"
         "INSERT INTO NVTX_EVENTS VALUES(0,NULL,75,'NCCL'," +
         tid +
         ",NULL,1,NULL,NULL,NULL);"
         "INSERT INTO NVTX_EVENTS VALUES(10,30,59,NULL," +
         tid +
         ",5,1,NULL,NULL,"
         "x'0100000000000000020000010000000018000000000000003800000000000000"
         "efbeadde0000000002000000010000000000000000000000'),"
         "(70,79,59,NULL," +
         tid +
         ",4,1,NULL,NULL,"
         "x'0100000000000000070000010000000010000000000000003000000000000000"
         "efbeadde000000000010000000000000');"
         "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES(domainId INT,schemaId INT,idx INT,flags INT,"
         "type INT,name TEXT,description TEXT,arrayOrUnionDetail INT,offset INT);"
         "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES"
         "(1,16777218,0,NULL,18,'NCCL communicator ID',NULL,NULL,NULL),"
         "(1,16777218,1,NULL,5,'No. of ranks',NULL,NULL,8),"
         "(1,16777218,2,NULL,5,'Rank',NULL,NULL,12),"
         "(1,16777218,3,NULL,5,'CUDA device',NULL,NULL,16),"
         "(1,16777223,0,NULL,18,'NCCL communicator ID',NULL,NULL,NULL),"
         "(1,16777223,1,NULL,22,'Message size [bytes]',NULL,NULL,8);";
}

}  // namespace headway::test
