// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/tune/runs.h"
#include "cli/tune/vary.h"

namespace headway::tune {

/// The results of a recording that the search uses.
struct Reading {
  Run run;
  std::optional<double> samples_per_step;
};
/// Analyses a recording: step cost, first finding, predicted gains of the fixes with these ids.
/// Throws RunFailed with advice if it has too few steps for a comparison.
Reading read_recording(const std::filesystem::path& trace, const std::string& step_range,
                       const std::vector<std::string>& fixes);

/// Runs of any command, each recorded by `headway record`. The recordings are in a temporary folder
/// that the destructor deletes. If the number of samples per step differs from that of the first
/// run, step times are scaled to the samples of the first run. Requires a StopSignals object.
class CommandRuns final : public Runs {
 public:
  struct Setup {
    const VariedCommand* command = nullptr;
    std::filesystem::path headway;
    std::string step_range;  ///< empty: steps are detected
    int steps = 0;           ///< end each run after this many steps; 0: whole runs
    double duration_s = 0;   ///< or after this many seconds; 0: whole runs
    std::function<void(std::string_view)> on_progress;
  };
  explicit CommandRuns(Setup setup);
  ~CommandRuns() override;
  CommandRuns(const CommandRuns&) = delete;
  CommandRuns& operator=(const CommandRuns&) = delete;

  Run measure(const Change& change, double limit_s) override;
  /// Predicts from the recording that measure() made of this change; measures first if there is
  /// none.
  Forecasts forecast(const Change& change, double limit_s) override;
  double elapsed_s() override;
  void tell(std::string_view doing) override;

  /// True if steps were scaled to the number of samples of the first run.
  bool is_per_sample() const { return is_per_sample_; }

 private:
  std::vector<std::string> recording(const Change& change, const std::filesystem::path& file) const;
  void scale(const Change& change, Reading& reading);
  std::optional<double> batch_of(const Change& change) const;

  Setup setup_;
  std::filesystem::path folder_;
  std::vector<std::string> fixes_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::map<std::string, Forecasts> forecasts_;
  std::optional<double> samples_;  ///< samples per step of the first run
  bool is_known_ = false;          ///< true after the first run
  bool by_value_ =
      false;  ///< no recording tells samples: the value of the batch size stands for them
  bool is_per_sample_ = false;
};

}  // namespace headway::tune
