// SPDX-License-Identifier: MIT
#pragma once

#include <QObject>
#include <functional>
#include <thread>

namespace headway::gui {

/// Runs work on a thread of its own, one at a time, and shows what came out on the thread of the
/// object. Of what is asked for meanwhile only the last is done: what the pointer has passed over is
/// no longer wanted.
class BackgroundJob : public QObject {
  Q_OBJECT
 public:
  using Show = std::function<void()>;
  /// Runs on the other thread; must own what it reads.
  using Work = std::function<Show()>;

  explicit BackgroundJob(QObject* parent = nullptr);
  /// Waits for what is under way; nothing is shown any more.
  ~BackgroundJob() override;

  void start(Work work);
  /// What is under way is not shown.
  void drop();
  bool is_running() const { return running_; }

 private:
  void begin(Work work);

  std::thread thread_;
  Work next_;
  bool running_ = false;
  unsigned wanted_ = 0;  ///< number of the job whose outcome is to be shown
};

}  // namespace headway::gui
