// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "gui/models/figures/duration_histogram.h"
#include "gui/models/opening/session.h"
#include "gui/models/search/search.h"
#include "gui/models/tables/linked_table.h"

namespace headway::gui {

/// Which hits the list shows.
struct HitQuery {
  enum class Keep : std::uint8_t { kFirst, kLongest, kShortest };

  DurationNs least = {};           ///< minimum duration of hits
  DurationNs below = {INT64_MAX};  ///< durations must be below this
  Keep keep = Keep::kFirst;        ///< which hits to keep if there are more than kMost

  bool is_filtered() const { return least.ns > 0 || below.ns != INT64_MAX; }
  bool operator==(const HitQuery&) const = default;
};

/// The hits of a search as a table, with a histogram of their durations. Made on any thread; one
/// pass over the hits.
struct HitList {
  /// More rows than a person reads, but few enough to sort without a noticeable wait.
  static constexpr std::size_t kMost = 5000;

  std::size_t hits = 0;         ///< number of hits of the search
  std::size_t in_duration = 0;  ///< number of hits within the query's durations
  DurationHistogram histogram;  ///< of all hits
  std::shared_ptr<const LinkedTable>
      table;  ///< at most kMost of `in_duration`; leads to the events
};
/// The table is missing if `*cancelled` becomes true.
HitList list_hits(const Session& session, const Search& search, const HitQuery& query,
                  const std::atomic<bool>* cancelled = nullptr);

}  // namespace headway::gui
