// SPDX-License-Identifier: MIT
#include "reference_trainer/train/forward_run.h"

#include <algorithm>

namespace headway::trainer {
namespace {

double in_seconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

using conventions::RangeKind;

conventions::RangePayload step_range(RangeKind kind, Phase phase, std::int64_t step) {
  conventions::RangePayload payload;
  payload.kind = static_cast<std::uint32_t>(kind);
  payload.phase = static_cast<std::uint32_t>(phase);
  payload.step = step;
  payload.batch = step;
  return payload;
}

RunResult ForwardRun::run(std::int64_t steps, const InputFeed& feed,
                          const std::function<void(std::int64_t)>& launch,
                          const std::function<void(std::int64_t, RunResult&)>& finish,
                          const TrainerHooks& hooks) {
  RunResult result;
  result.samples_per_step = settings_.batch;
  started_ = device_.clock().now();
  std::int64_t step = 0;
  auto report = [&](std::int64_t finished) {
    finish(finished, result);
    hooks.on_step(result.steps[static_cast<std::size_t>(finished)]);
  };
  for (; step < steps && !(hooks.stop && hooks.stop->load() != 0); ++step) {
    take_step(step, feed, launch, result);
    if (step >= settings_.run_ahead) report(step - settings_.run_ahead);
  }
  result.interrupted = step < steps;
  device_.synchronize();
  if (!result.steps.empty()) {
    StepRecord& last = result.steps.back();
    last.duration_s = in_seconds(device_.clock().now() - started_) - last.start_s;
  }
  for (std::size_t i = 0; i < result.steps.size(); ++i)
    if (const auto end = device_.time_of(ends_[i]))
      result.steps[i].device_end_s = in_seconds(*end - started_);
  for (std::int64_t left = std::max<std::int64_t>(0, step - settings_.run_ahead); left < step;
       ++left)
    report(left);
  return result;
}

void ForwardRun::take_step(std::int64_t step, const InputFeed& feed,
                           const std::function<void(std::int64_t)>& launch, RunResult& result) {
  static const nvtx::Name kStep = nvtx::intern("step");
  nvtx::Range whole(kStep, step_range(RangeKind::kStep, Phase::kNone, step));
  StepRecord record;
  record.step = step;
  record.start_s = in_seconds(device_.clock().now() - started_);
  if (!result.steps.empty()) {
    StepRecord& before = result.steps.back();
    before.duration_s = record.start_s - before.start_s;
  }
  const auto waited_before = feed.waited();
  launch(step);
  record.input_wait_s = in_seconds(feed.waited() - waited_before);
  result.steps.push_back(record);
}

void ForwardRun::wait_for_room(std::int64_t step) {
  if (step >= settings_.run_ahead)
    device_.synchronize(ends_[static_cast<std::size_t>(step - settings_.run_ahead)]);
}

Event ForwardRun::record_end() {
  ends_.push_back(device_.record(compute_));
  return ends_.back();
}

}  // namespace headway::trainer
