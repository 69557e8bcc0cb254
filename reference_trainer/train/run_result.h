// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headway::trainer {

/// What became known of one step. Times are of the host, in seconds.
struct StepRecord {
  std::int64_t step = 0;
  double start_s = 0;  ///< since the first step began
  double duration_s =
      0;  ///< until the next step began (for the last one: until the device was done)
  double input_wait_s = 0;  ///< of it, waiting for a batch
  /// When the device had done the step, where it tells: a host that runs ahead begins steps sooner than they end.
  std::optional<double> device_end_s;
  std::optional<float> loss;
  std::optional<float> accuracy;  ///< share of the step's images, 0..1
};

struct EvaluationResult {
  std::int64_t images = 0;
  double loss = 0;
  double accuracy = 0;
};

struct RunResult {
  std::int64_t samples_per_step = 0;  ///< of a rank: its batch, times the batches it accumulates
  std::int64_t parameters = 0;
  std::vector<StepRecord> steps;
  std::optional<EvaluationResult> evaluation;
  /// Of inference: the same samples by the plain graph in FP32.
  std::optional<EvaluationResult> plain_evaluation;
  /// Of a run that generates text, where the device computes: by step a token of each sequence.
  std::vector<std::vector<std::int32_t>> tokens;
  bool interrupted = false;
  double padding =
      -1;  ///< share of the batches' elements that pads shorter samples; -1: samples are alike
  /// Steps until the page cache holds what the loader reads, where that is simulated.
  std::size_t cold_steps = 0;

  /// Steps at the start that figures leave out: buffers and caches are cold and nothing is prefetched. Of a run that is
  /// cold for most of its steps only the first few, since cold is how it runs.
  std::size_t warm_up_steps() const;
  /// Images per second over the steps after warm-up; 0 when there are none.
  double images_per_second() const;
  /// Share of that time that the training thread waited for batches.
  double input_wait_share() const;
  double median_step_s() const;
  /// What a step takes in the long run: steps after a burst of batches are short, those before long.
  /// Without the last one, which ends when the device has caught up.
  double mean_step_s() const;
  /// Mean loss and accuracy of the last tenth of the steps where they were read; none when none
  /// was.
  std::optional<float> final_loss() const;
  std::optional<float> final_accuracy() const;
};

}  // namespace headway::trainer
