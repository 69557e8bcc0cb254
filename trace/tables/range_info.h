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
    std::optional<std::int64_t> kind;
    std::int32_t phase = 0;
    std::optional<std::int64_t> op;
    std::optional<std::int64_t> batch;
    std::optional<std::int64_t> step;
    std::int64_t bytes = 0;
    std::int64_t flops = 0;
    std::optional<std::int64_t> sequence = {};
    std::optional<StringId> shapes = {};
    std::optional<StringId> dtypes = {};
    std::optional<std::int64_t> cut_at = {};
  };
  static constexpr auto columns = std::tuple{
      Column{"rangeRow", &Row::range_row, Unit::kId, "rowid in NVTX_EVENTS."},
      Column{"kind", &Row::kind, Unit::kEnum,
             "1 step, 2 phase, 3 op, 4 input wait, 5 batch, 6 read, 7 decode, 8 augment, 9 "
             "collate, 10 sample of a stack, 0 other. NULL: the range says nothing; the row is "
             "here for cutAt."},
      Column{"phase", &Row::phase, Unit::kEnum,
             "1 input, 2 forward, 3 backward, 4 update, 5 communication, 6 evaluation, 0 none."},
      Column{"op", &Row::op, Unit::kId, "Graph op."},
      Column{"batch", &Row::batch, Unit::kId, "Batch."},
      Column{"step", &Row::step, Unit::kId, "Step number of the program."},
      Column{"bytes", &Row::bytes, Unit::kBytes, "Bytes read or moved."},
      Column{"flops", &Row::flops, Unit::kFlops, "Floating-point operations."},
      Column{"sequence", &Row::sequence, Unit::kId,
             "Autograd's sequence number, which a backward op shares with its forward op."},
      Column{"shapesId", &Row::shapes, Unit::kNone, "Shapes of the inputs, as recorded."},
      Column{"dtypesId", &Row::dtypes, Unit::kNone, "Types of the inputs, as recorded."},
      Column{"cutAt", &Row::cut_at, Unit::kNs,
             "Where a range that never ended (NVTX_EVENTS.end is NULL) was cut."},
  };
};

}  // namespace headway::trace::tables
