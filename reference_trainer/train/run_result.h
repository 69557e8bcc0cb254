// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headway::trainer {

/// The figures of one step. Times are host times, in seconds.
struct StepRecord {
  std::int64_t step = 0;
  double start_s = 0;       ///< since the first step began
  double duration_s = 0;    ///< until the next step began (last step: until the device was done)
  double input_wait_s = 0;  ///< the part spent waiting for a batch
  /// When the device finished the step, where it reports that: a host that runs ahead begins steps
  /// before earlier ones end.
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
  std::int64_t samples_per_step = 0;  ///< for one rank: its batch times the batches it accumulates
  std::int64_t parameters = 0;
  std::vector<StepRecord> steps;
  std::optional<EvaluationResult> evaluation;
  /// For inference: the same samples with the plain graph in FP32.
  std::optional<EvaluationResult> plain_evaluation;
  /// For generated text, where the device computes: by step, a token of each sequence.
  std::vector<std::vector<std::int32_t>> tokens;
  bool interrupted = false;
  double padding =
      -1;  ///< share of the batches' elements that pads shorter samples; -1: all are equal
  /// Steps until the page cache holds the loader's data, where that is simulated.
  std::size_t cold_steps = 0;

  /// Steps at the start that figures leave out, because buffers and caches are cold and nothing is
  /// prefetched. A run that is cold for most of its steps leaves out only the first few, because
  /// cold is its normal state.
  std::size_t warm_up_steps() const;
  /// Images per second over the steps after warm-up; 0 when there are none.
  double images_per_second() const;
  /// The share of the time after warm-up in which the training thread waited for batches.
  double input_wait_share() const;
  double median_step_s() const;
  /// Mean duration of a step: after a burst of batches steps are short, before one they are long.
  /// Leaves out the last step, which ends when the device has caught up.
  double mean_step_s() const;
  /// Mean loss and accuracy over the last tenth of the steps that read them; none when no step did.
  std::optional<float> final_loss() const;
  std::optional<float> final_accuracy() const;
};

}  // namespace headway::trainer
