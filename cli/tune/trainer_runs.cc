// SPDX-License-Identifier: MIT
#include "cli/tune/trainer_runs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/tune/child.h"
#include "cli/tune/child_failure.h"
#include "common/error.h"
#include "common/text.h"

namespace headway::tune {
namespace {

constexpr std::string_view kTrainer = "headway-train";

bool in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0) return true;
  return false;
}

}  // namespace

std::vector<std::string> checked_command(std::vector<std::string> command,
                                         const std::filesystem::path& folder) {
  if (command.empty())
    fail_usage(
        "No command to tune. Expected: headway tune [OPTIONS] -- headway-train [ARGUMENT]...");
  const std::filesystem::path program = command.front();
  if (program.filename() != kTrainer)
    fail_usage(
        "'{}' is not headway-train, whose switches are known. For other programs, list the "
        "settings and values to vary: headway tune --vary '--num-workers=0,2,4' -- {}",
        escape_terminal(command.front()), escape_terminal(shell_line(command)));
  if (!program.has_parent_path() && !in_path(command.front()) &&
      ::access((folder / program).c_str(), X_OK) == 0)
    command.front() = (folder / program).string();
  return command;
}

TrainerSwitches ask_switches(const std::vector<std::string>& command) {
  std::vector<std::string> asking = command;
  asking.emplace_back("--switches");
  const ChildResult result = run_child(asking, 0);
  if (result.status != 0) fail_usage("{}", last_lines(result.err));
  return parse_switches(result.out);
}

TrainerRuns::TrainerRuns(Setup setup) : setup_(std::move(setup)) {
  folder_ = make_temporary_folder();
}

TrainerRuns::~TrainerRuns() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::vector<std::string> TrainerRuns::command_with(const Change& change) const {
  // We control the run's output: as short as possible, without the work that follows training.
  std::vector<std::string> command =
      without_options(setup_.command, {"metrics", "trace", "oracle"});
  command = apply(std::move(command), change);
  command = apply(std::move(command), {{"steps", std::to_string(setup_.steps)}, {"eval", "off"}});
  std::erase(command, "--quiet");
  command.emplace_back("--quiet");
  return command;
}

Run TrainerRuns::measure(const Change& change, double limit_s) {
  const std::filesystem::path file = folder_ / "metrics.json";
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  std::vector<std::string> command = command_with(change);
  command.insert(command.end(), {"--metrics", file.string()});
  const ChildResult child = run_child(command, limit_s);
  check_status(child, command_with(change));
  Run run;
  run.wall_s = child.wall_s;
  try {
    std::ifstream stream(file);
    const auto metrics = nlohmann::json::parse(stream);
    const auto& steps = metrics.at("steps");
    std::size_t last = steps.size();
    std::size_t at = metrics.at("warm_up_steps").get<std::size_t>();
    // The host runs ahead of the device in the first steps and waits for it in the last, so the
    // mean on the host depends on how far it may run ahead: --run-ahead 8 would seem to gain 10 %.
    // The median on the host is not affected.
    if (setup_.simulated && last > 1) at = std::max(at, --last / 2);
    for (; at < last; ++at) run.steps.push_back(steps[at].at("duration_s").get<double>());
  } catch (const nlohmann::json::exception&) {
    throw RunFailed("cannot read the metrics of the run");
  }
  if (run.steps.empty() || std::ranges::any_of(run.steps, [](double s) { return !(s > 0); }))
    throw RunFailed("the run has no steps to compare; use more --steps");
  return run;
}

Forecasts TrainerRuns::forecast(const Change& change, double limit_s) {
  const std::filesystem::path file = folder_ / "run.sqlite";
  std::vector<std::string> command = command_with(change);
  if (setup_.simulated) {
    command.insert(command.end(), {"--trace", file.string()});
  } else {
    const std::vector<std::string> record = {
        setup_.headway.string(), "record", "--quiet", "--force", "-o", file.string(), "--"};
    command.insert(command.begin(), record.begin(), record.end());
  }
  check_status(run_child(command, limit_s), command_with(change));
  Forecasts forecasts = forecast_trace(file);
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  return forecasts;
}

double TrainerRuns::elapsed_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void TrainerRuns::tell(std::string_view doing) {
  if (setup_.on_progress) setup_.on_progress(doing);
}

}  // namespace headway::tune
