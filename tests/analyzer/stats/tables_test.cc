// SPDX-License-Identifier: MIT
#include "analyzer/stats/tables.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "analyzer/stats/summary.h"
#include "tests/analyzer/planted_run.h"

namespace headway::analyzer {
namespace {

const Cell& cell(const Table& table, std::size_t row, std::string_view column) {
  auto found = std::find_if(table.columns.begin(), table.columns.end(),
                            [&](const Column& c) { return c.id == column; });
  REQUIRE(found != table.columns.end());
  return table.rows.at(row).at(static_cast<std::size_t>(found - table.columns.begin()));
}

std::int64_t integer(const Table& table, std::size_t row, std::string_view column) {
  return std::get<std::int64_t>(cell(table, row, column));
}

}  // namespace

TEST_CASE("values are summed up by group: count, total, extremes, median, deviation") {
  GroupedValues values;
  for (std::int64_t v : {4, 1, 3, 2}) values.add(1, v, 10);
  values.add(0, 7);
  std::vector<DurationSummary> sums = values.finish();
  REQUIRE(sums.size() == 2);
  CHECK(sums[0].count == 1);
  CHECK(sums[0].stddev == 0);
  CHECK(sums[1].total == 10);
  CHECK(sums[1].bytes == 40);
  CHECK(sums[1].minimum == 1);
  CHECK(sums[1].maximum == 4);
  CHECK(sums[1].median == 3);
  CHECK(sums[1].stddev == 1);  // 1.29
  CHECK(GroupedValues().finish().empty());
}

TEST_CASE("numbers that count are left out of names, numbers that name are not") {
  CHECK(without_numbers("step 7") == "step #");
  CHECK(without_numbers("ProfilerStep#12") == "ProfilerStep#");
  CHECK(without_numbers("batch_3") == "batch_#");
  CHECK(without_numbers("train-step-19") == "train-step-#");
  CHECK(without_numbers("aten::add, seq = 19, op_id = 3") == "aten::add, seq = #, op_id = #");
  CHECK(without_numbers("iter (12/100)") == "iter (#/100)");
  CHECK(without_numbers("layer1.0.conv1") == "layer1.0.conv1");
  CHECK(without_numbers("conv_1") == "conv_1");
  CHECK(without_numbers("fp16 gemm") == "fp16 gemm");
  CHECK(without_numbers("") == "");
}

TEST_CASE("ranges whose names differ in a number are one row, unless they are kept apart") {
  test::TraceBuilder builder;
  for (int i = 0; i < 5; ++i)
    builder.range(1, "step " + std::to_string(i), i * 100, i * 100 + 10 + i);
  builder.range(1, "step 7", 1'000, 1'050);
  trace::Trace trace = builder.load();
  Table grouped = range_table(trace, {});
  REQUIRE(grouped.rows.size() == 1);
  CHECK(std::get<std::string>(cell(grouped, 0, "range")) == "step #");
  CHECK(integer(grouped, 0, "count") == 6);
  CHECK(integer(grouped, 0, "total_ns") == 110);
  Selection apart;
  apart.keep_numbers = true;
  CHECK(range_table(trace, {}, apart).rows.size() == 6);
}

TEST_CASE("a range is projected from the first to the last op launched inside it") {
  test::TraceBuilder builder;
  builder.range(1, "outer", 0, 100);
  builder.range(1, "inner", 10, 50);
  builder.launch(1, 12, 14, 200, 260, {.name = "a"});
  builder.launch(1, 60, 62, 400, 410, {.name = "b"});
  builder.range(1, "idle", 110, 120);
  test::AnalyzedRun run(builder);
  Table table = range_device_table(run.trace, run.analysis);
  REQUIRE(table.rows.size() == 2);
  CHECK(std::get<std::string>(cell(table, 0, "range")) == "outer");
  CHECK(integer(table, 0, "projected_ns") == 210);
  CHECK(integer(table, 0, "busy_ns") == 70);
  CHECK(integer(table, 0, "device_ops") == 2);
  CHECK(integer(table, 1, "projected_ns") == 60);
}

TEST_CASE("launches tell call, queue and latency apart") {
  test::TraceBuilder builder;
  builder.launch(1, 0, 10, 30, 130, {.name = "k"});    // empty stream: 30 after the call began
  builder.launch(1, 20, 30, 130, 150, {.name = "k"});  // behind the first: queued for 100
  Table table = launch_table(builder.load(), {});
  REQUIRE(table.rows.size() == 1);
  CHECK(integer(table, 0, "count") == 2);
  CHECK(integer(table, 0, "call_mean_ns") == 10);
  CHECK(integer(table, 0, "queue_max_ns") == 100);
  CHECK(integer(table, 0, "queue_mean_ns") == 60);
  CHECK(integer(table, 0, "latency_count") == 1);
  CHECK(integer(table, 0, "latency_median_ns") == 30);
  CHECK(integer(table, 0, "kernel_total_ns") == 120);
}

TEST_CASE("copies are told apart by the memory they read, and summed by time and by size") {
  test::TraceBuilder builder;
  for (int i = 0; i < 3; ++i)
    builder.launch(1, i * 100, i * 100 + 5, i * 100 + 10, i * 100 + 30,
                   {.name = "copy",
                    .kind = trace::DeviceOpKind::kCopyHostToDevice,
                    .bytes = 1'000 * (i + 1),
                    .source = i == 2 ? trace::MemoryKind::kPageable : trace::MemoryKind::kPinned});
  trace::Trace trace = builder.load();
  Table times = copy_table(trace, {});
  REQUIRE(times.rows.size() == 2);
  CHECK(integer(times, 0, "total_ns") == 40);
  CHECK(std::get<double>(cell(times, 0, "share")) == doctest::Approx(2.0 / 3));
  Table sizes = copy_size_table(trace, {});
  CHECK(integer(sizes, 0, "total_bytes") == 3'000);
  CHECK(integer(sizes, 0, "median_bytes") == (integer(sizes, 0, "count") == 2 ? 2'000 : 3'000));
}

TEST_CASE("collectives are summed by kind and communicator, others by the name of their kernel") {
  test::TraceBuilder builder;
  builder.launch(1, 0, 5, 10, 1'010, {.name = "ncclDevKernel_AllReduce"});
  builder.launch(1, 20, 25, 2'000, 4'000, {.name = "ncclDevKernel_AllReduce"});
  builder.launch(1, 40, 45, 5'000, 5'500, {.name = "nvshmem_barrier_all_kernel"});
  builder.launch(1, 60, 65, 6'000, 6'500, {.name = "gemm"});
  trace::Trace trace = builder.load();
  for (std::uint32_t op : {0u, 1u}) {
    trace.collectives.push_back({.op = {op},
                                 .range = {},
                                 .kind = trace.strings.add("allreduce"),
                                 .communicator = trace.strings.add("world"),
                                 .dtype = trace.strings.add("float"),
                                 .bytes = 1'000'000,
                                 .ranks = 8});
  }
  Table table = collective_sum_table(trace, {});
  REQUIRE(table.rows.size() == 2);
  CHECK(std::get<std::string>(cell(table, 0, "collective")) == "allreduce");
  CHECK(integer(table, 0, "bytes") == 2'000'000);
  CHECK(std::get<double>(cell(table, 0, "share")) == doctest::Approx(3'000.0 / 3'500));
  // The faster of the two took 1 µs for 1 MB; 2(n-1)/n = 1.75 times that crosses the slowest link.
  CHECK(std::get<double>(cell(table, 0, "bus_bytes_per_s")) == doctest::Approx(1.75e12));
  CHECK(std::get<std::string>(cell(table, 1, "collective")) == "nvshmem_barrier_all_kernel");
}

TEST_CASE("layers gather their ops, forward and backward apart") {
  test::TraceBuilder builder;
  builder.graph_op(1, "conv", "layer1.conv", trace::Phase::kForward, {});
  builder.graph_op(2, "bn", "layer1.bn", trace::Phase::kForward, {1});
  builder.graph_op(3, "fc", "fc", trace::Phase::kForward, {2});
  builder.launch(1, 0, 5, 10, 110, {.phase = trace::Phase::kForward, .op = 1});
  builder.launch(1, 10, 15, 110, 130, {.phase = trace::Phase::kForward, .op = 2});
  builder.launch(1, 20, 25, 130, 160, {.phase = trace::Phase::kBackward, .op = 3});
  test::AnalyzedRun run(builder);
  Table table = layer_table(run.trace, run.analysis);
  REQUIRE(table.rows.size() == 2);
  CHECK(std::get<std::string>(cell(table, 0, "layer")) == "layer1");
  CHECK(integer(table, 0, "forward_ns") == 120);
  CHECK(integer(table, 1, "backward_ns") == 30);
}

TEST_CASE("every table says what it is over, and its sorting column falls") {
  test::AnalyzedRun run(test::PlantedRun{.read = 600'000, .copy = 200'000});
  for (const TableDeclaration& declaration : table_declarations()) {
    CAPTURE(declaration.id);
    CHECK(!declaration.over.empty());
    CHECK(!declaration.doc.empty());
  }
  Table kernels = kernel_table(run.trace, run.analysis);
  for (std::size_t r = 1; r < kernels.rows.size(); ++r)
    CHECK(integer(kernels, r, "total_ns") <= integer(kernels, r - 1, "total_ns"));
}

TEST_CASE("calls on files are summed by folder, by file and by thread, calls by calls") {
  using trace::IoOp;
  test::TraceBuilder builder;
  for (int i = 0; i < 9; ++i)
    builder.io(2, IoOp::kRead, "/data/train/a.bin", 1000 * i, 1000 * i + 100, 5000);
  builder.io(2, IoOp::kRead, "/data/train/b.bin", 50'000, 51'000, 10'000);
  builder.io(2, IoOp::kOpen, "/data/train/b.bin", 49'000, 49'300, 0);
  // Ten calls of 40 ns in one row.
  builder.io(3, IoOp::kRead, "/data/val/c.bin", 60'000, 70'000, 100, 10, 400);
  builder.io(3, IoOp::kRead, "", 80'000, 80'010, 7);
  trace::Trace trace = builder.load();
  Analysis analysis;
  Table folders = io_table(trace, analysis);
  REQUIRE(folders.rows.size() == 4);
  CHECK(std::get<std::string>(cell(folders, 0, "folder")) == "/data/train");
  CHECK(std::get<std::string>(cell(folders, 0, "op")) == "read");
  CHECK(integer(folders, 0, "files") == 2);
  CHECK(integer(folders, 0, "calls") == 10);
  CHECK(integer(folders, 0, "total_ns") == 1900);
  CHECK(integer(folders, 0, "mean_ns") == 190);
  CHECK(integer(folders, 0, "p90_ns") == 100);
  CHECK(integer(folders, 0, "max_ns") == 1000);
  CHECK(integer(folders, 0, "bytes") == 55'000);
  CHECK(std::get<std::string>(cell(folders, 1, "folder")) == "/data/val");
  CHECK(integer(folders, 1, "calls") == 10);
  CHECK(integer(folders, 1, "mean_ns") == 40);
  CHECK(integer(folders, 1, "total_ns") == 400);
  CHECK(std::get<std::string>(cell(folders, 3, "folder")) == "(not known)");
  Table files = io_file_table(trace, analysis);
  REQUIRE(files.rows.size() == 5);
  CHECK(std::get<std::string>(cell(files, 0, "file")) == "/data/train/b.bin");
  Table threads = io_thread_table(trace, analysis);
  REQUIRE(threads.rows.size() == 3);
  CHECK(integer(threads, 0, "bytes") == 55'000);
}

TEST_CASE("calls on files show per steady step and thread") {
  test::TraceBuilder builder;
  test::PlantedRun{.read = 600'000, .read_bytes = 800}.build(builder);
  trace::Trace without = builder.load();
  test::TraceBuilder again;
  test::PlantedRun{.read = 600'000, .read_bytes = 800}.build(again);
  Analysis found = analyze(without);
  REQUIRE(found.steps.steady.size() > 2);
  for (std::uint32_t index : found.steps.steady) {
    std::int64_t at = found.steps.all[index].host.begin.ns + 10;
    again.io(2, trace::IoOp::kRead, "/data/x", at, at + 1000, 4096);
  }
  test::AnalyzedRun run(again);
  Table table = io_thread_table(run.trace, run.analysis);
  REQUIRE(table.rows.size() == 1);
  CHECK(integer(table, 0, "per_step_ns") == 1000);
  CHECK(integer(table, 0, "per_step_bytes") == 4096);
  CHECK(std::get<std::string>(cell(table, 0, "thread")) == "loader 0");
}

}  // namespace headway::analyzer
