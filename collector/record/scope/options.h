// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/time.h"

namespace headway::record {

/// What chooses the parts of the run that are recorded.
enum class Choice : std::uint8_t {
  kAll,
  kSteps,         ///< steps by number
  kSampledSteps,  ///< the first steps of every group of steps
  kRange,         ///< while a range of the program is open
  kCudaProfiler,  ///< from cudaProfilerStart to cudaProfilerStop
  kRing,          ///< the last seconds before the end
};

/// Which part of a run is to be recorded.
struct ScopeOptions {
  Choice choice = Choice::kAll;
  std::int64_t first_step = 0;             ///< kSteps: both bounds included
  std::int64_t last_step = 0;              ///< INT64_MAX: to the end
  std::int64_t sampled = 0;                ///< kSampledSteps: the first `sampled` steps …
  std::int64_t of_every = 0;               ///< … of every group of `of_every` steps
  std::string range;                       ///< kRange: name; a trailing '*' matches any ending
  std::optional<std::string> domain;       ///< kRange: the range's domain; nullopt: any
  std::string step_range;                  ///< name of the step ranges; empty: detected
  DurationNs ring;                         ///< kRing: length of the kept end
  DurationNs delay;                        ///< after the start of the command
  std::optional<DurationNs> duration;      ///< after the delay
  std::int64_t max_bytes = 0;              ///< of the trace file; 0: no limit
  std::vector<std::pair<int, int>> ranks;  ///< bounds included; empty: all ranks
  bool children = true;                    ///< also the processes that the command starts

  /// Whether records of the program (ranges, profiler calls) choose what is recorded.
  bool by_records() const { return choice != Choice::kAll && choice != Choice::kRing; }
  /// Whether some time of the run may be left out.
  bool by_time() const {
    return choice != Choice::kAll || delay.ns > 0 || duration || max_bytes > 0;
  }
  bool wants_rank(const std::optional<int>& rank) const;
};

/// The options as the user typed them; empty: not given.
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

/// Parses the options. Throws Error(kUsage) for invalid values and for options that contradict each
/// other.
ScopeOptions parse_scope(const ScopeTexts& texts);

/// The options in the form of a command line, for the trace: "--delay 10 --duration 30".
std::string typed(const ScopeTexts& texts);

}  // namespace headway::record
