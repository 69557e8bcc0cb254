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

/// Decides what of a run is recorded. The decoders ask it about each event, by the time at which the
/// event begins; RangeWatch tells it when a window opens and closes. What is defined once (names,
/// schemas, devices, threads) is never asked about. One thread, but for `over`.
class Scope {
 public:
  explicit Scope(const ScopeOptions& options) : options_(options) {
    begin_ = {options.delay.ns};
    if (options.duration) end_ = begin_ + *options.duration;
  }

  const ScopeOptions& options() const { return options_; }
  /// How long records have to wait until it is known whether they are wanted: a window that one
  /// process opens counts for all, and CUPTI tells of launches up to a second late.
  DurationNs hold() const;

  /// Whether an event of the process that begins then is wanted; counts those that are not.
  bool keeps(std::int32_t pid, TimeNs start);
  /// The same for an op of a device: wanted when the call that launched it is.
  bool keeps_launched(std::int32_t pid, TimeNs start, std::uint32_t correlation);
  /// A call of the CUDA API, before any op is asked about that it may have launched.
  void note_call(std::int32_t pid, TimeNs start, std::uint32_t correlation);
  /// Whether a sample of the recorder's is wanted, which stands for the time since the one before
  /// it: when some of that time is inside a window, of whichever process.
  bool keeps_sample(Interval covered) const;

  // Told by RangeWatch, in order of time within one thread.
  void open(std::int32_t pid, TimeNs time);
  void close(std::int32_t pid, TimeNs time);
  /// A step has begun; true when it is wanted.
  bool step_begins(std::int32_t pid, std::int64_t number);
  void step_ended(std::int32_t pid, std::int64_t number, TimeNs time);
  /// By the steps that were chosen; every step where none were.
  bool wants_step(std::int64_t number) const;
  void image_ended(std::int32_t pid, TimeNs time);

  /// kRing: nothing that begins before is wanted.
  void begin_at(TimeNs time) { begin_ = std::max(begin_, time); }
  /// Recording ends here, for the reason that is given.
  void end_at(TimeNs time, std::string_view reason);
  /// A process that wanted to be recorded and was not.
  void left_out_process() { ++processes_left_out_; }
  /// Some process records CUDA.
  void cuda_is_on() { cuda_ = true; }
  /// The clock of the run, now and then: tells when recording is over.
  void advance(TimeNs now);

  /// No event to come is wanted: the program may go on unrecorded. Any thread.
  bool over() const { return over_; }
  /// Where recording ended before the program did; nullopt when it did not.
  std::optional<TimeNs> end() const;
  /// A sentence about what was recorded and what was not; empty when everything was.
  std::string text(TimeNs now) const;
  /// How much of the run is kept; none where nothing is left out by time.
  std::optional<DurationNs> kept(TimeNs now) const;
  /// What HEADWAY_META says about it.
  void describe(TraceSink& sink, TimeNs now, const std::string& typed) const;

 private:
  /// A stretch of one process's time that is wanted.
  struct Window {
    TimeNs begin;
    TimeNs end = TimeNs::max();
    // Of the calls inside; none yet: first > last.
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
    Window whole;            ///< without windows: calls that are wanted
    std::size_t near = 0;    ///< where the last answer was found
    int open = 0;            ///< threads that hold the newest window open
    std::int64_t steps = 0;  ///< that have begun
    std::int64_t steps_wanted = 0;
    std::int64_t last_step = -1;
    bool done = false;  ///< it has ended its last wanted step
    bool gone = false;
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
  /// Stretches in which some process recorded, merged.
  std::vector<Interval> recorded(TimeNs now) const;

  ScopeOptions options_;
  TimeNs begin_;
  TimeNs end_ = TimeNs::max();
  std::string end_reason_;                     ///< as text() says it; empty: the program ended
  std::map<std::int32_t, Process> processes_;  ///< by pid
  bool cuda_ = false;
  std::int64_t left_out_ = 0;
  std::int64_t processes_left_out_ = 0;
  TimeNs done_;  ///< when the last process was done
  std::atomic<bool> over_ = false;
};

}  // namespace headway::record
