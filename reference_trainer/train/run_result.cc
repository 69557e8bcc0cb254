// SPDX-License-Identifier: MIT
#include "reference_trainer/train/run_result.h"

#include <algorithm>

#include "common/statistics.h"

namespace headway::trainer {
namespace {

constexpr std::size_t kMostWarmUpSteps = 5;

std::optional<float> mean_of_last(const std::vector<StepRecord>& steps,
                                  std::optional<float> StepRecord::*figure) {
  const std::size_t wanted = std::max<std::size_t>(1, steps.size() / 10);
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t i = steps.size(); i-- > 0 && count < wanted;) {
    if (!(steps[i].*figure)) continue;
    sum += *(steps[i].*figure);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return static_cast<float>(sum / static_cast<double>(count));
}

}  // namespace

std::size_t RunResult::warm_up_steps() const {
  const std::size_t cold = 5 * cold_steps <= 4 * steps.size() ? cold_steps : 0;
  return std::max(std::min(kMostWarmUpSteps, steps.size() / 5), cold);
}

double RunResult::mean_step_s() const {
  const std::size_t first = warm_up_steps();
  const std::size_t last = steps.size() > first + 1 ? steps.size() - 1 : steps.size();
  if (first >= last) return 0;
  double seconds = 0;
  for (std::size_t i = first; i < last; ++i) seconds += steps[i].duration_s;
  return seconds / static_cast<double>(last - first);
}

double RunResult::images_per_second() const {
  double seconds = 0;
  for (std::size_t i = warm_up_steps(); i < steps.size(); ++i) seconds += steps[i].duration_s;
  const double images =
      static_cast<double>(samples_per_step) * static_cast<double>(steps.size() - warm_up_steps());
  return seconds > 0 ? images / seconds : 0;
}

double RunResult::input_wait_share() const {
  double seconds = 0;
  double waited = 0;
  for (std::size_t i = warm_up_steps(); i < steps.size(); ++i) {
    seconds += steps[i].duration_s;
    waited += steps[i].input_wait_s;
  }
  return seconds > 0 ? waited / seconds : 0;
}

double RunResult::median_step_s() const {
  std::vector<double> durations;
  for (std::size_t i = warm_up_steps(); i < steps.size(); ++i)
    durations.push_back(steps[i].duration_s);
  return median(durations);
}

std::optional<float> RunResult::final_loss() const {
  return mean_of_last(steps, &StepRecord::loss);
}

std::optional<float> RunResult::final_accuracy() const {
  return mean_of_last(steps, &StepRecord::accuracy);
}

}  // namespace headway::trainer
