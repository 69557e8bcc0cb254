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

/// What a recording tells the search.
struct Reading {
  Run run;
  std::optional<double> samples_per_step;
};
/// Analyses a recording: step cost, first finding, what the fixes of these ids would gain. Throws RunFailed
/// where it has too few steps to compare, with what to do.
Reading read_recording(const std::filesystem::path& trace, const std::string& step_range,
                       const std::vector<std::string>& fixes);

/// Runs of any command, each recorded by `headway record`; the recordings are in a folder that goes with the object.
/// Where the number of samples in a step differs from that of the first run, steps are scaled to that: what counts is the time
/// for as many samples. Needs a StopSignals beside it.
class CommandRuns final : public Runs {
 public:
  struct Setup {
    const VariedCommand* command = nullptr;
    std::filesystem::path headway;
    std::string step_range;  ///< empty: found
    int steps = 0;           ///< end each run after so many steps; 0: whole runs
    double duration_s = 0;   ///< or after so many seconds; 0: whole runs
    std::function<void(std::string_view)> on_progress;
  };
  explicit CommandRuns(Setup setup);
  ~CommandRuns() override;
  CommandRuns(const CommandRuns&) = delete;
  CommandRuns& operator=(const CommandRuns&) = delete;

  Run measure(const Change& change, double limit_s) override;
  /// Of a run that was measured: the recording is the same.
  Forecasts forecast(const Change& change, double limit_s) override;
  double elapsed_s() override;
  void tell(std::string_view doing) override;

  /// Steps were scaled, so that they stand for as many samples as in the first run.
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
  std::optional<double> samples_;  ///< of a step of the first run
  bool is_known_ = false;          ///< there was a first run
  bool by_value_ =
      false;  ///< no recording tells samples: the value of the batch size stands for them
  bool is_per_sample_ = false;
};

}  // namespace headway::tune
