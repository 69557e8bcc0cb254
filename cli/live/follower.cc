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
/// Shares of one processor, for reading and for the rules.
constexpr double kReadingShare = 0.0045;
constexpr double kCauseShare = 0.002;
constexpr std::int64_t kReadingCredit = 30'000'000;
constexpr std::int64_t kCauseCredit = 70'000'000;
/// Estimated cost per event of reading, and of rules and replays, until it is measured.
constexpr std::int64_t kReadNsAnEvent = 1'000;
constexpr std::int64_t kCauseNsAnEvent = 4'000;
/// A look reads about this many events. If the steps have more, the figures are of fewer steps.
constexpr std::int64_t kLookEvents = 12'000;
/// The rules look at about this many events, but at no fewer steps than kFewestSteps.
constexpr double kCauseEvents = 15'000;
constexpr std::int64_t kFewestSteps = 8;
/// A file that is smaller than this when it is first seen is read completely.
constexpr std::int64_t kSmallFile = 16'000'000;
constexpr TimeNs kEnd{std::int64_t{1} << 60};
/// Without steps, the figures are of the last part of the run, of this length.
constexpr DurationNs kSpan{5 * kSecond};
constexpr std::int64_t kStalledAfter = 20 * kSecond;
/// A recorder writes several times a second. If it does not run on this machine and does not write
/// for this long, it is gone.
constexpr std::int64_t kGoneAfter = 3 * kSecond;
/// A file that cannot be read may be one that is being created or finished.
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

/// The state that the thread keeps from one look to the next.
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
  std::int64_t failing = 0;  ///< since when reading fails; 0: it does not fail
  TimeNs newest;
  std::int64_t newest_at = 0;  ///< when `newest` was found
  std::int64_t read_cost = 2'000'000;
  std::int64_t cause_ns_an_event = kCauseNsAnEvent;
  double events_a_second = 0;
  std::int32_t rank = -1;
  bool read_once = false;
  Recorder recorder = Recorder::kRuns;

  /// One look at the file. False when nothing more will come.
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
      read(now,
           std::max<std::int64_t>(state.bytes, 0) + std::max<std::int64_t>(state.log_bytes, 0));
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
    } catch (const Error&) {  // the file is being finished at this moment
      return;
    }
    if (recorder == Recorder::kGone) {
      figures.phase = Phase::kCut;
      figures.note = "the recorder is gone";
    } else if (disk_is_full(options.file)) {
      figures.phase = Phase::kStalled;
      figures.note = "the disk is full: the run continues, but is no longer recorded";
    } else if (quiet > kStalledAfter) {
      figures.phase = Phase::kStalled;
      figures.note = "no new data, although the recorder runs";
    }
  }

  void read(std::int64_t now, std::int64_t bytes) {
    const std::int64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    const trace::RecordingProgress progress = trace::recording_progress(options.file);
    recorder = progress.recorder;
    const bool ended = recorder == Recorder::kFinished;
    const std::int64_t before = std::exchange(newest_at, now);
    const DurationNs grown = progress.newest - std::exchange(newest, progress.newest);
    figures.elapsed = newest - TimeNs{0};
    figures.phase = ended ? Phase::kEnded : Phase::kRunning;
    figures.note = ended ? how_it_ended(options.file) : "";
    // The last second of a run that was followed does not change the figures.
    if (ended && before != 0) return;
    const std::optional<Interval> stretch = next_stretch(grown, bytes);
    trace::Trace trace = load(stretch);
    const analyzer::RangeNames names(trace);
    analyzer::StepOptions choice = options.steps;
    // Only the beginning of a run has warm-up steps.
    if (stretch) choice.skip = 0;
    const analyzer::Steps steps = analyzer::find_steps(trace, names, choice);
    learn(trace, steps, stretch);
    analyzer::Steps last = steps;
    keep_last(last, options.last);
    measure(trace, last, names, rank, figures);
    read_once = true;
    const std::int64_t cost = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    // The first look may have read the whole run; the next one costs less.
    read_cost = before == 0 ? std::min(cost, 4 * read_cost) : cost;
    reading.spend(cost);
    if (options.causes && trace.event_count() > 0) ask_rules(now, std::move(trace), choice);
  }

  trace::Trace load(const std::optional<Interval>& stretch) const {
    trace::LoadOptions load_options;
    load_options.threads = 1;
    load_options.stretch = stretch;
    return trace::load(options.file, load_options);
  }

  /// Runs the rules on the stretch that was just read or, if it has too few steps, on a longer one.
  void ask_rules(std::int64_t now, trace::Trace trace, const analyzer::StepOptions& choice) {
    if (figures.steps_now == 0 && figures.elapsed.ns < 20 * kSecond) return;
    auto events = static_cast<std::int64_t>(trace.event_count());
    const double events_of_step = events_a_second * figures.step_now.seconds();
    const std::int64_t wanted =
        figures.steps_now == 0
            ? 0
            : std::clamp(static_cast<std::int64_t>(kCauseEvents / std::max(events_of_step, 1.0)),
                         kFewestSteps, std::max(options.last, kFewestSteps));
    const bool longer = figures.steps_now < wanted;
    // Waits until the run has this many steps.
    if (longer && figures.steps_done < wanted + 4) return;
    if (longer)
      events = static_cast<std::int64_t>(events_of_step * static_cast<double>(wanted + 4));
    const std::int64_t expected = events * (cause_ns_an_event + (longer ? kReadNsAnEvent : 0));
    if (!causes.allows(now - begun, expected)) return;
    const std::int64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (longer) trace = load(Interval{newest - figures.step_now * (wanted + 4), kEnd});
    events = std::max<std::int64_t>(1, static_cast<std::int64_t>(trace.event_count()));
    const std::int64_t loaded = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    try {
      figures.cause = find_cause(std::move(trace), choice, rank);
    } catch (const Error&) {  // the rules have nothing to judge yet
    }
    const std::int64_t done = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    causes.spend(done - cpu);
    cause_ns_an_event = (done - loaded) / events + 1;
  }

  /// The stretch with the last steps and, where steps are not numbered, all steps since the last
  /// one that was counted, as far as one look can read them. None: the whole file.
  std::optional<Interval> next_stretch(DurationNs grown, std::int64_t bytes) const {
    const DurationNs recorded = newest - TimeNs{0};
    // The length of the next stretch follows from the known rate of the run.
    if (!read_once && bytes < kSmallFile) return std::nullopt;
    DurationNs length{3 * kSecond};
    if (read_once) {
      DurationNs room{60 * kSecond};
      if (events_a_second > 0)
        room = {static_cast<std::int64_t>(static_cast<double>(kLookEvents) / events_a_second *
                                          static_cast<double>(kSecond))};
      if (figures.steps_now > 0) {
        // The first and last step of a stretch are left out; one may be unfinished.
        length = std::max(figures.step_now * (options.last + 4), DurationNs{kSecond});
        if (!counter.is_numbered())
          length =
              std::max(length, std::max(newest - counter.newest(), grown) + figures.step_now * 3);
        length = std::min(length, std::max(room, figures.step_now * 6));
      } else {
        length = std::max(std::min(recorded, room), kSpan);
      }
    }
    if (recorded <= length) return std::nullopt;
    return Interval{newest - length, kEnd};
  }

  void learn(const trace::Trace& trace, const analyzer::Steps& steps,
             const std::optional<Interval>& stretch) {
    counter.add(trace, steps);
    const StepCounter::Count count = counter.count();
    figures.steps_done = count.done;
    figures.step_run = count.cost;
    figures.steps_run = count.over;
    figures.steps_are_estimated = count.estimated;
    const double seconds = (newest - (stretch ? stretch->begin : TimeNs{0})).seconds();
    if (seconds > 0) events_a_second = static_cast<double>(trace.event_count()) / seconds;
  }

  /// Keeps only the last `most` steady steps of each thread steady.
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
      found_ns_ = clock_ns(CLOCK_MONOTONIC);
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
  Figures figures = figures_;
  // The next look may be in progress.
  if (figures.phase == Phase::kRunning && figures.elapsed.ns > 0)
    figures.elapsed += DurationNs{clock_ns(CLOCK_MONOTONIC) - found_ns_};
  return figures;
}

}  // namespace headway::cli::live
