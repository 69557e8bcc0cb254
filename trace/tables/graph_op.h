// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct GraphOp : TableDefaults {
  static constexpr std::string_view name = "HEADWAY_GRAPH_OP";
  static constexpr std::string_view doc =
      "Nodes of the model's op graph, from headway.graph_op payloads.";

  struct Row {
    std::int64_t global_pid = 0;
    std::int64_t op = 0;
    std::optional<std::int64_t> forward_op;
    std::int32_t phase = 0;
    std::string_view op_name;
    std::string_view type;
    std::string_view shape;
    std::string_view inputs;
    std::int64_t flops = 0;
    std::int64_t bytes = 0;
    std::int64_t output_bytes = 0;
  };
  static constexpr auto columns = std::tuple{
      Column{"globalPid", &Row::global_pid, Unit::kId,
             "Process: host and VM bits << 48 | pid << 24."},
      Column{"op", &Row::op, Unit::kId, "Op ID."},
      Column{"forwardOp", &Row::forward_op, Unit::kId,
             "The forward op that a backward or update op belongs to."},
      Column{"phase", &Row::phase, Unit::kEnum, "As HEADWAY_RANGE.phase."},
      Column{"name", &Row::op_name, Unit::kNone, "Name in the model."},
      Column{"type", &Row::type, Unit::kNone, "Op type."},
      Column{"shape", &Row::shape, Unit::kNone, "Shape of the result."},
      Column{"inputs", &Row::inputs, Unit::kNone, "Op IDs of the producers, joined by spaces."},
      Column{"flops", &Row::flops, Unit::kFlops, "Floating-point operations."},
      Column{"bytes", &Row::bytes, Unit::kBytes,
             "Memory read and written by an ideal execution of this op alone."},
      Column{"outputBytes", &Row::output_bytes, Unit::kBytes, "Size of the result."},
  };
};

}  // namespace headway::trace::tables
