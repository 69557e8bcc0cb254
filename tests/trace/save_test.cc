// SPDX-License-Identifier: MIT
#include "trace/save/save.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>

#include "common/error.h"
#include "tests/support/compare_traces.h"
#include "tests/support/recordings.h"
#include "tests/support/training_trace.h"
#include "trace/load/load.h"
#include "trace/meta_keys.h"
#include "trace/save/short_name.h"

namespace headway::trace {
namespace {

std::string listed(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

/// Loads what `save` wrote of `trace`; `folder` keeps the file.
Trace again(const Trace& trace, const test::TemporaryFolder& folder) {
  SaveOptions options;
  options.overwrite = true;
  save(trace, folder / "saved.sqlite", options);
  return load(folder / "saved.sqlite");
}

}  // namespace

TEST_CASE("a training run that is saved and loaded again is the same") {
  test::TraceBuilder builder;
  test::TrainingTrace{}.build(builder);
  builder.open_range(3, "left open", 5, {.kind = RangeKind::kOp, .sequence = 12});
  builder.io(2, IoOp::kOpen, "/data/a.jpg", 1000, 5000, 0);
  builder.io(2, IoOp::kRead, "/data/a.jpg", 6000, 16'000, 100'000);
  builder.io(3, IoOp::kRead, "", 500, 90'000, 640, 40, 8000);
  builder.process_killed(9, 900'000'000);
  Trace trace = builder.load();
  test::TemporaryFolder folder;
  CHECK(listed(test::differences(trace, again(trace, folder))) == "");
}

TEST_CASE("every real recording that is saved and loaded again is the same") {
  std::vector<std::filesystem::path> files = test::recordings(".sqlite");
  for (const std::filesystem::path& file : test::recordings(".json.gz")) files.push_back(file);
  if (files.empty()) {
    MESSAGE("skipped: the real recordings are not on this machine");
    return;
  }
  for (const std::filesystem::path& file : files) {
    CAPTURE(file);
    Trace trace = load(file);
    test::TemporaryFolder folder;
    Trace first = again(trace, folder);
    CHECK(listed(test::differences(trace, first)) == "");
    CHECK(listed(test::differences(first, again(first, folder))) == "");
    CHECK(first.meta_value(meta::kSourceFile) == file.string());
  }
}

TEST_CASE(
    "a saved file is private, replaces another only when told to, and leaves nothing beside") {
  test::TraceBuilder builder;
  builder.range(1, "step", 10, 20);
  Trace trace = builder.load();
  test::TemporaryFolder folder;
  std::filesystem::path path = folder / "a b.sqlite";
  save(trace, path);
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  try {
    save(trace, path);
    FAIL("overwrote a file without being told to");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::kUsage);
    CHECK(std::string(error.what()).find("--force") != std::string::npos);
  }
  SaveOptions options;
  options.overwrite = true;
  save(trace, path, options);
  CHECK_THROWS_AS(save(trace, folder / "no such folder" / "x.sqlite"), Error);
  CHECK_THROWS_AS(save(trace, path.parent_path(), options), Error);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path.parent_path())) {
    CAPTURE(entry.path());
    ++files;
  }
  CHECK(files == 1);
}

TEST_CASE("a trace whose ids do not fit the file's packing keeps its links") {
  test::TraceBuilder builder;
  builder.range(1, "step", 0, 1000);
  builder.launch(1, 10, 20, 30, 40, {.name = "first"});
  builder.launch(1, 50, 60, 70, 80, {.name = "second"});
  Trace trace = builder.load();
  // Two calls with one correlation id, both with an op; a correlation beyond 32 bits; a thread and
  // a process that are not packed as pid << 24 | tid.
  trace.calls.correlation[0] = trace.calls.correlation[1] = std::uint64_t{1} << 40;
  trace.threads[0].global_tid = 139'872'349'123'456;
  trace.threads[0].tid = 1'234'567'890;
  trace.processes[0].global_pid = 77;
  test::TemporaryFolder folder;
  Trace loaded = again(trace, folder);
  REQUIRE(loaded.device_ops.size() == 2);
  CHECK(loaded.device_ops.call[0] == CallId{0});
  CHECK(loaded.device_ops.call[1] == CallId{1});
  CHECK(loaded.threads[0].tid == 1'234'567'890);
  CHECK(loaded.processes[0].pid == 100);
  CHECK(loaded.ranges.thread[0] == ThreadId{0});
}

TEST_CASE("the short name of a kernel is its base name") {
  using save_detail::short_kernel_name;
  CHECK(short_kernel_name("void at::native::vectorized_elementwise_kernel<4, at::native::F<int>, "
                          "std::array<char*, 2>>(int, at::native::F<int>)") ==
        "vectorized_elementwise_kernel");
  CHECK(short_kernel_name("void (anonymous namespace)::softmax_warp<float>(float*)") ==
        "softmax_warp");
  CHECK(short_kernel_name("void cutlass::Kernel<cutlass::gemm<1>>::run(int)") == "run");
  CHECK(short_kernel_name(
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096>)") ==
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  CHECK(short_kernel_name("ampere_sgemm_128x64_tn") == "ampere_sgemm_128x64_tn");
  CHECK(short_kernel_name("") == "");
  CHECK(short_kernel_name("a<b") == "a");
  CHECK(short_kernel_name("void ") == "void ");
}

}  // namespace headway::trace
