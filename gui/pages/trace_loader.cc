// SPDX-License-Identifier: MIT
#include "gui/pages/trace_loader.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <thread>

namespace headway::gui {
namespace {

struct Cancelled {};

}  // namespace

/// What the two threads share. Qt's event only wakes the UI thread up; the values go through the
/// mutex.
struct TraceLoader::Job {
  std::filesystem::path path;
  analyzer::AnalysisOptions options;
  std::atomic<bool> cancelled = false;
  std::mutex mutex;
  // guarded by `mutex`
  bool done = false;
  std::string what;
  double share = 0;
  std::shared_ptr<const Session> session;
  std::string error;
  ExitCode error_code = ExitCode::kInternal;
  std::thread thread;

  template <class Wake>
  void run(Wake wake) {
    auto finish = [&](std::shared_ptr<const Session> result, std::string message, ExitCode code) {
      std::lock_guard lock(mutex);
      session = std::move(result);
      error = std::move(message);
      error_code = code;
      done = true;
    };
    try {
      finish(open_session(path, options,
                          [&](std::string_view stage, double part) {
                            if (cancelled) throw Cancelled();
                            {
                              std::lock_guard lock(mutex);
                              what = stage;
                              share = part;
                            }
                            wake();
                          }),
             "", ExitCode::kOk);
    } catch (const Cancelled&) {
      finish(nullptr, "Cancelled.", ExitCode::kOk);
    } catch (const Error& error_from_file) {
      finish(nullptr, error_from_file.what(), error_from_file.code());
    } catch (const std::bad_alloc&) {
      finish(nullptr,
             path.string() +
                 ": there is not enough memory to load this trace. Close other "
                 "programs, or record fewer steps.",
             ExitCode::kInternal);
    } catch (const std::exception& other) {
      finish(nullptr, path.string() + ": internal error: " + other.what(), ExitCode::kInternal);
    }
    wake();
  }
};

TraceLoader::TraceLoader(QObject* parent) : QObject(parent) {}

TraceLoader::~TraceLoader() {
  for (auto& job : jobs_) job->cancelled = true;
  for (auto& job : jobs_) job->thread.join();
}

void TraceLoader::start(const std::filesystem::path& path,
                        const analyzer::AnalysisOptions& options) {
  cancel();
  jobs_.push_back(std::make_unique<Job>());
  Job* job = current_ = jobs_.back().get();
  job->path = path;
  job->options = options;
  job->thread = std::thread([this, job] {
    job->run([this] {
      QMetaObject::invokeMethod(
          this, [this] { poll(); }, Qt::QueuedConnection);
    });
  });
}

void TraceLoader::cancel() {
  if (current_) current_->cancelled = true;
  current_ = nullptr;
}

/// On the UI thread: reports on the current job and buries finished ones.
void TraceLoader::poll() {
  std::unique_ptr<Job> finished;
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    std::unique_lock lock((*job)->mutex);
    bool done = (*job)->done;
    bool is_current = job->get() == current_;
    QString what = QString::fromStdString((*job)->what);
    double share = (*job)->share;
    lock.unlock();
    if (is_current && !done) emit progressed(what, share);
    if (!done) {
      ++job;
      continue;
    }
    (*job)->thread.join();
    if (is_current) finished = std::move(*job);
    job = jobs_.erase(job);
  }
  if (!finished) return;
  current_ = nullptr;
  if (finished->session) {
    emit loaded(std::move(finished->session));
  } else {
    emit failed(QString::fromStdString(finished->error), finished->error_code);
  }
}

}  // namespace headway::gui
