// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct CudaStream : TableDefaults {
  static constexpr std::string_view name = "TARGET_INFO_CUDA_STREAM";
  static constexpr std::string_view doc = "CUDA streams that were created.";
  static constexpr bool of_nsys = true;

  struct Row {
    std::int32_t stream_id = 0;
    std::int64_t hw_id = 0;
    std::int64_t vm_id = 0;
    std::int64_t process_id = 0;
    std::int32_t context_id = 0;
    std::int64_t priority = 0;
    std::int64_t flag = 0;
  };
  static constexpr auto columns = std::tuple{
      Column{"streamId", &Row::stream_id, Unit::kId, "Stream ID."},
      Column{"hwId", &Row::hw_id, Unit::kId, "Hardware ID."},
      Column{"vmId", &Row::vm_id, Unit::kId, "VM ID."},
      Column{"processId", &Row::process_id, Unit::kId, "Process ID."},
      Column{"contextId", &Row::context_id, Unit::kId, "Context ID."},
      Column{"priority", &Row::priority, Unit::kNone, "Priority; lower is more urgent."},
      Column{"flag", &Row::flag, Unit::kEnum,
             "CUpti_ActivityStreamFlag: 1 default, 2 non-blocking, 3 null, 0 unknown."},
  };
};

}  // namespace headway::trace::tables
