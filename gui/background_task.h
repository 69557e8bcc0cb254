// SPDX-License-Identifier: MIT
#pragma once

#include <QObject>
#include <QString>
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

namespace headway::gui {

/// Work on a thread of its own whose result is shown on the UI thread: how everything but loading
/// leaves the UI thread. New work replaces what is under way, whose result is dropped.
class BackgroundTask : public QObject {
  Q_OBJECT
 public:
  /// What to do with the result; runs on the UI thread.
  using Show = std::function<void()>;
  /// Runs on the other thread, so it must own what it reads; should look at `cancelled` now and then.
  /// What it throws becomes failed().
  using Work = std::function<Show(const std::atomic<bool>& cancelled)>;

  explicit BackgroundTask(QObject* parent = nullptr);
  /// Cancels and waits.
  ~BackgroundTask() override;

  /// From the UI thread. Returns at once; a job that is under way is cancelled first.
  void start(Work work);
  /// The result is dropped; the thread runs on until it looks at `cancelled`.
  void cancel();
  bool is_running() const { return current_ != nullptr; }
  /// Of any task in the program: a picture waits until there is none.
  static bool any_running();

 signals:
  void failed(const QString& why);

 private:
  struct Job;
  /// On the UI thread when a job is done: shows its result, unless it was cancelled.
  void poll();

  // Cancelled jobs run on until they notice; they are kept until then.
  std::vector<std::unique_ptr<Job>> jobs_;
  Job* current_ = nullptr;
};

}  // namespace headway::gui
