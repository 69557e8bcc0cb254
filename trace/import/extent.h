// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "common/time.h"

namespace headway::trace {

/// How much a trace file holds, found without reading it.
struct Extent {
  std::int64_t events = 0;   ///< at most: gaps in the row ids count
  std::vector<TimeNs> when;  ///< starts of events taken evenly over all of them, sorted
  Interval span() const {    ///< of `when`
    return when.empty() ? Interval{} : Interval{when.front(), when.back()};
  }
  /// The middle stretch that holds about this share of the events.
  Interval middle(double share) const;
};

/// Of an SQLite trace, in a few hundred look-ups. None for other formats and for files that cannot be
/// read: `load` says why.
std::optional<Extent> extent_of(const std::filesystem::path& path);

}  // namespace headway::trace
