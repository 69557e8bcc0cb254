// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

namespace headway::analyzer {

/// Selects one of the estimates in TimeOfBytes.
enum class BytesTake : std::uint8_t { kLikely, kLeast, kMost };

/// The part of a transfer's time that is for its bytes, in ns. With transfers of a single size, it
/// cannot be separated from the fixed cost.
struct TimeOfBytes {
  double least = 0;
  double likely = 0;
  double most = 0;
  double by(BytesTake take) const {
    return take == BytesTake::kLikely ? likely : take == BytesTake::kLeast ? least : most;
  }
};

/// Start and hops of a collective, in ns: NCCL's tuning tables (src/include/tuning.h: baseLat,
/// hwLat), protocol for large messages, hop over NVLink, hop over a network. TCP takes some tens of
/// µs.
inline constexpr double kCollectiveStartNs = 8'400;
inline constexpr double kHopInsideNs = 3'400;
inline constexpr double kHopAcrossNs = 14'000;
/// Share of a node's network that the one connection of a ring over all ranks reaches, where a node has several ranks.
inline constexpr double kOneConnection = 0.75;

/// Hops of a transfer, one after the other.
struct Hops {
  double inside = 0;  ///< inside a node
  double across = 0;  ///< between nodes
  double all() const { return inside + across; }
};

/// Estimates from the duration `ns` of a transfer. Bounds: a link between devices carries at least
/// 1 Gb/s (so few bytes cannot explain a long time), and a hop takes at most 200 µs. The likely
/// value uses NCCL's start and hop times. `moved`: bytes that cross a link. `emulated`: the links
/// have no least rate.
inline TimeOfBytes time_of_bytes(double moved, const Hops& hops, double ns, bool emulated) {
  constexpr double kSlowestBytesPerNs = 0.125;
  constexpr double kLongestHopNs = 200'000;
  TimeOfBytes time{std::clamp(ns - hops.all() * kLongestHopNs, 0.0, ns), 0, ns};
  if (moved > 0 && !emulated) time.most = std::min(ns, moved / kSlowestBytesPerNs);
  time.least = std::min(time.least, time.most);
  time.likely =
      std::clamp(ns - kCollectiveStartNs - hops.inside * kHopInsideNs - hops.across * kHopAcrossNs,
                 time.least, time.most);
  return time;
}

}  // namespace headway::analyzer
