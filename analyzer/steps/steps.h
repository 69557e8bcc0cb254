// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/steps/range_names.h"
#include "trace/trace.h"

namespace headway::analyzer {

struct StepOptions {
  /// Name of the ranges that are steps; a trailing '*' matches any ending. Empty: find them.
  std::string range;
  /// Steady steps to drop at the start beyond the automatic warm-up rule; -1: automatic only.
  int skip = -1;
  /// By training thread: steps that begin outside the interval are not steady; they only provide what the steps inside need. On
  /// threads without an entry all steps count.
  std::map<trace::ThreadId, Interval> judged = {};
  /// Mean step time without recording, by the program's own clock; zero: not known.
  DurationNs unrecorded = {};
};

/// One training step of one training thread.
struct Step {
  std::int64_t number = 0;  ///< as the program counts, else 0, 1, … in order
  trace::RangeId range;     ///< the step's range; none when steps were found another way
  trace::ThreadId thread;   ///< the training thread
  Interval host;            ///< on the training thread
  /// Begin of the next step on the thread; the step's own end where the next one was not recorded.
  TimeNs next;
  bool steady =
      true;  ///< false: first, last, cut or warm-up; kept for the timeline, not for figures

  /// The step and the time up to the next one.
  Interval cycle() const { return {host.begin, next}; }
};

/// True when steps between these two neighbours of a thread were not recorded: their numbers have a gap.
inline bool unrecorded_between(const Step& before, const Step& after) {
  return after.number > before.number + 1;
}

/// How the steps were found, in falling order of trust.
enum class StepSource : std::uint8_t {
  kNone,      ///< no steps: figures are over the whole trace
  kDeclared,  ///< ranges that say of themselves that they are steps (headway.range kind=step)
  kNamed,     ///< ranges with a name that means a step ("step", "ProfilerStep#7", "iteration")
  kOption,    ///< ranges the user named
  kPattern,   ///< the longest pattern of ops or launches that repeats and ends with an update
};
std::string_view step_source_id(StepSource source);  ///< "none", "declared", …: stable

struct Steps {
  StepSource source = StepSource::kNone;
  std::string
      how;  ///< a sentence for the report: "120 ranges named 'step' on thread 'main' (declared)"
  std::vector<Step> all;              ///< by start
  std::vector<std::uint32_t> steady;  ///< indexes into `all`: what percentiles are over
  int dropped_warm_up =
      0;  ///< steady steps left out because they were slower than the rest at the start
  /// Step time without recording as a share of a recorded step, from steps in which recording paused. None: not known.
  std::optional<double> unrecorded_share;

  /// Sorted durations of the steady steps in ns, each to the begin of the next, for percentiles.
  std::vector<double> steady_durations_ns() const;
  /// The steps before the first steady one, on the thread whose steady steps begin first: indexes into `all`.
  std::vector<std::uint32_t> before_steady() const;
  /// From when on storage and caches are warm: the begin of the first steady step if warm-up took more than a few steps, else
  /// TimeNs::min().
  TimeNs warm_from() const;
  /// "the first 60 steps are left out as warm-up, 10.3 ms each"; "" when warm-up took few of the steps.
  std::string warm_up_note() const;
};

/// Mean time of a steady step without recording; zero: not known.
DurationNs unrecorded_step(const Steps& steps);

/// Finds the steps. Never throws; a trace without steps gives StepSource::kNone with the reason in
/// `how`.
Steps find_steps(const trace::Trace& trace, const StepOptions& options = {});
/// The same for callers that already have `names`.
Steps find_steps(const trace::Trace& trace, const RangeNames& names, const StepOptions& options);

}  // namespace headway::analyzer
