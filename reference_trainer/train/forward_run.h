// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "reference_trainer/train/input_feed.h"
#include "reference_trainer/train/trainer.h"

namespace headway::trainer {

/// Payload of a range of one step of an inference.
conventions::RangePayload step_range(conventions::RangeKind kind, Phase phase, std::int64_t step);

/// Steps of an inference, whatever one computes: launched as far ahead of the device as settings.run_ahead says, each with its
/// range and times.
class ForwardRun {
 public:
  ForwardRun(const Settings& settings, Device& device, StreamId compute)
      : settings_(settings), device_(device), compute_(compute) {}

  /// `launch` calls wait_for_room() once and record_end() once, and takes its input from `feed`; `finish` is called when the device
  /// has finished the step, in order.
  RunResult run(std::int64_t steps, const InputFeed& feed,
                const std::function<void(std::int64_t)>& launch,
                const std::function<void(std::int64_t, RunResult&)>& finish,
                const TrainerHooks& hooks);

  /// Until the device has finished the step so many before.
  void wait_for_room(std::int64_t step);
  /// The end of what the step has launched.
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
