// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/time.h"

namespace headway::record {

/// What chooses the stretches of time that are recorded.
enum class Choice : std::uint8_t {
  kAll,
  kSteps,         ///< steps by number
  kSampledSteps,  ///< some of every so many steps
  kRange,         ///< while a range of the program is open
  kCudaProfiler,  ///< from cudaProfilerStart to cudaProfilerStop
  kRing,          ///< the last seconds before the end
};

/// What of a run is to be recorded.
struct ScopeOptions {
  Choice choice = Choice::kAll;
  std::int64_t first_step = 0;             ///< kSteps: both included
  std::int64_t last_step = 0;              ///< INT64_MAX: to the end
  std::int64_t sampled = 0;                ///< kSampledSteps: the first so many …
  std::int64_t of_every = 0;               ///< … of every so many
  std::string range;                       ///< kRange: name; a trailing '*' matches any ending
  std::optional<std::string> domain;       ///< kRange: of the range; none: any
  std::string step_range;                  ///< name of the ranges that are steps; empty: found
  DurationNs ring;                         ///< kRing
  DurationNs delay;                        ///< after the start of the command
  std::optional<DurationNs> duration;      ///< after the delay
  std::int64_t max_bytes = 0;              ///< of the trace file; 0: no limit
  std::vector<std::pair<int, int>> ranks;  ///< both included; empty: all
  bool children = true;                    ///< also what the command starts

  /// Whether the records of the program say what is recorded.
  bool by_records() const { return choice != Choice::kAll && choice != Choice::kRing; }
  /// Whether anything is left out by time.
  bool by_time() const {
    return choice != Choice::kAll || delay.ns > 0 || duration || max_bytes > 0;
  }
  bool wants_rank(const std::optional<int>& rank) const;
};

/// The options as they were typed; empty: not given.
struct ScopeTexts {
  std::string delay;
  std::string duration;
  std::string steps;
  std::string sample_steps;
  std::string step_range;
  std::string capture_range;
  std::string ring;
  std::string max_size;
  std::string ranks;
  std::string children;
};

/// Throws Error(kUsage) for what is no such value, and for options that contradict each other.
ScopeOptions parse_scope(const ScopeTexts& texts);

/// The options as one would type them, for the trace: "--delay 10 --duration 30".
std::string typed(const ScopeTexts& texts);

}  // namespace headway::record
