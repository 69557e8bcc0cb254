// SPDX-License-Identifier: MIT
#include "cli/tune/command_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "cli/tune/child.h"
#include "cli/tune/child_failure.h"
#include "cli/tune/hints.h"

namespace headway::tune {
namespace {

/// Batch sizes that differ by less count as equal: only the last batch of an epoch is smaller.
constexpr double kSameBatch = 0.02;

}  // namespace

CommandRuns::CommandRuns(Setup setup)
    : setup_(std::move(setup)),
      folder_(make_temporary_folder()),
      fixes_(fixes_asked_for(setup_.command->switches())) {}

CommandRuns::~CommandRuns() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::vector<std::string> CommandRuns::recording(const Change& change,
                                                const std::filesystem::path& file) const {
  std::vector<std::string> words = {
      setup_.headway.string(), "record", "--quiet", "--force", "-o", file.string()};
  if (!setup_.step_range.empty()) words.insert(words.end(), {"--step-range", setup_.step_range});
  if (setup_.steps > 0)
    words.insert(words.end(), {"--steps", fmt::format(":{}", setup_.steps - 1)});
  if (setup_.duration_s > 0)
    words.insert(words.end(), {"--duration", fmt::format("{:g}", setup_.duration_s)});
  // Workers of a command that was ended exit when they notice it.
  if (setup_.steps > 0 || setup_.duration_s > 0)
    words.insert(words.end(), {"--kill", "sigterm", "--wait", "primary"});
  words.emplace_back("--");
  const std::vector<std::string> command = setup_.command->words(change);
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

Run CommandRuns::measure(const Change& change, double limit_s) {
  const std::filesystem::path file = folder_ / "run.sqlite";
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  const ChildResult child = run_child(recording(change, file), limit_s);
  constexpr int kEnded = 128 + 15;
  const bool ended_by_us = child.status == kEnded && (setup_.steps > 0 || setup_.duration_s > 0);
  if (child.status != 0 && !ended_by_us) {
    constexpr std::size_t kLines = 1;  // the error, not the usage or the stack before it
    throw RunFailed(fmt::format("the command ended with {}: {}", ending_text(child),
                                last_lines(child.err, kLines)));
  }
  Reading reading = read_recording(file, setup_.step_range, fixes_);
  std::filesystem::remove(file, ignored);
  reading.run.wall_s = child.wall_s;
  forecasts_[words_of(change)] = *reading.run.forecasts;
  scale(change, reading);
  return std::move(reading.run);
}

/// The value of the argument that is the batch size, if one is varied.
std::optional<double> CommandRuns::batch_of(const Change& change) const {
  for (const TrainerSwitch& one : setup_.command->switches().all) {
    if (!is_batch_size(one)) continue;
    const auto found = std::ranges::find(change, one.name, &Setting::first);
    const std::string& value = found == change.end() ? one.value : found->second;
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    if (*end == '\0' && number > 0) return number;
  }
  return std::nullopt;
}

void CommandRuns::scale(const Change& change, Reading& reading) {
  Run& run = reading.run;
  std::optional<double> samples = reading.samples_per_step;
  // The first run decides for all runs: recorded samples or the value of the batch size.
  const bool first = !is_known_;
  if (first) by_value_ = !samples;
  if (by_value_) samples = batch_of(change);
  if (first) samples_ = samples;
  is_known_ = true;
  if (!samples_) return;
  if (!samples)
    throw RunFailed(
        "the samples per step are recorded in the first run only: no comparison is possible");
  if (std::abs(*samples / *samples_ - 1) < kSameBatch) return;
  is_per_sample_ = true;
  for (double& step : run.steps) step *= *samples_ / *samples;
}

Forecasts CommandRuns::forecast(const Change& change, double limit_s) {
  if (!forecasts_.contains(words_of(change))) measure(change, limit_s);
  return forecasts_.at(words_of(change));
}

double CommandRuns::elapsed_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void CommandRuns::tell(std::string_view doing) {
  if (setup_.on_progress) setup_.on_progress(doing);
}

}  // namespace headway::tune
