// SPDX-License-Identifier: MIT
#include "common/gpu_models.h"

#include <array>
#include <string>

namespace headway {
namespace {

constexpr std::int64_t kGB = 1'000'000'000;
constexpr std::int64_t kMiB = 1 << 20;
constexpr double kT = 1e12;

// Published peaks with sparsity are halved. More specific names come before general ones.
constexpr auto kModels = std::to_array<GpuModel>({
    {"v100-pcie", "v100-pcie", 0, 80, 900 * kGB, 14.0 * kT, 0, 112 * kT, 0, 0, false, 6 * kMiB, 0,
     3, 7, "NVIDIA V100 datasheet, Jan 2020"},
    {"v100", "v100", 0, 80, 900 * kGB, 15.7 * kT, 0, 125 * kT, 0, 0, false, 6 * kMiB, 300 * kGB, 3,
     7, "NVIDIA V100 datasheet, Jan 2020"},
    {"t4", "tesla t4", 0, 40, 320 * kGB, 8.1 * kT, 0, 65 * kT, 0, 130 * kT, false, 4 * kMiB, 0, 3,
     7, "NVIDIA Turing whitepaper, appendix on T4"},
    {"a100-40gb", "a100", 45 * kGB, 108, 1555 * kGB, 19.5 * kT, 156 * kT, 312 * kT, 0, 624 * kT,
     true, 40 * kMiB, 600 * kGB, 4, 8, "NVIDIA A100 datasheet, 40 GB"},
    {"a100-80gb-pcie", "a100*pcie", 0, 108, 1935 * kGB, 19.5 * kT, 156 * kT, 312 * kT, 0, 624 * kT,
     true, 40 * kMiB, 600 * kGB, 4, 8, "NVIDIA A100 datasheet, 80 GB PCIe"},
    {"a100-80gb", "a100", 0, 108, 2039 * kGB, 19.5 * kT, 156 * kT, 312 * kT, 0, 624 * kT, true,
     40 * kMiB, 600 * kGB, 4, 8, "NVIDIA A100 datasheet, 80 GB SXM"},
    {"a10", "nvidia a10", 0, 72, 600 * kGB, 31.2 * kT, 62.5 * kT, 125 * kT, 0, 250 * kT, true,
     6 * kMiB, 0, 4, 8, "NVIDIA A10 datasheet"},
    {"h200", "h200", 0, 132, 4800 * kGB, 67 * kT, 494.5 * kT, 989 * kT, 1979 * kT, 1979 * kT, true,
     50 * kMiB, 900 * kGB, 5, 9, "NVIDIA H200 datasheet"},
    {"h100-pcie", "h100*pcie", 0, 114, 2000 * kGB, 51 * kT, 378 * kT, 756 * kT, 1513 * kT,
     1513 * kT, true, 50 * kMiB, 600 * kGB, 5, 9, "NVIDIA H100 datasheet, PCIe"},
    {"h100-sxm", "h100", 0, 132, 3350 * kGB, 67 * kT, 494.5 * kT, 989 * kT, 1979 * kT, 1979 * kT,
     true, 50 * kMiB, 900 * kGB, 5, 9, "NVIDIA H100 datasheet, SXM"},
    {"b200", "b200", 0, 148, 8000 * kGB, 75 * kT, 1100 * kT, 2250 * kT, 4500 * kT, 4500 * kT, true,
     126 * kMiB, 1800 * kGB, 5, 10, "NVIDIA HGX B200 datasheet, per GPU"},
    {"l40s", "l40s", 0, 142, 864 * kGB, 91.6 * kT, 183 * kT, 362 * kT, 733 * kT, 733 * kT, true,
     96 * kMiB, 0, 4, 8, "NVIDIA L40S datasheet"},
    {"l4", "nvidia l4", 0, 58, 300 * kGB, 30.3 * kT, 60 * kT, 121 * kT, 242.5 * kT, 242.5 * kT,
     true, 48 * kMiB, 0, 4, 8, "NVIDIA L4 datasheet"},
    {"rtx-4090", "rtx 4090", 0, 128, 1008 * kGB, 82.6 * kT, 82.6 * kT, 165.2 * kT, 330.3 * kT,
     660.6 * kT, true, 72 * kMiB, 0, 4, 8, "NVIDIA Ada whitepaper, FP32 accumulation"},
    {"rtx-3090", "rtx 3090", 0, 82, 936 * kGB, 35.6 * kT, 35.6 * kT, 71 * kT, 0, 284 * kT, true,
     6 * kMiB, 0, 4, 8, "NVIDIA Ampere GA102 whitepaper, FP32 accumulation"},
    {"rtx-3080", "rtx 3080", 0, 68, 760 * kGB, 29.8 * kT, 29.8 * kT, 59.5 * kT, 0, 238 * kT, true,
     5 * kMiB, 0, 4, 8, "NVIDIA Ampere GA102 whitepaper, FP32 accumulation"},
    {"mi250x", "mi250", 0, 110, 1638 * kGB, 23.9 * kT, 0, 191.5 * kT, 0, 191.5 * kT, true, 8 * kMiB,
     400 * kGB, 4, 0, "AMD MI250X datasheet, half: each of its two dies is a device"},
    {"mi300x", "mi300", 0, 304, 5300 * kGB, 163.4 * kT, 653.7 * kT, 1307.4 * kT, 2614.9 * kT,
     2614.9 * kT, true, 32 * kMiB, 896 * kGB, 5, 0, "AMD MI300X datasheet"},
});

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

bool matches(std::string_view name, std::string_view pattern) {
  std::size_t star = pattern.find('*');
  std::size_t at = name.find(pattern.substr(0, star));
  if (at == std::string_view::npos) return false;
  return star == std::string_view::npos ||
         name.find(pattern.substr(star + 1), at + star) != std::string_view::npos;
}

/// True unless a digit follows the pattern: "nvidia a10" must not match an A100, nor "nvidia l4" an
/// L40.
bool whole_model(std::string_view name, const GpuModel& model) {
  if (model.pattern.find('*') != std::string_view::npos) return true;
  std::size_t end = name.find(model.pattern) + model.pattern.size();
  return end >= name.size() || name[end] < '0' || name[end] > '9';
}

const GpuModel* search(std::string_view device_name, std::int64_t memory_bytes) {
  std::string name = lower(device_name);
  for (const GpuModel& model : kModels) {
    if (!matches(name, model.pattern) || !whole_model(name, model)) continue;
    bool told = name.find("40gb") != std::string::npos;
    if (model.memory_below_bytes > 0 && !told &&
        (memory_bytes <= 0 || memory_bytes >= model.memory_below_bytes))
      continue;
    return &model;
  }
  return nullptr;
}

}  // namespace

std::span<const GpuModel> gpu_models() {
  return kModels;
}

const GpuModel* find_gpu(std::string_view device_name, std::int64_t memory_bytes) {
  // Predictions ask once per kernel, for one device or a few, so the last answer is cached.
  struct Asked {
    std::string name;
    std::int64_t memory_bytes = -1;
    const GpuModel* model = nullptr;
  };
  thread_local Asked last;
  if (last.name != device_name || last.memory_bytes != memory_bytes)
    last = {std::string(device_name), memory_bytes, search(device_name, memory_bytes)};
  return last.model;
}

}  // namespace headway
