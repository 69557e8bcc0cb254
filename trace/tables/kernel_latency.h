// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct KernelLatency : TableDefaults {
  static constexpr std::string_view name = "HEADWAY_KERNEL_LATENCY";
  static constexpr std::string_view doc =
      "When kernels were queued and submitted (headway record --cuda-latency).";

  struct Row {
    std::int64_t kernel_row = 0;
    std::optional<std::int64_t> queued;
    std::optional<std::int64_t> submitted;
  };
  static constexpr auto columns = std::tuple{
      Column{"kernelRow", &Row::kernel_row, Unit::kId, "rowid in CUPTI_ACTIVITY_KIND_KERNEL."},
      Column{"queued", &Row::queued, Unit::kNs,
             "When the driver put it into its command buffer, since the session start."},
      Column{"submitted", &Row::submitted, Unit::kNs,
             "When that buffer went to the device, since the session start."},
  };
};

}  // namespace headway::trace::tables
