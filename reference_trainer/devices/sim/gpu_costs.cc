// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/sim/gpu_costs.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/text.h"

namespace headway::trainer::sim {
namespace {

constexpr std::int64_t kGB = 1'000'000'000;

// Sources of the figures. This project measured none of them, except the H200's shares (copy 4.3 of
// 4.8 TB/s, bf16 GEMM 788 of 989 TFLOP/s on random data, CUDA 13).
constexpr std::string_view kVolta =
    "NVIDIA developer blog 'Getting Started with CUDA Graphs' (2019): 2.2 us of launch, 3.8 us "
    "from kernel to kernel with overlapped launches; bandwidthTest on PCIe 3 x16";
constexpr std::string_view kTuring = "as V100; matrix share after power limit, PCIe 3 x16";
constexpr std::string_view kAmpere =
    "NVIDIA A100 tuning guide; nccl-tests allreduce of 8 GPUs, 230 of 300 GB/s; bandwidthTest on "
    "PCIe 4 x16";
constexpr std::string_view kHopper =
    "NVIDIA developer blog 'Constant-Time Launch for Straight-Line CUDA Graphs' (2024); nccl-tests "
    "allreduce of 8 H100, 360 of 450 GB/s (ring); bandwidthTest on PCIe 5 x16";
constexpr std::string_view kBlackwell = "as H100, link rates of NVLink 5; shares not measured";
constexpr std::string_view kAda = "as A100 without NVLink; PCIe 4 x16";

constexpr auto kCosts = std::to_array<GpuCosts>({
    {"v100", 2500, 5500, 1400, 2200, 800, 3000, 7000, 1500, 12 * kGB, 4 * kGB, 16 * kGB, 0.72, 0.85,
     0.85, kVolta},
    {"t4", 2500, 5500, 1500, 2200, 800, 3000, 7000, 1500, 12 * kGB, 4 * kGB, 16 * kGB, 0.5, 0.8,
     0.85, kTuring},
    {"a100-40gb", 2300, 5000, 1200, 2000, 700, 2800, 6500, 1300, 25 * kGB, 7 * kGB, 40 * kGB, 0.75,
     0.88, 0.77, kAmpere},
    {"a100-80gb", 2300, 5000, 1200, 2000, 700, 2800, 6500, 1300, 25 * kGB, 7 * kGB, 80 * kGB, 0.75,
     0.88, 0.77, kAmpere},
    {"a10", 2300, 5000, 1300, 2000, 700, 2800, 6500, 1300, 25 * kGB, 7 * kGB, 24 * kGB, 0.6, 0.85,
     0.85, kAda},
    {"h100-pcie", 2000, 4500, 1100, 1800, 600, 2500, 6000, 1200, 50 * kGB, 9 * kGB, 80 * kGB, 0.65,
     0.88, 0.8, kHopper},
    {"h100-sxm", 2000, 4500, 1000, 1800, 600, 2500, 6000, 1200, 55 * kGB, 10 * kGB, 80 * kGB, 0.75,
     0.9, 0.8, kHopper},
    {"h200", 2000, 4500, 1000, 1800, 600, 2500, 6000, 1200, 55 * kGB, 10 * kGB, 141 * kGB, 0.797,
     0.9, 0.8, kHopper},
    {"b200", 2000, 4500, 1000, 1800, 600, 2500, 6000, 1200, 55 * kGB, 11 * kGB, 180 * kGB, 0.75,
     0.88, 0.8, kBlackwell},
    {"l40s", 2300, 5000, 1200, 2000, 700, 2800, 6500, 1300, 25 * kGB, 7 * kGB, 48 * kGB, 0.65, 0.85,
     0.85, kAda},
    {"l4", 2300, 5000, 1300, 2000, 700, 2800, 6500, 1300, 25 * kGB, 7 * kGB, 24 * kGB, 0.5, 0.85,
     0.85, kAda},
    {"rtx-4090", 2300, 5000, 1200, 2000, 700, 2800, 6500, 1300, 25 * kGB, 8 * kGB, 24 * kGB, 0.8,
     0.9, 0.85, kAda},
});

constexpr AllocatorCosts kAllocator = {
    50'000, 16'000,
    "pull request 284 of rapidsai/rmm (2020): 100 000 allocations of up to 2 MiB and their frees, "
    "in random order, 6.6 s; "
    "memory_management_overhead.html of the University of Virginia: cudaMalloc of 4 to 512 KiB "
    "about 50 us"};

constexpr int kHopperMajor = 9;
constexpr std::string_view kGraphSource =
    "NVIDIA developer blog 'Constant-Time Launch for Straight-Line CUDA Graphs' (2024): 2.5 us and "
    "1 ns a node to launch, about 1.5 us a node to instantiate; 'Getting Started with CUDA Graphs' "
    "(2019, V100): kernels of 2.9 us follow each other every 3.4 us in a graph, every 3.8 us on a "
    "stream. tests/data/h100 (CUDA 13): 0.1 us between nodes, 1.25 us between launches";
constexpr GraphCosts kGraphs{1'500, 2'500, 1, 0.55, kGraphSource};
constexpr GraphCosts kGraphsOfHopper{1'500, 2'500, 1, 0.08, kGraphSource};

std::string_view full_id(std::string_view id) {
  if (id == "a100") return "a100-80gb";
  if (id == "h100") return "h100-sxm";
  return id;
}

}  // namespace

std::span<const GpuCosts> gpu_costs() {
  return kCosts;
}

const AllocatorCosts& allocator_costs() {
  return kAllocator;
}

double boost_clock_hz(std::string_view model) {
  struct Clock {
    std::string_view model;
    double mhz;
  };
  static constexpr auto kClocks = std::to_array<Clock>({{"v100", 1530},
                                                        {"t4", 1590},
                                                        {"a100-40gb", 1410},
                                                        {"a100-80gb", 1410},
                                                        {"a10", 1695},
                                                        {"h100-pcie", 1755},
                                                        {"h100-sxm", 1980},
                                                        {"h200", 1980},
                                                        {"b200", 1965},
                                                        {"l40s", 2520},
                                                        {"l4", 2040},
                                                        {"rtx-4090", 2520}});
  const auto found = std::ranges::find(kClocks, model, &Clock::model);
  return found == kClocks.end() ? 0 : found->mhz * 1e6;
}

const GraphCosts& graph_costs(const GpuModel& gpu) {
  return gpu.compute_major >= kHopperMajor ? kGraphsOfHopper : kGraphs;
}

SimulatedGpu find_simulated_gpu(std::string_view id) {
  const std::string_view wanted = full_id(id);
  const auto costs = std::ranges::find(kCosts, wanted, &GpuCosts::model);
  const auto model = std::ranges::find(gpu_models(), wanted, &GpuModel::id);
  if (costs != kCosts.end() && model != gpu_models().end()) return {&*model, &*costs};
  std::vector<std::string> ids;
  std::string legal;
  for (const GpuCosts& each : kCosts) {
    ids.emplace_back(each.model);
    legal += (legal.empty() ? "" : ", ") + ids.back();
  }
  std::string hint;
  for (const std::string& near : closest(id, ids, 1)) hint = " Did you mean '" + near + "'?";
  fail_usage("gpu: '{}' cannot be simulated.{} GPUs: {}.", escape_terminal(id), hint, legal);
}

}  // namespace headway::trainer::sim
