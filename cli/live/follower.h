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
  std::int64_t last = 20;  ///< number of steps that count as "now"
  bool causes = true;      ///< also run the report's rules
};

/// Follows a trace while it is recorded, on a thread of its own. Every second it reads the stretch
/// with the last steps, as long as reading and rules stay within about 1 % of a processor. The file
/// need not exist yet.
class Follower {
 public:
  explicit Follower(FollowOptions options);
  ~Follower();
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  /// The figures of the last look at the file, with the elapsed time up to now.
  Figures figures() const;

 private:
  struct Work;

  FollowOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable wait_;
  bool stop_ = false;          ///< guarded by `mutex_`
  std::int64_t found_ns_ = 0;  ///< time of `figures_`; guarded by `mutex_`
  Figures figures_;            ///< guarded by `mutex_`
  std::thread thread_;
};

}  // namespace headway::cli::live
