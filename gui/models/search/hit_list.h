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

/// Which hits are wanted in the list.
struct HitQuery {
  enum class Keep : std::uint8_t { kFirst, kLongest, kShortest };

  DurationNs least = {};           ///< hits that take as long
  DurationNs below = {INT64_MAX};  ///< and not as long as that
  Keep keep = Keep::kFirst;        ///< of too many

  bool is_filtered() const { return least.ns > 0 || below.ns != INT64_MAX; }
  bool operator==(const HitQuery&) const = default;
};

/// The hits of a search as a table, and how long all of them take. Made on any thread: a pass over the hits.
struct HitList {
  /// More rows than a person reads, and few enough to be sorted while one waits.
  static constexpr std::size_t kMost = 5000;

  std::size_t hits = 0;         ///< of the search
  std::size_t in_duration = 0;  ///< of them, those that the query's durations leave
  DurationHistogram histogram;  ///< of all hits
  std::shared_ptr<const LinkedTable>
      table;  ///< at most kMost of `in_duration`; leads to the events
};
/// Without a table when `*cancelled` becomes true.
HitList list_hits(const Session& session, const Search& search, const HitQuery& query,
                  const std::atomic<bool>* cancelled = nullptr);

}  // namespace headway::gui
