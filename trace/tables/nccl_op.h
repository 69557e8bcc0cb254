// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct NcclOp : TableDefaults {
  static constexpr std::string_view name = "HEADWAY_NCCL_OP";
  static constexpr std::string_view doc =
      "Operations as NCCL tells its profiler plugin (headway record --nccl-profiler).";

  struct Row {
    std::int64_t start = 0;
    std::int64_t global_tid = 0;
    StringId function = {0};
    StringId communicator = {0};
    std::int64_t rank = 0;
    std::int64_t ranks = 0;
    std::optional<std::int64_t> sequence;
    std::optional<std::int64_t> count;
    std::optional<StringId> dtype;
    std::optional<std::int64_t> peer;
    std::optional<StringId> algorithm;
    std::optional<StringId> protocol;
    std::optional<std::int64_t> channels;
    std::optional<std::int64_t> warps;
  };
  static constexpr auto columns = std::tuple{
      Column{"start", &Row::start, Unit::kNs,
             "When NCCL put it into a launch, since the session start."},
      Column{"globalTid", &Row::global_tid, Unit::kId, "Thread: globalPid | tid."},
      Column{"functionId", &Row::function, Unit::kNone, "Called function, e.g. AllReduce."},
      Column{"communicatorId", &Row::communicator, Unit::kNone,
             "Hash of the communicator, the same on all ranks."},
      Column{"rank", &Row::rank, Unit::kId, "Rank of this process in it."},
      Column{"ranks", &Row::ranks, Unit::kCount, "Number of its ranks."},
      Column{"sequence", &Row::sequence, Unit::kId,
             "Number of this operation among those of its function in the communicator: the same "
             "on all ranks. NULL for send and receive."},
      Column{"count", &Row::count, Unit::kCount, "Elements."},
      Column{"dtypeId", &Row::dtype, Unit::kNone, "Type of the elements, as NCCL names it."},
      Column{"peer", &Row::peer, Unit::kId, "Root, or the other end."},
      Column{"algorithmId", &Row::algorithm, Unit::kNone, "E.g. RING or TREE."},
      Column{"protocolId", &Row::protocol, Unit::kNone, "LL, LL128, SIMPLE."},
      Column{"channels", &Row::channels, Unit::kCount, "Channels."},
      Column{"warps", &Row::warps, Unit::kCount, "Warps of each channel."},
  };
};

}  // namespace headway::trace::tables
