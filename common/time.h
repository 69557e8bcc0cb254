// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace headway {

/// A length of time in nanoseconds. Negative values are legal in arithmetic.
struct DurationNs {
  std::int64_t ns = 0;

  constexpr auto operator<=>(const DurationNs&) const = default;
  constexpr DurationNs& operator+=(DurationNs other) { return ns += other.ns, *this; }
  constexpr DurationNs& operator-=(DurationNs other) { return ns -= other.ns, *this; }
  friend constexpr DurationNs operator+(DurationNs a, DurationNs b) { return {a.ns + b.ns}; }
  friend constexpr DurationNs operator-(DurationNs a, DurationNs b) { return {a.ns - b.ns}; }
  friend constexpr DurationNs operator-(DurationNs a) { return {-a.ns}; }
  friend constexpr DurationNs operator*(DurationNs a, std::int64_t k) { return {a.ns * k}; }
  friend constexpr DurationNs operator/(DurationNs a, std::int64_t k) { return {a.ns / k}; }

  constexpr double seconds() const { return static_cast<double>(ns) * 1e-9; }
  constexpr double milliseconds() const { return static_cast<double>(ns) * 1e-6; }
  constexpr double microseconds() const { return static_cast<double>(ns) * 1e-3; }
};

/// `part / whole`, 0 when `whole` is not positive: a share never becomes NaN in a report.
constexpr double ratio(DurationNs part, DurationNs whole) {
  return whole.ns > 0 ? static_cast<double>(part.ns) / static_cast<double>(whole.ns) : 0.0;
}

/// A point in time: nanoseconds since the start of the recording session (a trace's time zero).
struct TimeNs {
  std::int64_t ns = 0;

  static constexpr TimeNs min() { return {std::numeric_limits<std::int64_t>::min()}; }
  static constexpr TimeNs max() { return {std::numeric_limits<std::int64_t>::max()}; }

  constexpr auto operator<=>(const TimeNs&) const = default;
  friend constexpr TimeNs operator+(TimeNs t, DurationNs d) { return {t.ns + d.ns}; }
  friend constexpr TimeNs operator-(TimeNs t, DurationNs d) { return {t.ns - d.ns}; }
  friend constexpr DurationNs operator-(TimeNs a, TimeNs b) { return {a.ns - b.ns}; }
};

/// The half-open interval [begin, end). Empty when end <= begin.
struct Interval {
  TimeNs begin;
  TimeNs end;

  constexpr bool operator==(const Interval&) const = default;
  constexpr bool empty() const { return end <= begin; }
  constexpr DurationNs length() const { return empty() ? DurationNs{} : end - begin; }
  constexpr bool contains(TimeNs t) const { return begin <= t && t < end; }
};

constexpr Interval intersect(Interval a, Interval b) {
  return {a.begin > b.begin ? a.begin : b.begin, a.end < b.end ? a.end : b.end};
}

}  // namespace headway
