// SPDX-License-Identifier: MIT
#include "gui/pages/background_job.h"

#include <utility>

namespace headway::gui {

BackgroundJob::BackgroundJob(QObject* parent) : QObject(parent) {}

BackgroundJob::~BackgroundJob() {
  if (thread_.joinable()) thread_.join();
}

void BackgroundJob::start(Work work) {
  ++wanted_;
  if (running_) {
    next_ = std::move(work);
  } else {
    begin(std::move(work));
  }
}

void BackgroundJob::drop() {
  ++wanted_;
  next_ = nullptr;
}

void BackgroundJob::begin(Work work) {
  if (thread_.joinable()) thread_.join();  // it has ended; its outcome was handed over last
  running_ = true;
  thread_ = std::thread([this, work = std::move(work), number = wanted_] {
    Show show = work();
    QMetaObject::invokeMethod(
        this,
        [this, show = std::move(show), number] {
          running_ = false;
          if (number == wanted_) show();
          if (!running_ && next_) begin(std::exchange(next_, nullptr));
        },
        Qt::QueuedConnection);
  });
}

}  // namespace headway::gui
