// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/ranks/match.h"

namespace headway::analyzer {

/// The clock of one machine, relative to the clock of the first rank's machine.
struct HostClock {
  std::string host;  ///< empty when the traces do not tell: then one rank
  std::vector<std::uint32_t> ranks;
  bool aligned = false;
  bool measured = false;       ///< false: the reference itself, or refused
  double offset_ns = 0;        ///< this clock minus the reference, at `origin_ns`
  double drift = 0;            ///< growth of the offset per ns
  std::int64_t origin_ns = 0;  ///< in this clock, since the reference trace's start
  DurationNs residual;         ///< 95 % of the ends agree within this after alignment
  std::int64_t points = 0;     ///< collectives it rests on
  std::string why_not;         ///< when it is not aligned
};

struct Clocks {
  std::vector<HostClock> hosts;
  std::vector<std::uint32_t> host_of;  ///< per rank: index into `hosts`
  std::int64_t reference_utc_ns = 0;
  std::string doubt;  ///< e.g. one host name for clocks that disagree; else empty

  bool all_aligned() const;
  DurationNs worst_residual() const;
  /// `t` of rank `rank` on the reference clock. Only for aligned ranks.
  TimeNs to_reference(std::span<const RankSummary> ranks, std::uint32_t rank, TimeNs t) const;
};

/// Ranks of one host share a clock. Another host's offset and drift come from a robust line through
/// the ends of synchronising collectives, which all members leave together; then no member may leave
/// before the last has begun. A host that breaks this, or shares too few collectives, is refused.
Clocks align_clocks(std::span<const RankSummary> ranks, const Matching& matching);

}  // namespace headway::analyzer
