// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include "reference_trainer/train/run_result.h"

namespace headway::trainer {

/// Shows progress on standard error: one rewritten line on a terminal, otherwise a plain line every
/// few seconds; nothing when quiet. Not thread-safe.
class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// "laying out small files: 12000 of 60000".
  void count(const std::string& what, std::int64_t done, std::int64_t total);
  void step(const StepRecord& step, std::int64_t total, std::int64_t batch);
  /// Ends the rewritten line, so that other output starts on a new line.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  bool due(bool last);
  void show(const std::string& line);

  const bool quiet_;
  const bool terminal_;
  bool open_line_ = false;
  std::size_t shown_columns_ = 0;
  Clock::time_point last_shown_{};
  double since_s_ = 0;  ///< start of the steps that the displayed rate covers
  std::int64_t since_step_ = 0;
};

}  // namespace headway::trainer
