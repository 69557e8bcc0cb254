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

/// The command line of headway-train, checked. Throws Error(kUsage) when there is none or it is another
/// program, whose switches nobody knows. A name without a folder that $PATH does not have is taken from
/// `folder`, where headway is.
std::vector<std::string> checked_command(std::vector<std::string> command,
                                         const std::filesystem::path& folder);

/// Asks the trainer for its switches under this command line. Throws Error(kUsage) with what it said when
/// it does not take the command line.
TrainerSwitches ask_switches(const std::vector<std::string>& command);

/// Runs of a real headway-train, each a process; their files are in a folder that goes with the object.
/// Needs a StopSignals beside it.
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

/// The predictions of all fixes that name a switch of the trainer. A file that cannot be predicted from
/// says why in `missing`.
Forecasts forecast_trace(const std::filesystem::path& trace);

}  // namespace headway::tune
