// SPDX-License-Identifier: MIT
#include "gui/pages/pair_maker.h"

#include <algorithm>
#include <exception>
#include <new>
#include <thread>

namespace headway::gui {

/// Written by its thread until that ends, read by the UI thread after it has joined it.
struct PairMaker::Job {
  std::shared_ptr<const SessionPair> pair;
  std::string error;
  std::thread thread;

  void run(std::shared_ptr<const Session> a, std::shared_ptr<const Session> b) {
    try {
      pair = make_session_pair(std::move(a), std::move(b));
    } catch (const std::bad_alloc&) {
      error = "There is not enough memory to compare the two traces.";
    } catch (const std::exception& other) {
      error = std::string("The traces could not be compared: ") + other.what();
    }
  }
};

PairMaker::PairMaker(QObject* parent) : QObject(parent) {}

PairMaker::~PairMaker() {
  for (auto& job : jobs_) job->thread.join();
}

void PairMaker::start(std::shared_ptr<const Session> a, std::shared_ptr<const Session> b) {
  jobs_.push_back(std::make_unique<Job>());
  Job* job = current_ = jobs_.back().get();
  job->thread = std::thread([this, job, a = std::move(a), b = std::move(b)]() mutable {
    job->run(std::move(a), std::move(b));
    QMetaObject::invokeMethod(
        this, [this, job] { finish(job); }, Qt::QueuedConnection);
  });
}

/// On the UI thread.
void PairMaker::finish(Job* job) {
  auto found = std::find_if(jobs_.begin(), jobs_.end(),
                            [&](const std::unique_ptr<Job>& one) { return one.get() == job; });
  std::unique_ptr<Job> done = std::move(*found);
  jobs_.erase(found);
  done->thread.join();
  if (current_ != job) return;
  current_ = nullptr;
  if (done->pair) {
    emit made(std::move(done->pair));
  } else {
    emit failed(QString::fromStdString(done->error));
  }
}

}  // namespace headway::gui
