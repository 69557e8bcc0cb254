// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "analyzer/steps/steps.h"
#include "cli/live/figures.h"

namespace headway::cli::live {

struct FollowOptions {
  std::filesystem::path file;
  analyzer::StepOptions steps;
  std::int64_t last = 20;  ///< steps that "now" is over
  bool causes = true;      ///< also ask the report's rules
};

/// Follows a trace that is being recorded, on a thread of its own: every second it reads the stretch
/// with the last steps, as long as that and the rules stay within about one hundredth of a processor.
/// The file may not exist yet.
class Follower {
 public:
  explicit Follower(FollowOptions options);
  ~Follower();
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  /// As of the last look at the file; the time goes on.
  Figures figures() const;

 private:
  struct Work;

  FollowOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable wait_;
  bool stop_ = false;          ///< guarded by `mutex_`
  std::int64_t found_ns_ = 0;  ///< when `figures_` was; guarded by `mutex_`
  Figures figures_;            ///< guarded by `mutex_`
  std::thread thread_;
};

}  // namespace headway::cli::live
