// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct CudaDevice : TableDefaults {
  static constexpr std::string_view name = "TARGET_INFO_CUDA_DEVICE";
  static constexpr std::string_view doc =
      "Which GPU each process means by a CUDA device ID; they differ under CUDA_VISIBLE_DEVICES.";
  static constexpr bool of_nsys = true;

  struct Row {
    std::int64_t gpu_id = 0;
    std::int64_t cuda_id = 0;
    std::int64_t pid = 0;
    std::optional<std::string_view> uuid;
    std::optional<std::int64_t> multiprocessors;
  };
  static constexpr auto columns = std::tuple{
      Column{"gpuId", &Row::gpu_id, Unit::kId, "TARGET_INFO_GPU.id."},
      Column{"cudaId", &Row::cuda_id, Unit::kId, "Device ID in the process."},
      Column{"pid", &Row::pid, Unit::kId, "Process ID."},
      Column{"uuid", &Row::uuid, Unit::kNone, "UUID of the GPU."},
      Column{"numMultiprocessors", &Row::multiprocessors, Unit::kCount, "Multiprocessors."},
  };
};

}  // namespace headway::trace::tables
