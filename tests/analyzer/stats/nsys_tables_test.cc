// SPDX-License-Identifier: MIT
#include "analyzer/stats/nsys_tables.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "tests/analyzer/planted_run.h"

namespace headway::analyzer {
namespace {

Table nsys(const test::AnalyzedRun& run, std::string_view name) {
  for (const TableDeclaration& table : nsys_table_declarations()) {
    if (table.id != name) continue;
    Table made = table.make(run.trace, run.analysis, {});
    round_as_nsys(made, true);
    return made;
  }
  FAIL("no table " << name);
  return {};
}

Table api_sum_numbers(const test::AnalyzedRun& run) {
  for (const TableDeclaration& table : nsys_table_declarations()) {
    if (table.id != "cuda_api_sum") continue;
    Table made = table.make(run.trace, run.analysis, {});
    round_as_nsys(made, false);
    return made;
  }
  return {};
}

/// A row as its CSV line reads.
std::string line(const Table& table, std::size_t row) {
  std::string csv = to_csv(table);
  std::size_t at = csv.find('\n') + 1;
  for (; row > 0; --row) at = csv.find('\n', at) + 1;
  std::string text = csv.substr(at, csv.find('\n', at) - at);
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

std::string header(const Table& table) {
  std::string csv = to_csv(table);
  std::string text = csv.substr(0, csv.find('\n'));
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

void add_work(test::TraceBuilder& builder) {
  builder.domain("");
  builder.range(1, "outer", 0, 1000);
  builder.range(1, "inner", 10, 500);
  builder.launch(1, 20, 30, 100, 200, {.name = "gemm"});
  builder.launch(1, 40, 60, 200, 301, {.name = "gemm"});
  builder.launch(1, 600, 620, 700, 750, {.name = "relu", .stream = 2});
  builder.launch(1, 800, 830, 840, 940,
                 {.name = "copy",
                  .kind = trace::DeviceOpKind::kCopyHostToDevice,
                  .bytes = 2'000'000,
                  .source = trace::MemoryKind::kPinned});
}

}  // namespace

TEST_CASE("kernels and calls are summed up as Nsight Systems does, to its digits") {
  test::TraceBuilder builder;
  add_work(builder);
  test::AnalyzedRun run(builder);
  Table kernels = nsys(run, "cuda_gpu_kern_sum");
  CHECK(kernels.title == "CUDA GPU Kernel Summary (cuda_gpu_kern_sum)");
  CHECK(header(kernels) ==
        "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name");
  CHECK(line(kernels, 0) == "80.1,201,2,100.5,100.5,100,101,0.7,gemm");
  CHECK(line(kernels, 1) == "19.9,50,1,50.0,50.0,50,50,0.0,relu");
  Table calls = nsys(run, "cuda_api_sum");
  CHECK(header(calls) ==
        "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name");
  std::int64_t count = 0;
  for (const auto& row : calls.rows) count += std::get<std::int64_t>(row[2]);
  CHECK(count == 4);
}

TEST_CASE("copies have Nsight Systems' names and megabytes") {
  test::TraceBuilder builder;
  add_work(builder);
  test::AnalyzedRun run(builder);
  CHECK(line(nsys(run, "cuda_gpu_mem_time_sum"), 0) ==
        "100.0,100,1,100.0,100.0,100,100,0.0,[CUDA memcpy Host-to-Device]");
  Table sizes = nsys(run, "cuda_gpu_mem_size_sum");
  CHECK(header(sizes) ==
        "Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation");
  CHECK(line(sizes, 0) == "2.000,1,2.000,2.000,2.000,2.000,0.000,[CUDA memcpy Host-to-Device]");
}

TEST_CASE("one table of calls, kernels and copies has their categories") {
  test::TraceBuilder builder;
  add_work(builder);
  test::AnalyzedRun run(builder);
  Table all = nsys(run, "cuda_api_gpu_sum");
  std::map<std::string, std::int64_t> total;
  double percent = 0;
  for (const auto& row : all.rows) {
    percent += std::stod(std::get<std::string>(row[0]));
    total[std::get<std::string>(row[8])] += std::get<std::int64_t>(row[1]);
  }
  CHECK(total == std::map<std::string, std::int64_t>{
                     {"CUDA_API", 80}, {"CUDA_KERNEL", 251}, {"MEMORY_OPER", 100}});
  CHECK(percent == doctest::Approx(100).epsilon(0.005));
  CHECK(nsys(run, "cuda_gpu_sum").rows.size() == 3);
}

TEST_CASE("ranges are told apart by domain and style, and projected with levels and children") {
  test::TraceBuilder builder;
  add_work(builder);
  test::AnalyzedRun run(builder);
  Table ranges = nsys(run, "nvtx_sum");
  CHECK(line(ranges, 0) == "67.1,1000,1,1000.0,1000.0,1000,1000,0.0,PushPop,:outer");
  CHECK(nsys(run, "nvtx_pushpop_sum").rows.size() == 2);
  CHECK(nsys(run, "nvtx_startend_sum").rows.empty());
  Table projected = nsys(run, "nvtx_gpu_proj_sum");
  CHECK(header(projected) ==
        "Range,Style,Total Proj Time (ns),Total Range Time (ns),Range Instances,Proj Avg (ns),"
        "Proj Med (ns),Proj Min (ns),Proj Max (ns),Proj StdDev (ns),Total GPU Ops,Avg GPU Ops,"
        "Avg Range Lvl,Avg Num Child");
  CHECK(line(projected, 0) == ":outer,PushPop,840,1000,1,840.0,840.0,840,840,0.0,4,4.0,0.0,1.0");
  CHECK(line(projected, 1) == ":inner,PushPop,201,490,1,201.0,201.0,201,201,0.0,2,2.0,1.0,0.0");
}

TEST_CASE("each op is a row of the trace by time, calls on files are the operating system's") {
  test::TraceBuilder builder;
  add_work(builder);
  builder.io(1, trace::IoOp::kRead, "/data/a", 10, 20, 100);
  builder.io(1, trace::IoOp::kRead, "/data/a", 30, 90, 100, 5, 50);
  test::AnalyzedRun run(builder);
  Table trace = nsys(run, "cuda_gpu_trace");
  CHECK(trace.rows.size() == 4);
  CHECK(header(trace).starts_with("Start (ns),Duration (ns),CorrId,GrdX,"));
  CHECK(header(trace).ends_with("SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name"));
  CHECK(std::get<std::string>(trace.rows[3].back()) == "[CUDA memcpy Host-to-Device]");
  CHECK(std::get<std::string>(trace.rows[3][12]) == "2.000");
  CHECK(std::get<std::string>(trace.rows[3][14]) == "Pinned");
  CHECK(nsys(run, "cuda_api_trace").rows.size() == 4);
  Table os = nsys(run, "osrt_sum");
  REQUIRE(os.rows.size() == 1);
  // Of calls that are known as a sum, the mean is known and the rest is not.
  CHECK(line(os, 0).starts_with("100.0,60,6,10.0,,,,,"));
}

TEST_CASE("calls have no versions in their names, as numbers figures are rounded alike") {
  test::TraceBuilder builder;
  builder.call(1, trace::DeviceCallKind::kOther, 0, 10, 1, 0, "cudaMalloc_v3020");
  builder.call(1, trace::DeviceCallKind::kOther, 20, 31, 1, 0, "cudaMalloc_v3020");
  builder.call(1, trace::DeviceCallKind::kOther, 40, 50, 1, 0, "cuMemAlloc_v2");
  builder.launch(1, 60, 61, 70, 80, {});
  test::AnalyzedRun run(builder);
  Table calls = api_sum_numbers(run);
  CHECK(std::get<std::string>(calls.rows[0].back()) == "cudaMalloc");
  CHECK(std::get<double>(calls.rows[0][0]) == doctest::Approx(65.6));
  CHECK(std::get<std::string>(calls.rows[1].back()) == "cuMemAlloc_v2");
}

TEST_CASE("the names of older versions of Nsight Systems mean the same") {
  CHECK(nsys_table_name("gpukernsum") == "cuda_gpu_kern_sum");
  CHECK(nsys_table_name("nvtx_sum") == "nvtx_sum");
  CHECK(nsys_table_name("kernels") == "kernels");
}

}  // namespace headway::analyzer
