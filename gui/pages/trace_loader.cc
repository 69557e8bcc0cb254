// SPDX-License-Identifier: MIT
#include "gui/pages/trace_loader.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>

#include "common/allocator.h"
#include "gui/models/opening/memory_room.h"
#include "gui/models/opening/trace_cache.h"
#include "trace/load/live.h"

namespace headway::gui {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using trace::FileState;

struct Cancelled {};

constexpr milliseconds kShortestPeriod{1500};
/// Reading again takes at most one part in this many of the time, so that following does not slow
/// down the recorded program.
constexpr int kPeriodsPerRead = 5;
/// The recorder writes counters at least every second.
constexpr milliseconds kStalledAfter{20'000};
/// An existing file that is not a trace yet may become one within this time.
constexpr milliseconds kBecomesATraceWithin{10'000};

}  // namespace

/// The data shared by the two threads. The Qt event only wakes the UI thread; the mutex guards the
/// values.
struct TraceLoader::Job {
  enum class Kind : std::uint8_t { kLooked, kLoaded, kGrown, kStalled, kFailed };
  struct Report {
    Kind kind = Kind::kFailed;
    std::shared_ptr<const Session> session;
    std::string error;
    ExitCode code = ExitCode::kInternal;
    Interval stretch;
  };

  OpenRequest request;
  std::function<void()> wake;
  std::atomic<bool> cancelled = false;
  std::mutex mutex;
  std::condition_variable wait;
  // guarded by `mutex`
  bool done = false;
  std::string what;
  double share = 0;
  std::vector<Report> reports;
  std::thread thread;

  void cancel() {
    std::lock_guard lock(mutex);
    cancelled = true;
    wait.notify_all();
  }

  void post(Report report) {
    {
      std::lock_guard lock(mutex);
      reports.push_back(std::move(report));
    }
    wake();
  }

  void progress(std::string_view stage, double part) {
    if (cancelled) throw Cancelled();
    {
      std::lock_guard lock(mutex);
      what = stage;
      share = part;
    }
    wake();
  }

  void sleep(Clock::duration time) {
    std::unique_lock lock(mutex);
    wait.wait_for(lock, time, [&] { return cancelled.load(); });
    if (cancelled) throw Cancelled();
  }

  void run() {
    std::string name =
        request.source.files.empty() ? std::string() : request.source.files[0].string();
    try {
      open();
    } catch (const Cancelled&) {  // nobody waits for the result
    } catch (const TooLarge& too_large) {
      post({Kind::kFailed, nullptr, too_large.what(), too_large.code(), too_large.stretch()});
    } catch (const Error& error) {
      post({Kind::kFailed, nullptr, error.what(), error.code(), {}});
    } catch (const std::bad_alloc&) {
      post({Kind::kFailed,
            nullptr,
            name + ": not enough memory to load this trace. Close other programs, or open a time "
                   "range with --load-range.",
            ExitCode::kInternal,
            {}});
    } catch (const std::exception& other) {
      post({Kind::kFailed,
            nullptr,
            name + ": internal error: " + other.what(),
            ExitCode::kInternal,
            {}});
    }
    {
      std::lock_guard lock(mutex);
      done = true;
    }
    wake();
  }

  std::shared_ptr<const Session> read(const FirstLook& look) {
    const KeptMemory kept;
    return open_session(
        request.source, request.analysis,
        [this](std::string_view stage, double part) { progress(stage, part); }, look);
  }

  void open() {
    std::shared_ptr<const Session> session =
        request.follow ? wait_for_first() : read([this](std::shared_ptr<const Session> first) {
          post({Kind::kLooked, std::move(first), "", ExitCode::kOk, {}});
        });
    post({Kind::kLoaded, session, "", ExitCode::kOk, {}});
    if (request.follow) session = follow(std::move(session));
    if (!session->keep_as) return;
    TraceCache(request.source.cache_folder).store(session->trace, *session->keep_as, [this] {
      return !cancelled;
    });
  }

  const std::filesystem::path& file() const { return request.source.files.at(0); }

  std::shared_ptr<const Session> wait_for_first() {
    while (!FileState(file()).exists()) {
      progress("Waiting for the recording to begin", 0);
      sleep(milliseconds(300));
    }
    for (const Clock::time_point begin = Clock::now();;) {
      try {
        return read({});
      } catch (const Error&) {
        if (Clock::now() - begin > kBecomesATraceWithin) throw;
      }
      sleep(milliseconds(300));
    }
  }

  /// Follows the recording until it ends. Returns its last state.
  std::shared_ptr<const Session> follow(std::shared_ptr<const Session> session) {
    FileState seen(file());
    Clock::time_point changed = Clock::now();
    Clock::duration period = kShortestPeriod;
    std::optional<Clock::time_point> failing;  // since when reading fails
    bool stalled = false;
    while (session->recording) {
      sleep(period);
      FileState now(file());
      if (now == seen) {
        if (!stalled && Clock::now() - changed > kStalledAfter)
          post({Kind::kStalled, nullptr, "", ExitCode::kOk, {}});
        stalled = stalled || Clock::now() - changed > kStalledAfter;
        continue;
      }
      seen = now;
      changed = Clock::now();
      stalled = false;
      try {
        session = read({});
        failing.reset();
      } catch (const Error&) {
        // The recorder may be merging two files into one at this moment.
        if (!failing) failing = Clock::now();
        if (Clock::now() - *failing > kBecomesATraceWithin) throw;
        seen = FileState("");
        continue;
      }
      period =
          std::max<Clock::duration>(kShortestPeriod, kPeriodsPerRead * (Clock::now() - changed));
      post({Kind::kGrown, session, "", ExitCode::kOk, {}});
    }
    return session;
  }
};

TraceLoader::TraceLoader(QObject* parent) : QObject(parent) {}

TraceLoader::~TraceLoader() {
  for (auto& job : jobs_) job->cancel();
  for (auto& job : jobs_) job->thread.join();
  if (disposer_.joinable()) disposer_.join();
}

void TraceLoader::start(OpenRequest request) {
  cancel();
  jobs_.push_back(std::make_unique<Job>());
  Job* job = current_ = jobs_.back().get();
  loaded_ = false;
  job->request = std::move(request);
  job->wake = [this] {
    QMetaObject::invokeMethod(
        this, [this] { poll(); }, Qt::QueuedConnection);
  };
  job->thread = std::thread([job] { job->run(); });
}

void TraceLoader::cancel() {
  if (current_) current_->cancel();
  current_ = nullptr;
}

void TraceLoader::dispose(std::shared_ptr<const Session> session) {
  if (!session) return;
  if (disposer_.joinable()) disposer_.join();
  disposer_ = std::thread([held = std::move(session)]() mutable {
    held.reset();
    give_back_freed_memory();
  });
}

/// Runs on the UI thread: reports on the current job and destroys finished ones.
void TraceLoader::poll() {
  if (current_) report(*current_);
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    std::unique_lock lock((*job)->mutex);
    bool buried = (*job)->done && ((*job)->reports.empty() || job->get() != current_);
    lock.unlock();
    if (!buried) {
      ++job;
      continue;
    }
    (*job)->thread.join();
    if (job->get() == current_) current_ = nullptr;
    job = jobs_.erase(job);
  }
}

/// Handlers may start another job or cancel this one, so `job` is not used after a signal.
void TraceLoader::report(Job& job) {
  std::vector<Job::Report> reports;
  QString what;
  double share = 0;
  {
    std::lock_guard lock(job.mutex);
    reports.swap(job.reports);
    what = QString::fromStdString(job.what);
    share = job.share;
  }
  const Job* const reported = &job;
  for (Job::Report& one : reports) {
    if (current_ != reported) return;
    switch (one.kind) {
      case Job::Kind::kLooked:
        emit looked(std::move(one.session));
        break;
      case Job::Kind::kLoaded:
        loaded_ = true;
        emit loaded(std::move(one.session));
        break;
      case Job::Kind::kGrown:
        emit grown(std::move(one.session));
        break;
      case Job::Kind::kStalled:
        emit stalled();
        break;
      case Job::Kind::kFailed:
        current_ = nullptr;
        emit failed(QString::fromStdString(one.error), one.code, one.stretch);
        break;
    }
  }
  if (current_ == reported && !loaded_) emit progressed(what, share);
}

}  // namespace headway::gui
