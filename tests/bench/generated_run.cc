// SPDX-License-Identifier: MIT
#include "tests/bench/generated_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "common/allocator.h"
#include "trace/save/writer.h"
#include "trace/tables/all.h"

namespace headway::bench {
namespace {

/// Through the real writer.
class Generator {
 public:
  explicit Generator(const std::filesystem::path& path) : writer_(path, true) {
    for (int n = 0; n < 40; ++n) {
      kernels_.push_back(writer_.intern(
          fmt::format("void sm90_xmma_gemm_bf16bf16_{}<float, cutlass::half_t>(Params)", n)));
      modules_.push_back(writer_.intern(fmt::format("layer{}.conv1", n)));
    }
    reduce_ = writer_.intern("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage)");
    launch_ = writer_.intern("cudaLaunchKernel_v7000");
    wait_ = writer_.intern("cudaStreamSynchronize_v3020");
    step_ = writer_.intern("step");
  }

  void generate(std::int64_t events) {
    constexpr std::int64_t kEventsPerLayer = 7;
    writer_.add<trace::tables::SessionStart>({1'700'000'000'000'000'000, "2023-11-14", {}, 0});
    for (int rank = 0; rank < kGeneratedRanks; ++rank) {
      writer_.add<trace::tables::TargetInfoGpu>(gpu(rank));
      fill_rank(rank, events / kEventsPerLayer / kGeneratedRanks);
    }
    writer_.finish();
  }

 private:
  static trace::tables::TargetInfoGpu::Row gpu(int rank) {
    trace::tables::TargetInfoGpu::Row row{};
    row.id = rank;
    row.gpu_name = "Generated GPU";
    row.sm_count = 132;
    return row;
  }

  std::int64_t random(std::int64_t below) {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<std::int64_t>(state_ >> 33) % below;
  }

  void range(std::int64_t tid, std::int64_t start, std::int64_t end, trace::StringId name) {
    trace::tables::NvtxEvents::Row row;
    row.start = start;
    row.end = end;
    row.event_type = 59;
    row.global_tid = tid;
    row.text_id = name;
    writer_.add<trace::tables::NvtxEvents>(row);
  }

  void call(std::int64_t tid, std::int64_t start, std::int64_t end, trace::StringId name) {
    writer_.add<trace::tables::Runtime>({start, end, 0, tid, ++correlation_, name, 0});
  }

  void kernel(int rank, int stream, std::int64_t start, std::int64_t end, trace::StringId name) {
    trace::tables::Kernel::Row row;
    row.start = start;
    row.end = end;
    row.device_id = rank;
    row.stream_id = stream;
    row.correlation_id = correlation_;
    row.global_pid = pid(rank);
    row.demangled_name = row.short_name = name;
    row.grid_x = 264;
    row.block_x = 256;
    writer_.add<trace::tables::Kernel>(row);
  }

  static std::int64_t pid(int rank) { return std::int64_t{1000 + rank} << 24; }

  void fill_rank(int rank, std::int64_t layers) {
    constexpr std::int64_t kLayersPerStep = 40;
    std::int64_t tid = pid(rank) | (1000 + rank);
    std::int64_t host = 1'000'000 + rank * 1000;
    std::int64_t device = host;
    std::int64_t step_start = host;
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      std::int64_t begin = host;
      for (int half = 0; half < 2; ++half) {
        std::int64_t inner = host + 500;
        std::int64_t called = inner + 800;
        call(tid, called, called + 3000, launch_);
        bool reduce = correlation_ % 40 == 0;
        std::int64_t start = std::max(called + 4000, device + random(3) * 400);
        std::int64_t end = start + 4000 + random(16) * 900;
        if (!reduce) device = end;
        kernel(rank, reduce ? 20 : 7, start, reduce ? start + 60'000 : end,
               reduce ? reduce_ : kernels_[static_cast<std::size_t>(random(40))]);
        host = called + 3500 + random(4) * 1200;
        range(tid, inner, host, modules_[static_cast<std::size_t>(random(40))]);
      }
      range(tid, begin, host, modules_[static_cast<std::size_t>(layer % 40)]);
      host = std::max(host + 200, device - 200'000);
      if (layer % kLayersPerStep == kLayersPerStep - 1 || layer + 1 == layers) {
        std::int64_t done = std::max(host + 2000, device + 1500);
        call(tid, host, done, wait_);
        host = done + 500;
        range(tid, step_start, host, step_);
        step_start = host += 300;
      }
    }
  }

  trace::TraceWriter writer_;
  std::vector<trace::StringId> kernels_;
  std::vector<trace::StringId> modules_;
  trace::StringId reduce_{};
  trace::StringId launch_{};
  trace::StringId wait_{};
  trace::StringId step_{};
  std::int64_t correlation_ = 0;
  std::uint64_t state_ = 7;
};

}  // namespace

void write_generated_run(const std::filesystem::path& path, std::int64_t events) {
  Generator(path).generate(events);
}

int measure_run(int argc, char** argv, void (*measure)(const std::filesystem::path& file)) {
  keep_freed_memory();  // as `headway` does
  std::int64_t events = 10'000'000;
  std::string file;
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (argument == "--quick") {
      events = 100'000;
    } else if (std::from_chars(argument.data(), argument.data() + argument.size(), events).ptr !=
               argument.data() + argument.size()) {
      file = argument;
    }
  }
  if (!file.empty()) {
    measure(file);
    return 0;
  }
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() /
      fmt::format("headway_bench_run_{}_{}.sqlite", events, ::getpid());
  write_generated_run(path, events);
  fmt::print("file: {:.0f} MB\n", static_cast<double>(std::filesystem::file_size(path)) / 1e6);
  measure(path);
  std::filesystem::remove(path);
  return 0;
}

}  // namespace headway::bench
