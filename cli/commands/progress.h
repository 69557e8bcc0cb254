// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace headway::cli {

/// Shows what a command is doing, for how long, and which share is done, once the work has taken
/// two seconds: one line of standard error, rewritten, and erased by the destructor. Shows nothing
/// where standard error is no terminal.
class Progress {
 public:
  /// `doing`: "reading run.sqlite".
  explicit Progress(std::string doing);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Replaces the text. From any thread.
  void now(std::string doing);
  /// For `trace::LoadOptions::progress`: takes the share that is done, 0 to 1. The function must
  /// not outlive this object.
  std::function<void(double)> share();

 private:
  void draw_until_done();

  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable wait_;
  std::string doing_;
  double share_ = -1;  ///< below 0: unknown
  bool done_ = false;
  std::thread thread_;
};

}  // namespace headway::cli
