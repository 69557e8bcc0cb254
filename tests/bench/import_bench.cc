// SPDX-License-Identifier: MIT
// Cost of loading recordings: bytes and events per second and peak memory, file by file.
// Usage: headway_bench_import [--quick] FILE…   (--quick without files: a small file of its own)
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "tests/bench/bench_support.h"
#include "trace/load/load.h"

namespace {

using Clock = std::chrono::steady_clock;

/// Launches and kernels in Kineto's layout.
void write_recording(const std::filesystem::path& path, int launches) {
  std::ofstream out(path, std::ios::binary);
  out << R"({"schemaVersion": 1, "traceEvents": [)";
  for (int i = 0; i < launches; ++i) {
    int at = i * 10;
    out << (i ? ",\n" : "\n")
        << fmt::format(
               R"({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9,
 "ts": {}.250, "dur": 3.125, "args": {{"External id": {}, "cbid": 211, "correlation": {}}}}},
{{"ph": "X", "cat": "kernel", "name": "kernel_{}", "pid": 0, "tid": 7, "ts": {}.750, "dur": 5.001,
 "args": {{"device": 0, "stream": 7, "correlation": {}, "grid": [8, 1, 1], "block": [256, 1, 1]}}}})",
               at, i, i + 1, i % 50, at + 4, i + 1);
  }
  out << "\n]}\n";
}

/// Peak resident memory of the process so far.
double peak_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

int measure(const std::filesystem::path& path) {
  auto start = Clock::now();
  headway::trace::Trace trace = headway::trace::load(path);
  double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  double bytes = static_cast<double>(std::filesystem::file_size(path));
  std::string name = path.filename().string();
  fmt::print("{} load_seconds: {:.3f} s\n", name, seconds);
  fmt::print("{} file_rate: {:.0f} MB/s\n", name, bytes / seconds / 1e6);
  fmt::print("{} events: {} 1\n", name, trace.event_count());
  fmt::print("{} event_rate: {:.2f} Mevents/s\n", name,
             static_cast<double>(trace.event_count()) / seconds / 1e6);
  fmt::print("{} peak_memory: {:.0f} MB\n", name, peak_bytes() / 1e6);
  return trace.event_count() > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  bool quick = headway::bench::is_quick(argc, argv);
  std::vector<std::string> files(argv + (quick ? 2 : 1), argv + argc);
  try {
    int result = 0;
    for (const std::string& file : files) result |= measure(file);
    if (files.empty()) {
      std::filesystem::path path = std::filesystem::temp_directory_path() /
                                   ("headway_bench_import." + std::to_string(::getpid()) + ".json");
      write_recording(path, quick ? 10'000 : 1'000'000);
      result = measure(path);
      std::filesystem::remove(path);
    }
    return result;
  } catch (const headway::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
}
