// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/tune/runs.h"
#include "cli/tune/trainer_switches.h"

namespace headway::tune {

/// The checked command line of headway-train. Throws Error(kUsage) when it is empty or of another
/// program, whose switches are not known. A name without a folder that is not in $PATH is looked up
/// in `folder`, where headway is.
std::vector<std::string> checked_command(std::vector<std::string> command,
                                         const std::filesystem::path& folder);

/// Asks the trainer for its switches under this command line. Throws Error(kUsage) with the
/// trainer's message when it rejects the command line.
TrainerSwitches ask_switches(const std::vector<std::string>& command);

/// Runs of a real headway-train, each in a process. Their files are in a temporary folder that the
/// destructor deletes. Requires a StopSignals object.
class TrainerRuns final : public Runs {
 public:
  struct Setup {
    std::vector<std::string> command;  ///< checked
    std::filesystem::path headway;     ///< records runs on the host
    int steps = 60;
    bool simulated = false;
    std::function<void(std::string_view)> on_progress;
  };
  explicit TrainerRuns(Setup setup);
  ~TrainerRuns() override;
  TrainerRuns(const TrainerRuns&) = delete;
  TrainerRuns& operator=(const TrainerRuns&) = delete;

  Run measure(const Change& change, double limit_s) override;
  Forecasts forecast(const Change& change, double limit_s) override;
  double elapsed_s() override;
  void tell(std::string_view doing) override;

 private:
  std::vector<std::string> command_with(const Change& change) const;

  Setup setup_;
  std::filesystem::path folder_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// The predictions of all fixes that name a switch of the trainer. `missing` says why nothing can
/// be predicted from a file.
Forecasts forecast_trace(const std::filesystem::path& trace);

}  // namespace headway::tune
