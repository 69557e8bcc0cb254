// SPDX-License-Identifier: MIT
#include "gui/timeline/background_task.h"

#include <exception>
#include <mutex>
#include <new>
#include <thread>

namespace headway::gui {
namespace {

int tasks_running = 0;  // touched on the UI thread only

}  // namespace

/// The data shared by the two threads. The Qt event only wakes the UI thread; the mutex guards the
/// values.
struct BackgroundTask::Job {
  std::atomic<bool> cancelled = false;
  std::mutex mutex;
  // guarded by `mutex`
  bool done = false;
  Show show;
  std::string error;
  std::thread thread;

  void finish(Show result, std::string message) {
    std::lock_guard lock(mutex);
    show = std::move(result);
    error = std::move(message);
    done = true;
  }
  void run(const Work& work) {
    try {
      finish(work(cancelled), "");
    } catch (const std::bad_alloc&) {
      finish(nullptr, "Not enough memory.");
    } catch (const std::exception& failure) {
      finish(nullptr, failure.what());
    }
  }
};

BackgroundTask::BackgroundTask(QObject* parent) : QObject(parent) {}

BackgroundTask::~BackgroundTask() {
  cancel();
  for (auto& job : jobs_) job->thread.join();
}

bool BackgroundTask::any_running() {
  return tasks_running > 0;
}

void BackgroundTask::start(Work work) {
  cancel();
  jobs_.push_back(std::make_unique<Job>());
  Job* job = current_ = jobs_.back().get();
  ++tasks_running;
  job->thread = std::thread([this, job, work = std::move(work)] {
    job->run(work);
    QMetaObject::invokeMethod(
        this, [this] { poll(); }, Qt::QueuedConnection);
  });
}

void BackgroundTask::cancel() {
  if (!current_) return;
  current_->cancelled = true;
  current_ = nullptr;
  --tasks_running;
}

/// Runs on the UI thread: destroys finished jobs and shows the result of the current one.
void BackgroundTask::poll() {
  std::unique_ptr<Job> finished;
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    std::unique_lock lock((*job)->mutex);
    bool done = (*job)->done;
    lock.unlock();
    if (!done) {
      ++job;
      continue;
    }
    (*job)->thread.join();
    if (job->get() == current_) finished = std::move(*job);
    job = jobs_.erase(job);
  }
  if (!finished) return;
  current_ = nullptr;
  --tasks_running;
  if (finished->show) {
    finished->show();
  } else if (!finished->error.empty()) {
    emit failed(QString::fromStdString(finished->error));
  }
}

}  // namespace headway::gui
