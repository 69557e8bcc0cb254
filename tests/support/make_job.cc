// SPDX-License-Identifier: MIT
// Writes the traces of a job of many ranks, one file each, with known waits: to try and to measure
// analyses of many ranks. Machines of 8 ranks have clocks of their own.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "common/nvtx_conventions.h"
#include "trace/meta_keys.h"
#include "trace/save/writer.h"
#include "trace/tables/all.h"

namespace {

using namespace headway;
using namespace headway::trace;

constexpr std::int64_t kGlobalPid = std::int64_t{100} << 24;
constexpr int kLaunches = 200;  ///< between two collectives
constexpr int kSegments = 5;    ///< collectives of a step
constexpr std::int64_t kSegment = 2'000'000;
constexpr std::int64_t kNoise = 60'000;
constexpr std::int64_t kTransfer = 300'000;
constexpr std::int64_t kBytes = 25'000'000;
constexpr int kRanksOfMachine = 8;

struct Job {
  int ranks = 64;
  std::int64_t events = 1'000'000;  ///< per rank
  int late_rank = 17;
  std::int64_t late = 1'500'000;  ///< per step
  int steps() const { return static_cast<int>(events / (3 * kLaunches * kSegments)); }
};

/// The same for every process and machine.
std::int64_t noise(int rank, int step, int segment) {
  auto x = static_cast<std::uint64_t>(rank * 1'000'003 + step * 7919 + segment * 104'729 + 1);
  x ^= x >> 12;
  x *= 0x2545F4914F6CDD1DULL;
  x ^= x >> 27;
  return static_cast<std::int64_t>(x % kNoise);
}

std::int64_t compute_of(const Job& job, int rank, int step, int segment) {
  return kSegment + noise(rank, step, segment) +
         (rank == job.late_rank && segment == 0 ? job.late : 0);
}

/// Adds the work of one rank in a step that begins at `start`; times are true ones.
class RankWriter {
 public:
  RankWriter(const Job& job, int rank, const std::filesystem::path& path) : writer_(path, true) {
    int machine = rank / kRanksOfMachine;
    offset_ = machine * 1'300'000;
    drift_ = machine * 5e-6;
    writer_.add<tables::SessionStart>({1'700'000'000'000'000'000, "2023-11-14T22:13:20", {}, 0});
    writer_.add<tables::Device>({kGlobalPid, 0, 2, 2, "NVIDIA H100 80GB HBM3"});
    writer_.set_meta(meta::kHost, fmt::format("node{}", machine));
    writer_.set_meta("env.RANK", std::to_string(rank));
    writer_.set_meta("env.WORLD_SIZE", std::to_string(job.ranks));
    for (int i = 0; i < 8; ++i)
      kernels_.push_back(writer_.intern(fmt::format("gemm_{}_kernel", i)));
    op_ = writer_.intern("aten::linear");
    allreduce_ = writer_.intern("ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
    step_ = writer_.intern("step");
  }

  void compute(std::int64_t start, std::int64_t length) {
    std::int64_t each = length / kLaunches;
    for (int i = 0; i < kLaunches; ++i) {
      std::int64_t begin = start + each * i;
      launch(kernels_[static_cast<std::size_t>(i % 8)], begin, begin + each - 300, 1, 1, 0);
    }
  }
  void collective(std::int64_t begin, std::int64_t end) {
    launch(allreduce_, begin, end, 6, 2, kBytes);
  }
  void step(std::int64_t begin, std::int64_t end, int number) {
    range(step_, begin - 40'000, end - 40'000, static_cast<int>(conventions::RangeKind::kStep),
          number);
  }
  void finish(std::int64_t end) {
    tables::Process::Row process;
    process.global_pid = kGlobalPid;
    process.injected = 1;
    process.exit_code = 0;
    process.end = local(end);
    writer_.add<tables::Process>(process);
    writer_.set_meta(meta::kDurationNs, std::to_string(local(end)));
    writer_.finish();
  }

 private:
  /// On this machine's clock.
  std::int64_t local(std::int64_t t) const {
    return t + offset_ + static_cast<std::int64_t>(drift_ * static_cast<double>(t));
  }

  void range(StringId name, std::int64_t begin, std::int64_t end, int kind, int step) {
    tables::NvtxEvents::Row row;
    row.start = local(begin);
    row.end = local(end);
    row.event_type = 59;
    row.global_tid = kGlobalPid | 1;
    row.text_id = name;
    std::int64_t id = writer_.add<tables::NvtxEvents>(row);
    if (kind == 0) return;
    tables::RangeInfo::Row info;
    info.range_row = id;
    info.kind = kind;
    info.step = step;
    writer_.add<tables::RangeInfo>(info);
  }

  void launch(StringId name, std::int64_t begin, std::int64_t end, int kind, int stream,
              std::int64_t bytes) {
    std::int64_t host = begin - 30'000;
    range(op_, host - 1'000, host + 4'000, 0, 0);
    writer_.add<tables::DeviceCall>(
        {local(host), local(host + 3'000), kGlobalPid | 1,
         static_cast<std::int32_t>(conventions::DeviceCallKind::kLaunch), 0, stream, correlation_,
         std::nullopt, name, 0});
    tables::DeviceOp::Row row;
    row.start = local(begin);
    row.end = local(end);
    row.global_tid = kGlobalPid | (1000 + stream);
    row.stream_id = stream;
    row.kind = kind;
    row.correlation_id = correlation_++;
    row.name_id = name;
    row.phase = 3;
    row.bytes = bytes;
    writer_.add<tables::DeviceOp>(row);
  }

  TraceWriter writer_;
  std::int64_t offset_ = 0;
  double drift_ = 0;
  std::int64_t correlation_ = 1;
  std::vector<StringId> kernels_;
  StringId op_;
  StringId allreduce_;
  StringId step_;
};

void write_rank(const Job& job, int rank, const std::filesystem::path& path) {
  RankWriter writer(job, rank, path);
  std::int64_t now = 1'000'000;
  for (int s = 0; s < job.steps(); ++s) {
    std::int64_t begin = now;
    for (int g = 0; g < kSegments; ++g) {
      std::int64_t slowest = 0;
      for (int r = 0; r < job.ranks; ++r) slowest = std::max(slowest, compute_of(job, r, s, g));
      std::int64_t own = compute_of(job, rank, s, g);
      writer.compute(now, own);
      std::int64_t end = now + slowest + kTransfer;
      writer.collective(now + own, end + noise(rank, s, g) % 1'500);  // ends differ a little
      now = end + 5'000;
    }
    writer.step(begin, now, s);
  }
  writer.finish(now);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: headway_make_job FOLDER [RANKS [EVENTS [LATE_RANK]]]\n");
    return 2;
  }
  Job job;
  if (argc > 2) job.ranks = std::atoi(argv[2]);
  if (argc > 3) job.events = std::atoll(argv[3]);
  if (argc > 4) job.late_rank = std::atoi(argv[4]);
  std::filesystem::create_directories(argv[1]);
  for (int r = 0; r < job.ranks; ++r)
    write_rank(job, r, std::filesystem::path(argv[1]) / fmt::format("rank{}.sqlite", r));
  std::printf("%d ranks, %d steps; rank %d is late by %.1f ms per step\n", job.ranks, job.steps(),
              job.late_rank, static_cast<double>(job.late) * 1e-6);
}
