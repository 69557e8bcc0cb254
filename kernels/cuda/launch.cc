// SPDX-License-Identifier: MIT
#include "kernels/cuda/launch.h"

#include "common/error.h"

namespace headway::kernels::cuda {

std::string kernel_name(const char* base, NumberFormat format) {
  switch (format) {
    case NumberFormat::kFloat32:
      return fmt::format("{}_f32", base);
    case NumberFormat::kFloat16:
      return fmt::format("{}_f16", base);
    case NumberFormat::kBfloat16:
      return fmt::format("{}_bf16", base);
    case NumberFormat::kTf32:
      break;
  }
  fail_internal("Kernel {}: no array in memory has the format TF32 (use FP32).", base);
}

unsigned blocks_for(std::int64_t work, unsigned threads, const Limits& limits,
                    int per_multiprocessor) {
  const std::int64_t all = (work + threads - 1) / threads;
  const std::int64_t full = std::int64_t{limits.multiprocessors} * per_multiprocessor;
  return static_cast<unsigned>(std::clamp<std::int64_t>(all, 1, std::max<std::int64_t>(full, 1)));
}

void require(bool holds, const char* kernel, const char* what) {
  if (!holds) fail_internal("Kernel {}: {}.", kernel, what);
}

void require_aligned(const void* address, std::size_t bytes, const char* kernel, const char* what) {
  if (!address) fail_internal("Kernel {}: {} is null.", kernel, what);
  if (reinterpret_cast<std::uintptr_t>(address) % bytes != 0)
    fail_internal("Kernel {}: {} is at {}, which is no multiple of {} bytes.", kernel, what,
                  address, bytes);
}

}  // namespace headway::kernels::cuda
