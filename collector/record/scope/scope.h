// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collector/record/scope/options.h"
#include "common/time.h"

namespace headway::record {

class TraceSink;

/// Decides which part of a run is recorded. A window is a span of time in which events of a process
/// are wanted. RangeWatch reports when a window opens and closes. The decoders ask about each event,
/// by its begin. Definitions (names, schemas, devices, threads) are always recorded. Not thread-safe,
/// except for over().
class Scope {
 public:
  explicit Scope(const ScopeOptions& options) : options_(options) {
    begin_ = {options.delay.ns};
    if (options.duration) end_ = begin_ + *options.duration;
  }

  const ScopeOptions& options() const { return options_; }
  /// How long records must be held back before it is known whether they are wanted: a window of one
  /// process can apply to others, and CUPTI reports launches up to a second late.
  DurationNs hold() const;

  /// Whether an event of process `pid` that begins at `start` is wanted. Counts unwanted events.
  bool keeps(std::int32_t pid, TimeNs start);
  /// The same for a device op: it is wanted when the call that launched it is wanted.
  bool keeps_launched(std::int32_t pid, TimeNs start, std::uint32_t correlation);
  /// Reports a call of the CUDA API. Call it before keeps_launched() for the ops of that call.
  void note_call(std::int32_t pid, TimeNs start, std::uint32_t correlation);
  /// Whether a counter sample is wanted. `covered` is the time since the previous sample. The sample
  /// is wanted when `covered` overlaps a window of any process.
  bool keeps_sample(Interval covered) const;

  // Called by RangeWatch, in order of time within one thread.
  void open(std::int32_t pid, TimeNs time);
  void close(std::int32_t pid, TimeNs time);
  /// A step has begun; true when it is wanted.
  bool step_begins(std::int32_t pid, std::int64_t number);
  void step_ended(std::int32_t pid, std::int64_t number, TimeNs time);
  /// Whether the options choose the step; every step when they choose no steps.
  bool wants_step(std::int64_t number) const;
  /// The process has ended, or has replaced its program (exec). Closes its open window.
  void image_ended(std::int32_t pid, TimeNs time);

  /// For kRing: events that begin before `time` are not wanted.
  void begin_at(TimeNs time) { begin_ = std::max(begin_, time); }
  /// Ends the recording at `time`; `reason` is for text().
  void end_at(TimeNs time, std::string_view reason);
  /// Counts a process that asked to be recorded but is not wanted.
  void left_out_process() { ++processes_left_out_; }
  /// At least one process records CUDA, so records may come late.
  void cuda_is_on() { cuda_ = true; }
  /// Call it regularly with the current time of the run. Detects when recording is over.
  void advance(TimeNs now);

  /// True when no later event is wanted: the program may continue unrecorded. May be called from any
  /// thread.
  bool over() const { return over_; }
  /// When recording ended, if it ended before the program; else nullopt.
  std::optional<TimeNs> end() const;
  /// A sentence about what was recorded and what was not; empty when everything was recorded.
  std::string text(TimeNs now) const;
  /// How much of the run's time is recorded; nullopt when the options leave no time out.
  std::optional<DurationNs> kept(TimeNs now) const;
  /// Writes the rows about the scope to HEADWAY_META. `typed`: the options as the user typed them.
  void describe(TraceSink& sink, TimeNs now, const std::string& typed) const;

 private:
  /// A span of time in which events of one process are wanted.
  struct Window {
    TimeNs begin;
    TimeNs end = TimeNs::max();
    // Range of the correlation ids of the calls in this window; first > last: no call yet.
    std::uint32_t first_call = UINT32_MAX;
    std::uint32_t last_call = 0;
    void note(std::uint32_t correlation) {
      first_call = std::min(first_call, correlation);
      last_call = std::max(last_call, correlation);
    }
    bool launched(std::uint32_t correlation) const {
      return first_call <= correlation && correlation <= last_call;
    }
  };
  struct Process {
    std::vector<Window> windows;
    Window whole;            ///< wanted calls, where only time decides and there are no windows
    std::size_t near = 0;    ///< index of the window that find() returned last
    int open = 0;            ///< number of threads that hold the newest window open
    std::int64_t steps = 0;  ///< number of steps that have begun
    std::int64_t steps_wanted = 0;
    std::int64_t last_step = -1;
    bool done = false;  ///< its last wanted step has ended
    bool gone = false;  ///< see image_ended()
  };
  static Window* find(Process& process, TimeNs time);
  static bool touches(const Process& process, Interval span);
  bool in_windows(std::int32_t pid, TimeNs time);
  bool leave_out() {
    ++left_out_;
    return false;
  }
  std::string choice_text() const;
  std::string span_text() const;
  /// The spans in which at least one process was recorded, merged.
  std::vector<Interval> recorded(TimeNs now) const;

  ScopeOptions options_;
  TimeNs begin_;
  TimeNs end_ = TimeNs::max();
  std::string end_reason_;                     ///< used by text(); empty: the program ended
  std::map<std::int32_t, Process> processes_;  ///< by pid
  bool cuda_ = false;
  std::int64_t left_out_ = 0;  ///< events
  std::int64_t processes_left_out_ = 0;
  TimeNs done_;  ///< end of the last wanted step, over all processes that are done
  std::atomic<bool> over_ = false;
};

}  // namespace headway::record
