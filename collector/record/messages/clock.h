// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "common/time.h"

namespace headway::record {

/// The clocks read together.
struct ClockReading {
  std::int64_t realtime_ns = 0;   ///< CLOCK_REALTIME, which may be stepped
  std::int64_t monotonic_ns = 0;  ///< CLOCK_MONOTONIC, which never is
  std::uint64_t tsc = 0;          ///< 0 on machines without
};

/// Best of several attempts: the three lie within some 30 ns. Costs about 1 us.
ClockReading read_clocks();

/// Whether programs may stamp with the time-stamp counter here: it must run at one rate on all
/// cores, in all sleep states, and the kernel must trust it as its own clock. Else `why_not` says
/// why.
bool tsc_is_safe(std::string& why_not);

/// Turns stamps into times since the session start. The axis is CLOCK_MONOTONIC, which is never
/// stepped; readings of all clocks are its anchors. Between two anchors the conversion is linear
/// and fixed for good, so it is strictly monotonic and the nesting of events survives it. One
/// thread at a time.
class TimeAxis {
 public:
  /// Stamps that are no older than `kept` when they are converted lie between two readings.
  explicit TimeAxis(const ClockReading& origin, DurationNs kept = {});

  /// Readings in order of time. A stamp must not be converted before a reading taken after it.
  void add_anchor(const ClockReading& reading);

  TimeNs from_tsc(std::uint64_t tsc) const;
  TimeNs from_realtime(std::int64_t realtime_ns) const;
  TimeNs from_monotonic(std::int64_t monotonic_ns) const {
    return {monotonic_ns - origin_.monotonic_ns};
  }
  const ClockReading& origin() const { return origin_; }
  const ClockReading& newest() const { return anchors_.back(); }
  /// How often CLOCK_REALTIME was stepped by more than kStepNs between two anchors.
  std::int64_t clock_steps() const { return steps_; }

  static constexpr std::int64_t kStepNs = 1'000'000;  ///< less is the clock being disciplined

 private:
  ClockReading origin_;
  DurationNs kept_;
  std::deque<ClockReading> anchors_;  ///< by time; those older than `kept_` are dropped
  mutable std::size_t near_ = 0;      ///< where the last stamp was found
  // realtime - monotonic, as it was before the last step and as it is.
  std::int64_t offset_before_ = 0;
  std::int64_t offset_ = 0;
  std::int64_t step_monotonic_ns_ = 0;  ///< anchor at which the last step was seen
  std::int64_t steps_ = 0;
};

}  // namespace headway::record
