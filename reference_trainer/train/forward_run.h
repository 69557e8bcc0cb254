// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "reference_trainer/train/input_feed.h"
#include "reference_trainer/train/trainer.h"

namespace headway::trainer {

/// Payload of a range of one inference step.
conventions::RangePayload step_range(conventions::RangeKind kind, Phase phase, std::int64_t step);

/// Runs the steps of an inference, whatever a step computes. The host launches up to
/// settings.run_ahead steps ahead of the device. Each step has its range and its times.
class ForwardRun {
 public:
  ForwardRun(const Settings& settings, Device& device, StreamId compute)
      : settings_(settings), device_(device), compute_(compute) {}

  /// `launch` must call wait_for_room() once and record_end() once, and take its input from `feed`.
  /// `finish` is called, in order, when the device has finished the step.
  RunResult run(std::int64_t steps, const InputFeed& feed,
                const std::function<void(std::int64_t)>& launch,
                const std::function<void(std::int64_t, RunResult&)>& finish,
                const TrainerHooks& hooks);

  /// Blocks until the device has finished the step that is settings.run_ahead steps before.
  void wait_for_room(std::int64_t step);
  /// Records the end of the work that the step has launched.
  Event record_end();

 private:
  void take_step(std::int64_t step, const InputFeed& feed,
                 const std::function<void(std::int64_t)>& launch, RunResult& result);

  const Settings& settings_;
  Device& device_;
  const StreamId compute_;
  std::vector<Event> ends_;  ///< by step
  std::chrono::nanoseconds started_{0};
};

}  // namespace headway::trainer
