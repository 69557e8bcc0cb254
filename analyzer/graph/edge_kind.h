// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace headway::analyzer {

/// Why one point of time had to wait for another. Edges run from the start or end of a task to the
/// start or end of another one, never backwards in time.
enum class EdgeKind : std::uint8_t {
  kDuration,         ///< implicit: a task's end after its own start
  kThreadOrder,      ///< D1
  kThreadBlocked,    ///< D1, where the thread slept until another handed over
  kStreamOrder,      ///< D2
  kLaunch,           ///< D3
  kGraphLaunch,      ///< D8
  kEventWait,        ///< D4
  kHostSync,         ///< D5
  kQueueFull,        ///< D6
  kDefaultStream,    ///< D7
  kDriverLock,       ///< D9
  kBatch,            ///< D10
  kBatchSlot,        ///< D10
  kHandOver,         ///< D10, between threads that compute
  kRendezvous,       ///< D12
  kTransfer,         ///< D12
  kCollectiveOrder,  ///< D13
  kCount_,           ///< number of kinds, not one itself
};
inline constexpr std::size_t kEdgeKindCount = static_cast<std::size_t>(EdgeKind::kCount_);

struct EdgeKindInfo {
  EdgeKind kind;
  std::string_view id;    ///< "stream_order": stable, in JSON
  std::string_view rule;  ///< "D2": its name in docs/design
  std::string_view doc;   ///< what waits for what, one sentence
};
/// All kinds in the order of the enum.
std::span<const EdgeKindInfo, kEdgeKindCount> edge_kinds();
const EdgeKindInfo& info(EdgeKind kind);

}  // namespace headway::analyzer
