// SPDX-License-Identifier: MIT
#include "cli/live/follower.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "analyzer/steps/range_names.h"
#include "cli/live/budget.h"
#include "cli/live/measure.h"
#include "cli/live/step_counter.h"
#include "common/error.h"
#include "common/format.h"
#include "trace/load/live.h"
#include "trace/load/load.h"
#include "trace/sqlite/query.h"

namespace headway::cli::live {
namespace {

using std::chrono::milliseconds;
using trace::FileState;
using trace::Recorder;

constexpr std::int64_t kSecond = 1'000'000'000;
/// Of one processor, for reading and for the rules.
constexpr double kReadingShare = 0.0065;
constexpr double kCauseShare = 0.002;
constexpr std::int64_t kReadingCredit = 60'000'000;
constexpr std::int64_t kCauseCredit = 60'000'000;
/// What reading, rules and replays cost an event, until they have been measured.
constexpr std::int64_t kReadNsAnEvent = 1'000;
constexpr std::int64_t kCauseNsAnEvent = 4'000;
/// A stretch has at most about so many events; steps that have more are shown fewer at a time.
constexpr std::int64_t kMostEvents = 300'000;
constexpr std::int64_t kFewestSteps = 8;
/// Without steps, figures are of so much of the run.
constexpr DurationNs kSpan{10 * kSecond};
constexpr std::int64_t kStalledAfter = 20 * kSecond;
/// A recorder writes several times a second; one that does not run here and does not write is gone.
constexpr std::int64_t kGoneAfter = 3 * kSecond;
/// A file that cannot be read may be one that is just being made or finished.
constexpr std::int64_t kBecomesATraceWithin = 10 * kSecond;
constexpr std::int64_t kDiskIsFull = 64 * 1024;

std::string how_it_ended(const std::filesystem::path& file) {
  const trace::sqlite::QueryResult meta = trace::sqlite::query(
      file,
      "SELECT name, value FROM HEADWAY_META WHERE name IN ('exit_code', 'exit_signal') ORDER BY 1",
      {});
  for (const auto& row : meta.rows) {
    const auto* name = std::get_if<std::string>(&row[0]);
    const auto* value = std::get_if<std::string>(&row[1]);
    if (name && value) return (*name == "exit_code" ? "exit code " : "ended by signal ") + *value;
  }
  return "";
}

bool disk_is_full(const std::filesystem::path& file) {
  std::error_code error;
  const std::filesystem::space_info space =
      std::filesystem::space(std::filesystem::absolute(file).parent_path(), error);
  return !error && space.available < kDiskIsFull;
}

}  // namespace

/// What the thread keeps from one look to the next.
struct Follower::Work {
  explicit Work(const FollowOptions& chosen) : options(chosen) {
    figures.file = options.file.string();
  }

  const FollowOptions& options;
  Figures figures;
  StepCounter counter;
  Budget reading{kReadingShare, kReadingCredit};
  Budget causes{kCauseShare, kCauseCredit};
  std::int64_t begun = clock_ns(CLOCK_MONOTONIC);
  FileState seen{""};
  std::int64_t changed = 0;
  std::int64_t failing = 0;  ///< since when reading fails; 0: it does not
  TimeNs newest;
  std::int64_t newest_at = 0;  ///< when that was found
  std::int64_t read_cost = 2'000'000;
  std::int64_t cause_ns_an_event = kCauseNsAnEvent;
  double events_a_second = 0;
  std::int32_t rank = -1;
  bool read_once = false;
  Recorder recorder = Recorder::kRuns;

  /// One look. False when there is nothing more to come.
  bool look() {
    const std::int64_t now = clock_ns(CLOCK_MONOTONIC);
    const FileState state(options.file);
    if (!state.exists()) {
      figures.phase = read_once ? Phase::kCut : Phase::kWaiting;
      figures.note = read_once ? "the trace was removed" : "";
      return !read_once;
    }
    const bool is_new = !(state == seen);
    if (is_new) changed = now;
    figures.quiet = {now - changed};
    figures.elapsed = (newest - TimeNs{0}) + DurationNs{newest_at ? now - newest_at : 0};
    if (!is_new) {
      if (recorder != Recorder::kFinished && now - changed > kGoneAfter)
        check_silence(now - changed);
      return figures.phase != Phase::kCut;
    }
    if (!reading.allows(now - begun, read_cost)) return true;
    try {
      read(now);
      seen = state;
      failing = 0;
    } catch (const Error& error) {
      if (failing == 0) failing = now;
      if (now - failing > kBecomesATraceWithin) {
        figures.phase = Phase::kFailed;
        figures.note = error.what();
        return false;
      }
    }
    return recorder != Recorder::kFinished;
  }

  void check_silence(std::int64_t quiet) {
    try {
      recorder = trace::recording_progress(options.file).recorder;
    } catch (const Error&) {  // just then it is being finished
      return;
    }
    if (recorder == Recorder::kGone) {
      figures.phase = Phase::kCut;
      figures.note = "the recorder is gone";
    } else if (disk_is_full(options.file)) {
      figures.phase = Phase::kStalled;
      figures.note = "the disk is full: the run goes on, what it does is not recorded";
    } else if (quiet > kStalledAfter) {
      figures.phase = Phase::kStalled;
      figures.note = "nothing new, though the recorder runs";
    }
  }

  void read(std::int64_t now) {
    const std::int64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    const trace::RecordingProgress progress = trace::recording_progress(options.file);
    recorder = progress.recorder;
    const bool ended = recorder == Recorder::kFinished;
    const std::int64_t before = std::exchange(newest_at, now);
    const DurationNs grown = progress.newest - std::exchange(newest, progress.newest);
    figures.elapsed = newest - TimeNs{0};
    figures.phase = ended ? Phase::kEnded : Phase::kRunning;
    figures.note = ended ? how_it_ended(options.file) : "";
    // The last second of a run that was followed changes nothing any more.
    if (ended && before != 0) return;
    trace::LoadOptions load;
    load.threads = 1;
    if (const std::optional<Interval> stretch = next_stretch(grown)) load.stretch = stretch;
    trace::Trace trace = trace::load(options.file, load);
    const analyzer::RangeNames names(trace);
    analyzer::StepOptions choice = options.steps;
    // Only the begin of a run has warm-up steps.
    if (load.stretch && load.stretch->begin.ns > 0) choice.skip = 0;
    const analyzer::Steps steps = analyzer::find_steps(trace, names, choice);
    learn(trace, steps, load.stretch);
    analyzer::Steps last = steps;
    keep_last(last, options.last);
    measure(trace, last, names, rank, figures);
    read_once = true;
    const std::int64_t after_reading = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    // About as much again, unless the first reading was of the whole run.
    read_cost = before == 0 ? std::min(after_reading - cpu, 4 * read_cost) : after_reading - cpu;
    reading.spend(after_reading - cpu);
    const auto events = static_cast<std::int64_t>(trace.event_count());
    const bool enough = figures.steps_now >= kFewestSteps ||
                        (steps.all.empty() && figures.elapsed.ns > 20 * kSecond);
    if (!options.causes || !enough || events == 0 ||
        !causes.allows(now - begun, events * cause_ns_an_event))
      return;
    try {
      figures.cause = find_cause(std::move(trace), choice, rank);
    } catch (const Error&) {  // nothing that the rules could judge yet
    }
    const std::int64_t cost = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - after_reading;
    causes.spend(cost);
    cause_ns_an_event = std::max<std::int64_t>(cost / events, 1);
  }

  /// The stretch that has the last steps and, where steps are not numbered, all since the last one
  /// that was counted. None: the whole file.
  std::optional<Interval> next_stretch(DurationNs grown) const {
    constexpr TimeNs kEnd{std::int64_t{1} << 60};
    const std::int64_t newest_ns = newest.ns;
    if (!read_once) {
      if (newest_ns <= 60 * kSecond) return std::nullopt;
      return Interval{TimeNs{newest_ns - 30 * kSecond}, kEnd};
    }
    const std::int64_t room =
        events_a_second > 0
            ? static_cast<std::int64_t>(static_cast<double>(kMostEvents) / events_a_second *
                                        static_cast<double>(kSecond))
            : 60 * kSecond;
    std::int64_t length = kSpan.ns;
    if (figures.steps_now > 0) {
      // First and last step of a stretch are left out; one may be under way.
      length = std::clamp(figures.step_now.ns * (options.last + 4), kSecond,
                          std::max(room, figures.step_now.ns * 4));
      if (!counter.is_numbered()) {
        const std::int64_t since = newest_ns - counter.newest().ns + 3 * figures.step_now.ns;
        length = std::max(length, std::min({since, room, 2 * grown.ns + length}));
      }
    } else {
      length = std::min(std::max(newest_ns, kSpan.ns), std::max(room, kSpan.ns));
    }
    if (newest_ns <= length) return std::nullopt;
    return Interval{TimeNs{newest_ns - length}, kEnd};
  }

  void learn(const trace::Trace& trace, const analyzer::Steps& steps,
             const std::optional<Interval>& stretch) {
    counter.add(trace, steps);
    const StepCounter::Count count = counter.count();
    figures.steps_done = count.done;
    figures.step_run = count.cost;
    figures.steps_run = count.over;
    figures.steps_are_estimated = count.estimated;
    const double seconds =
        (newest - (stretch ? std::max(stretch->begin, TimeNs{0}) : TimeNs{0})).seconds();
    if (seconds > 0) events_a_second = static_cast<double>(trace.event_count()) / seconds;
  }

  /// Of each thread the last `most` steady steps stay steady.
  static void keep_last(analyzer::Steps& steps, std::int64_t most) {
    std::map<trace::ThreadId, std::int64_t> kept;
    for (auto step = steps.all.rbegin(); step != steps.all.rend(); ++step)
      if (step->steady) step->steady = ++kept[step->thread] <= most;
    std::erase_if(steps.steady, [&](std::uint32_t index) { return !steps.all[index].steady; });
  }
};

Follower::Follower(FollowOptions options) : options_(std::move(options)) {
  figures_.file = options_.file.string();
  thread_ = std::thread([this] {
    Work work(options_);
    for (bool more = true; more;) {
      try {
        more = work.look();
      } catch (const std::exception& error) {
        work.figures.phase = Phase::kFailed;
        work.figures.note = error.what();
        more = false;
      }
      std::unique_lock lock(mutex_);
      figures_ = work.figures;
      const milliseconds pause(work.figures.phase == Phase::kWaiting ? 300 : 1000);
      if (wait_.wait_for(lock, pause, [&] { return stop_; })) return;
    }
  });
}

Follower::~Follower() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wait_.notify_all();
  thread_.join();
}

Figures Follower::figures() const {
  std::lock_guard lock(mutex_);
  return figures_;
}

}  // namespace headway::cli::live
