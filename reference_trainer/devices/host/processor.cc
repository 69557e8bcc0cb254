// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/host/processor.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <oneapi/dnnl/dnnl.hpp>
#include <thread>

#include "kernels/loops/loops.h"

namespace headway::trainer {
namespace {

std::string model_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "processor";
}

}  // namespace

std::string describe_processor() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}, oneDNN {}.{}.{}, loops {}", model_name(), version->major, version->minor,
                     version->patch, kernels::loops().isa);
}

int most_int8_weight() {
  constexpr int kAll = 127;
  // Activations are shifted to 0..255: 2 · 255 · 64 is the largest sum that fits in 16 bits with a
  // sign.
  constexpr int kSumsIn16Bits = 63;
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::sse41:
    case dnnl::cpu_isa::avx:
    case dnnl::cpu_isa::avx2:
    case dnnl::cpu_isa::avx512_mic:
    case dnnl::cpu_isa::avx512_mic_4ops:
    case dnnl::cpu_isa::avx512_core:
      return kSumsIn16Bits;
    default:
      return kAll;
  }
}

int available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace headway::trainer
