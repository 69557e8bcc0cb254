// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "common/time.h"

namespace headway::record {

/// All clocks, read at the same moment.
struct ClockReading {
  std::int64_t realtime_ns = 0;   ///< CLOCK_REALTIME, which may be stepped
  std::int64_t monotonic_ns = 0;  ///< CLOCK_MONOTONIC, which never is
  std::uint64_t tsc = 0;          ///< 0 on machines without a time-stamp counter
};

/// The best of several attempts: the three readings lie within some 30 ns. Costs about 1 us.
ClockReading read_clocks();

/// Whether programs may use the time-stamp counter for stamps on this machine: it must run at one
/// rate on all cores, in all sleep states, and the kernel must trust it as its own clock. If false,
/// `why_not` gives the reason.
bool tsc_is_safe(std::string& why_not);

/// Turns stamps into times since the session start. The axis is CLOCK_MONOTONIC, which is never
/// stepped; readings of all clocks are its anchors. Between two anchors the conversion is linear
/// and never changes, so it is strictly monotonic and keeps the nesting of events. One thread at a
/// time.
class TimeAxis {
 public:
  /// Anchors are kept long enough for stamps that are at most `kept` old when they are converted.
  explicit TimeAxis(const ClockReading& origin, DurationNs kept = {});

  /// Adds a reading; readings come in order of time. A stamp must not be converted before a reading
  /// that was taken after it.
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

  static constexpr std::int64_t kStepNs = 1'000'000;  ///< smaller changes are NTP slewing the clock

 private:
  ClockReading origin_;
  DurationNs kept_;
  std::deque<ClockReading> anchors_;  ///< by time; those older than `kept_` are dropped
  mutable std::size_t near_ = 0;      ///< anchor at which the last stamp was found
  // realtime - monotonic, before the last step and now.
  std::int64_t offset_before_ = 0;
  std::int64_t offset_ = 0;
  std::int64_t step_monotonic_ns_ = 0;  ///< anchor at which the last step was seen
  std::int64_t steps_ = 0;
};

}  // namespace headway::record
