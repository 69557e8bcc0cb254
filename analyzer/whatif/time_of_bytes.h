// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace headway::analyzer {

/// Which of the times is meant that bytes may take.
enum class BytesTake : std::uint8_t { kLikely, kLeast, kMost };

/// What of a transfer's time its bytes take, in ns: transfers of one size alone do not tell it from what each takes whatever its
/// size.
struct TimeOfBytes {
  double least = 0;
  double most = 0;
  double by(BytesTake take) const {
    if (take == BytesTake::kLikely) return std::midpoint(least, most);
    return take == BytesTake::kLeast ? least : most;
  }
};

/// `moved`: bytes that cross a link, in a row of `hops`. A link between devices carries 1 Gb/s at least, and a hop takes 200 µs at
/// most: what takes long for its few bytes does not wait for them. `emulated`: a link may be as slow as it likes.
inline TimeOfBytes time_of_bytes(double moved, double hops, double ns, bool emulated) {
  constexpr double kSlowestBytesPerNs = 0.125;
  // NCCL reckons with 14 µs a hop over a network at most (its tuning tables, 2.2x); TCP takes some tens, a far node more.
  constexpr double kLongestHopNs = 200'000;
  TimeOfBytes time{std::clamp(ns - hops * kLongestHopNs, 0.0, ns), ns};
  if (moved > 0 && !emulated) time.most = std::min(ns, moved / kSlowestBytesPerNs);
  time.least = std::min(time.least, time.most);
  return time;
}

}  // namespace headway::analyzer
