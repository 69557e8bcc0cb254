// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct RangeInfo : TableDefaults {
  static constexpr std::string_view name = "HEADWAY_RANGE";
  static constexpr std::string_view doc =
      "What a range is, from its headway.range payload (docs/reference/nvtx-conventions.md).";
  static constexpr std::string_view primary_key = "rangeRow";

  struct Row {
    std::int64_t range_row = 0;
    std::int32_t kind = 0;
    std::int32_t phase = 0;
    std::optional<std::int64_t> op;
    std::optional<std::int64_t> batch;
    std::optional<std::int64_t> step;
    std::int64_t bytes = 0;
    std::int64_t flops = 0;
  };
  static constexpr auto columns = std::tuple{
      Column{"rangeRow", &Row::range_row, Unit::kId, "rowid in NVTX_EVENTS."},
      Column{"kind", &Row::kind, Unit::kEnum,
             "1 step, 2 phase, 3 op, 4 input wait, 5 batch, 6 read, 7 decode, 8 augment, 9 "
             "collate, 0 other."},
      Column{"phase", &Row::phase, Unit::kEnum,
             "1 input, 2 forward, 3 backward, 4 update, 5 communication, 6 evaluation, 0 none."},
      Column{"op", &Row::op, Unit::kId, "Graph op."},
      Column{"batch", &Row::batch, Unit::kId, "Batch."},
      Column{"step", &Row::step, Unit::kId, "Step number of the program."},
      Column{"bytes", &Row::bytes, Unit::kBytes, "Bytes read or moved."},
      Column{"flops", &Row::flops, Unit::kFlops, "Floating-point operations."},
  };
};

}  // namespace headway::trace::tables
