// SPDX-License-Identifier: MIT
#include "collector/record/messages/clock.h"

#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

namespace headway::record {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
// A stamp that is older than all anchors kept (its thread was stopped between reading the clock and
// publishing) is extrapolated. At the drain's rate these cover 10 s and more.
constexpr std::size_t kAnchorsKept = 4096;
/// Some 126 years: further than any real stamp, and small enough to never overflow.
constexpr double kFarNs = 4e18;

std::int64_t clock_ns(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * kNsPerSecond + time.tv_nsec;
}

std::uint64_t read_tsc() {
#ifdef __x86_64__
  return __rdtsc();
#else
  return 0;
#endif
}

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

bool has_word(const std::string& line, const std::string& word) {
  return (" " + line + " ").find(" " + word + " ") != std::string::npos;
}

}  // namespace

ClockReading read_clocks() {
  ClockReading best;
  std::int64_t best_width = INT64_MAX;
  for (int attempt = 0; attempt < 5; ++attempt) {
    std::int64_t before = clock_ns(CLOCK_MONOTONIC);
    std::uint64_t tsc_before = read_tsc();
    std::int64_t realtime = clock_ns(CLOCK_REALTIME);
    std::uint64_t tsc_after = read_tsc();
    std::int64_t after = clock_ns(CLOCK_MONOTONIC);
    if (after - before >= best_width) continue;
    best_width = after - before;
    // The outer clocks are read before and after the middle one, and their means are taken, so that
    // no clock is early by half a reading.
    best = {realtime, before + (after - before) / 2, tsc_before + (tsc_after - tsc_before) / 2};
  }
  return best;
}

bool tsc_is_safe(std::string& why_not) {
#ifdef __x86_64__
  std::string source =
      first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  if (source != "tsc") {
    why_not = "the kernel's clock source is '" + source + "', not tsc";
    return false;
  }
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string line;
  while (std::getline(cpuinfo, line)) {
    if (line.rfind("flags", 0) != 0) continue;
    for (const char* flag : {"constant_tsc", "nonstop_tsc"}) {
      if (has_word(line, flag)) continue;
      why_not = std::string("the processor lacks ") + flag;
      return false;
    }
    return true;
  }
  why_not = "cannot read /proc/cpuinfo";
  return false;
#else
  why_not = "this processor has no known time-stamp counter";
  return false;
#endif
}

TimeAxis::TimeAxis(const ClockReading& origin, DurationNs kept)
    : origin_(origin), kept_(kept), offset_before_(origin.realtime_ns - origin.monotonic_ns) {
  offset_ = offset_before_;
  anchors_.push_back(origin);
}

void TimeAxis::add_anchor(const ClockReading& reading) {
  const ClockReading& last = anchors_.back();
  if (reading.monotonic_ns <= last.monotonic_ns) return;
  // Small differences are noise of the reading: both clocks are slewed together.
  std::int64_t offset = reading.realtime_ns - reading.monotonic_ns;
  if (std::llabs(offset - offset_) > kStepNs) {
    offset_before_ = offset_;
    offset_ = offset;
    step_monotonic_ns_ = last.monotonic_ns;
    ++steps_;
  }
  if (reading.tsc < last.tsc) return;
  anchors_.push_back(reading);
  while (anchors_.size() > kAnchorsKept &&
         anchors_[1].monotonic_ns < reading.monotonic_ns - kept_.ns) {
    anchors_.pop_front();
    if (near_ > 0) --near_;
  }
}

TimeNs TimeAxis::from_tsc(std::uint64_t tsc) const {
  // The stamp lies nearly always between the newest two anchors, or where the stamp before it was
  // found.
  std::size_t upper = anchors_.size() - 1;
  if (upper > 1 && anchors_[upper - 1].tsc > tsc) {
    const bool near =
        near_ > 0 && near_ < upper && anchors_[near_ - 1].tsc <= tsc && anchors_[near_].tsc > tsc;
    if (!near) {
      auto after = std::upper_bound(
          anchors_.begin(), anchors_.end(), tsc,
          [](std::uint64_t t, const ClockReading& reading) { return t < reading.tsc; });
      near_ = std::max<std::size_t>(1, static_cast<std::size_t>(after - anchors_.begin()));
    }
    upper = near_;
  }
  if (upper == 0) return from_monotonic(anchors_[0].monotonic_ns);
  const ClockReading& a = anchors_[upper - 1];
  const ClockReading& b = anchors_[upper];
  if (b.tsc == a.tsc) return from_monotonic(b.monotonic_ns);
  double rate =
      static_cast<double>(b.monotonic_ns - a.monotonic_ns) / static_cast<double>(b.tsc - a.tsc);
  double ticks =
      tsc >= a.tsc ? static_cast<double>(tsc - a.tsc) : -static_cast<double>(a.tsc - tsc);
  const double ns = std::clamp(ticks * rate, -kFarNs, kFarNs);
  return from_monotonic(a.monotonic_ns + static_cast<std::int64_t>(ns));
}

TimeNs TimeAxis::from_realtime(std::int64_t realtime_ns) const {
  realtime_ns = std::clamp(realtime_ns, std::int64_t{0}, static_cast<std::int64_t>(kFarNs));
  std::int64_t monotonic = realtime_ns - offset_;
  if (steps_ > 0) {
    // A stamp from before the step that was drained after it is recognised by where the new offset
    // puts it: before the step, or in the future.
    std::int64_t as_before = realtime_ns - offset_before_;
    bool old = monotonic < step_monotonic_ns_ || monotonic > newest().monotonic_ns;
    if (old && as_before <= newest().monotonic_ns) monotonic = as_before;
  }
  return from_monotonic(monotonic);
}

}  // namespace headway::record
