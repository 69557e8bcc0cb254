// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct DeviceOpDetail : TableDefaults {
  static constexpr std::string_view name = "HEADWAY_DEVICE_OP_DETAIL";
  static constexpr std::string_view doc =
      "What an imported recording says of a CUDA op and CUPTI has no column for.";

  struct Row {
    std::int64_t op_table = 0;
    std::int64_t op_row = 0;
    std::optional<StringId> name_id = {};
    std::int64_t kind = 0;
    std::int64_t phase = 0;
    std::optional<std::int64_t> op = {};
    std::optional<std::int64_t> batch = {};
    std::int64_t bytes = 0;
    std::int64_t flops = 0;
    std::int64_t source_memory = 0;
    std::int64_t destination_memory = 0;
    std::int64_t math_unit = 0;
    std::int64_t blocks = 0;
    std::int64_t block_threads = 0;
    std::int64_t unfinished = 0;
  };
  static constexpr auto columns = std::tuple{
      Column{"opTable", &Row::op_table, Unit::kEnum,
             "Table of the op: 1 CUPTI_ACTIVITY_KIND_KERNEL, 2 _MEMCPY, 3 _MEMSET, 4 "
             "HEADWAY_DEVICE_OP."},
      Column{"opRow", &Row::op_row, Unit::kId, "rowid in that table."},
      Column{"nameId", &Row::name_id, Unit::kNone,
             "Name, for a copy or set that has one of its own."},
      Column{"kind", &Row::kind, Unit::kEnum, "As HEADWAY_DEVICE_OP.kind."},
      Column{"phase", &Row::phase, Unit::kEnum, "As HEADWAY_RANGE.phase."},
      Column{"op", &Row::op, Unit::kId, "Graph op."},
      Column{"batch", &Row::batch, Unit::kId, "Batch."},
      Column{"bytes", &Row::bytes, Unit::kBytes, "Memory read and written, or bytes copied."},
      Column{"flops", &Row::flops, Unit::kFlops, "Floating-point operations."},
      Column{"sourceMemory", &Row::source_memory, Unit::kEnum,
             "As HEADWAY_DEVICE_OP.sourceMemory."},
      Column{"destinationMemory", &Row::destination_memory, Unit::kEnum, "As sourceMemory."},
      Column{"mathUnit", &Row::math_unit, Unit::kEnum, "As HEADWAY_DEVICE_OP.mathUnit."},
      Column{"blocks", &Row::blocks, Unit::kCount, "Blocks of the grid; 0: unknown."},
      Column{"blockThreads", &Row::block_threads, Unit::kCount, "Threads of a block; 0: unknown."},
      Column{"unfinished", &Row::unfinished, Unit::kEnum,
             "1: it never ended; end is where it was cut."},
  };
};

}  // namespace headway::trace::tables
