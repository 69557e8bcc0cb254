// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>

#include "analyzer/steps/steps.h"
#include "common/time.h"
#include "trace/trace.h"

namespace headway::cli::live {

/// Counts the steps of a run that is read stretch by stretch, each step once. If the program
/// numbers its steps, stretches may skip some; otherwise skipped steps are estimated from the time.
class StepCounter {
 public:
  void add(const trace::Trace& trace, const analyzer::Steps& steps);

  struct Count {
    std::int64_t done = 0;  ///< steps that have ended
    DurationNs cost;        ///< from the begin of the second step seen to that of the newest
    std::int64_t over = 0;  ///< number of steps that `cost` is the mean of; 0: not known yet
    bool estimated = false;
  };
  /// The count of the thread with the most steps.
  Count count() const;
  /// Begin of the newest step of the thread that is furthest behind; zero without steps.
  TimeNs newest() const;
  /// True if all threads number their steps.
  bool is_numbered() const;

 private:
  struct Thread {
    bool numbered = true;
    bool estimated = false;
    std::int64_t seen = 0;
    std::int64_t missed = 0;  ///< estimated number of skipped steps
    std::int64_t first_number = 0;
    std::int64_t base_number = 0;  ///< of the step at `base`
    std::int64_t last_number = 0;
    std::int64_t base_seen = 0;
    TimeNs base;  ///< begin of the second step, because the first may be long
    TimeNs last;
    std::int64_t total() const;
    std::int64_t since_base() const;
  };
  std::map<std::int64_t, Thread> threads_;  ///< by global tid
};

}  // namespace headway::cli::live
