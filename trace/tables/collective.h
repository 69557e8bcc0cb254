// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct Collective : TableDefaults {
  static constexpr std::string_view name = "HEADWAY_COLLECTIVE";
  static constexpr std::string_view doc =
      "Collectives and point-to-point communications, as each rank took part in them.";

  struct Row {
    std::optional<std::int64_t> op_table = {};
    std::optional<std::int64_t> op_row = {};
    std::optional<std::int64_t> range_row = {};
    StringId kind = {0};
    std::optional<StringId> communicator = {};
    std::optional<StringId> dtype = {};
    std::optional<std::int64_t> bytes = {};
    std::optional<std::int64_t> sequence = {};
    std::int64_t ranks = 0;
    std::optional<std::int64_t> peer = {};
  };
  static constexpr auto columns = std::tuple{
      Column{"opTable", &Row::op_table, Unit::kEnum,
             "Table of the op: 1 CUPTI_ACTIVITY_KIND_KERNEL, 2 _MEMCPY, 3 _MEMSET, 4 "
             "HEADWAY_DEVICE_OP. NULL: only the host is known."},
      Column{"opRow", &Row::op_row, Unit::kId,
             "rowid of the kernel or copy that carried it out, in that table."},
      Column{"rangeRow", &Row::range_row, Unit::kId,
             "rowid in NVTX_EVENTS of the range around it."},
      Column{"kindId", &Row::kind, Unit::kNone,
             "allreduce, allgather, reducescatter, broadcast, reduce, alltoall, send, recv, "
             "barrier, or as recorded."},
      Column{"communicatorId", &Row::communicator, Unit::kNone, "Communicator or process group."},
      Column{"dtypeId", &Row::dtype, Unit::kNone, "Type of the elements, as recorded."},
      Column{"bytes", &Row::bytes, Unit::kBytes,
             "Full message, as a bus bandwidth counts it; NULL: unknown."},
      Column{"sequence", &Row::sequence, Unit::kId, "Position in its communicator; NULL: unknown."},
      Column{"ranks", &Row::ranks, Unit::kCount, "Members of the communicator; 0: unknown."},
      Column{"peer", &Row::peer, Unit::kId, "Root, or the other end; NULL: none or unknown."},
  };
};

}  // namespace headway::trace::tables
