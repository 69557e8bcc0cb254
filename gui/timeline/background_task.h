// SPDX-License-Identifier: MIT
#pragma once

#include <QObject>
#include <QString>
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

namespace headway::gui {

/// Runs work on a thread of its own and shows its result on the UI thread. Everything except
/// loading uses it to leave the UI thread. New work replaces running work, whose result is dropped.
class BackgroundTask : public QObject {
  Q_OBJECT
 public:
  /// Shows the result; runs on the UI thread.
  using Show = std::function<void()>;
  /// Runs on the other thread, so it must own the data that it reads. It should check `cancelled`
  /// now and then. An exception becomes failed().
  using Work = std::function<Show(const std::atomic<bool>& cancelled)>;

  explicit BackgroundTask(QObject* parent = nullptr);
  /// Cancels running work and waits for its end.
  ~BackgroundTask() override;

  /// Call on the UI thread. Returns at once; running work is cancelled first.
  void start(Work work);
  /// Drops the result; the thread runs on until it checks `cancelled`.
  void cancel();
  bool is_running() const { return current_ != nullptr; }
  /// True if any task in the program is running: screenshots wait for this to become false.
  static bool any_running();

 signals:
  void failed(const QString& why);

 private:
  struct Job;
  /// Runs on the UI thread when a job is done: shows its result, unless it was cancelled.
  void poll();

  // Cancelled jobs run on until they notice; they are kept until then.
  std::vector<std::unique_ptr<Job>> jobs_;
  Job* current_ = nullptr;
};

}  // namespace headway::gui
