// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "common/time.h"

namespace headway::trace {

/// How much a trace file holds, found without reading all of it.
struct Extent {
  std::int64_t events = 0;   ///< upper bound: gaps in the row ids are counted
  std::vector<TimeNs> when;  ///< starts of evenly sampled events, sorted
  Interval span() const {    ///< of `when`
    return when.empty() ? Interval{} : Interval{when.front(), when.back()};
  }
  /// The middle part of the time that holds about this share of the events.
  Interval middle(double share) const;
};

/// The extent of an SQLite trace, in a few hundred look-ups. Nullopt for other formats and for files
/// that cannot be read: `load` says why.
std::optional<Extent> extent_of(const std::filesystem::path& path);

}  // namespace headway::trace
