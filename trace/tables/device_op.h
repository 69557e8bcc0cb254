// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct DeviceOp : TableDefaults {
  static constexpr std::string_view name = "HEADWAY_DEVICE_OP";
  static constexpr std::string_view doc =
      "Ops that ran on devices that are not CUDA, from headway.device_op payloads.";
  static constexpr std::array<std::string_view, 1> indexes = {"start"};

  struct Row {
    std::int64_t start = 0;
    std::optional<std::int64_t> end;
    std::int64_t global_tid = 0;
    std::int32_t device_id = 0;
    std::int32_t stream_id = 0;
    std::int32_t kind = 0;
    std::optional<std::int64_t> correlation_id;
    StringId name_id = {0};
    std::int32_t phase = 0;
    std::optional<std::int64_t> op;
    std::optional<std::int64_t> batch;
    std::int64_t bytes = 0;
    std::int64_t flops = 0;
    std::int32_t source_memory = 0;
    std::int32_t destination_memory = 0;
    std::int32_t math_unit = 0;
    std::optional<std::int64_t> blocks = {};
    std::optional<std::int64_t> block_threads = {};
    std::optional<std::int64_t> unfinished = {};
  };
  static constexpr auto columns = std::tuple{
      Column{"start", &Row::start, Unit::kNs, "Start, since the session start."},
      Column{"end", &Row::end, Unit::kNs,
             "End, since the session start. NULL: still open when the recording ended."},
      Column{"globalTid", &Row::global_tid, Unit::kId, "Thread: globalPid | tid."},
      Column{"deviceId", &Row::device_id, Unit::kId, "Device ID."},
      Column{"streamId", &Row::stream_id, Unit::kId, "Stream ID."},
      Column{"kind", &Row::kind, Unit::kEnum,
             "1 kernel, 2 copy to device, 3 copy to host, 4 copy on device, 5 memset, 6 "
             "communication, 7 peer copy, 8 host copy."},
      Column{"correlationId", &Row::correlation_id, Unit::kId,
             "Same as that of the call that enqueued it."},
      Column{"nameId", &Row::name_id, Unit::kNone, "Name."},
      Column{"phase", &Row::phase, Unit::kEnum, "As HEADWAY_RANGE.phase."},
      Column{"op", &Row::op, Unit::kId, "Graph op."},
      Column{"batch", &Row::batch, Unit::kId, "Batch."},
      Column{"bytes", &Row::bytes, Unit::kBytes, "Memory read and written, or bytes copied."},
      Column{"flops", &Row::flops, Unit::kFlops, "Floating-point operations."},
      Column{"sourceMemory", &Row::source_memory, Unit::kEnum,
             "1 pageable, 2 pinned, 3 device, 4 managed, 0 unknown."},
      Column{"destinationMemory", &Row::destination_memory, Unit::kEnum, "As sourceMemory."},
      Column{"mathUnit", &Row::math_unit, Unit::kEnum, "1 general, 2 tensor cores, 0 unknown."},
      Column{"blocks", &Row::blocks, Unit::kCount, "Blocks of the grid; NULL: unknown."},
      Column{"blockThreads", &Row::block_threads, Unit::kCount,
             "Threads of a block; NULL: unknown."},
      Column{"unfinished", &Row::unfinished, Unit::kEnum,
             "1: it never ended; end is where it was cut."},
  };
};

}  // namespace headway::trace::tables
