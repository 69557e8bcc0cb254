// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "common/time.h"

namespace headway::gui {

/// Counts events by duration, in bins of equal width on a logarithmic scale: eight bins per factor
/// of ten. Bin 0 holds durations below 1 ns.
class DurationHistogram {
 public:
  static constexpr int kBinsPerDecade = 8;

  void add(DurationNs duration);
  /// [first, last): the bins from the first to the last that is not empty.
  int first() const { return first_; }
  int last() const { return last_; }
  bool empty() const { return events_ == 0; }
  std::int64_t events() const { return events_; }
  std::int64_t count(int bin) const { return counts_[static_cast<std::size_t>(bin)]; }
  std::int64_t highest() const { return highest_; }

  static int bin_of(DurationNs duration);
  /// The shortest duration of a bin; the bin ends where the next begins.
  static DurationNs least_of(int bin);
  static int bins();

 private:
  std::vector<std::int64_t> counts_ = std::vector<std::int64_t>(static_cast<std::size_t>(bins()));
  std::int64_t events_ = 0;
  std::int64_t highest_ = 0;
  int first_ = 0;
  int last_ = 0;
};

}  // namespace headway::gui
