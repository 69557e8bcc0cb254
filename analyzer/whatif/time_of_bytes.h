// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

namespace headway::analyzer {

/// Which of the times is meant that bytes may take.
enum class BytesTake : std::uint8_t { kLikely, kLeast, kMost };

/// What of a transfer's time its bytes take, in ns: transfers of one size alone do not tell it from what each takes whatever its
/// size.
struct TimeOfBytes {
  double least = 0;
  double likely = 0;
  double most = 0;
  double by(BytesTake take) const {
    return take == BytesTake::kLikely ? likely : take == BytesTake::kLeast ? least : most;
  }
};

/// What is sent one after the other.
struct Hops {
  double inside = 0;  ///< a node
  double across = 0;  ///< between nodes
};

/// `moved`: bytes that cross a link. A link between devices carries 1 Gb/s at least, and a hop takes 200 µs at most: what takes
/// long for its few bytes does not wait for them. Likely a transfer starts as NCCL reckons. `emulated`: a link may be as slow as
/// it likes.
inline TimeOfBytes time_of_bytes(double moved, const Hops& hops, double ns, bool emulated) {
  constexpr double kSlowestBytesPerNs = 0.125;
  constexpr double kLongestHopNs = 200'000;
  // NCCL's tuning tables, protocol of large messages: a start, a hop over NVLink, one over a network. TCP takes some tens of µs.
  constexpr double kStartNs = 8'400;
  constexpr double kInsideNs = 3'400;
  constexpr double kAcrossNs = 14'000;
  TimeOfBytes time{std::clamp(ns - (hops.inside + hops.across) * kLongestHopNs, 0.0, ns), 0, ns};
  if (moved > 0 && !emulated) time.most = std::min(ns, moved / kSlowestBytesPerNs);
  time.least = std::min(time.least, time.most);
  time.likely = std::clamp(ns - kStartNs - hops.inside * kInsideNs - hops.across * kAcrossNs,
                           time.least, time.most);
  return time;
}

}  // namespace headway::analyzer
