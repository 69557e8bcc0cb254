// SPDX-License-Identifier: MIT
#include "reference_trainer/train/pipeline.h"

#include <algorithm>

namespace headway::trainer {

std::vector<PipelinePass> passes_of(PipelineSchedule schedule, int stage, int stages,
                                    int micro_batches) {
  const int ahead = schedule == PipelineSchedule::kGpipe
                        ? micro_batches
                        : std::min(stages - 1 - stage, micro_batches);
  std::vector<PipelinePass> passes;
  int forward = 0;
  while (forward < ahead) passes.push_back({false, forward++});
  for (int backward = 0; backward < micro_batches; ++backward) {
    if (forward < micro_batches) passes.push_back({false, forward++});
    passes.push_back({true, backward});
  }
  return passes;
}

int most_under_way(PipelineSchedule schedule, int stage, int stages, int micro_batches) {
  return schedule == PipelineSchedule::kGpipe ? micro_batches
                                              : std::min(stages - stage, micro_batches);
}

PipelineLinks::PipelineLinks(Device& device, StreamId compute, Communicator& communicator,
                             const StagePlan& plan)
    : device_(device), compute_(compute), communicator_(communicator) {
  if (plan.stage > 0) {
    from_[0] = link("receive forward", CollectiveKind::kReceive, plan.stage - 1,
                    plan.received_elements, plan.half);
    to_[1] = link("send backward", CollectiveKind::kSend, plan.stage - 1, plan.received_elements,
                  plan.half);
  }
  if (!plan.is_last()) {
    to_[0] =
        link("send forward", CollectiveKind::kSend, plan.stage + 1, plan.sent_elements, plan.half);
    from_[1] = link("receive backward", CollectiveKind::kReceive, plan.stage + 1,
                    plan.sent_elements, plan.half);
  }
}

std::unique_ptr<PipelineLinks::Link> PipelineLinks::link(const char* name, CollectiveKind kind,
                                                         int peer, std::int64_t elements,
                                                         bool half) {
  auto result = std::make_unique<Link>();
  result->stream = device_.create_stream(name);
  result->message =
      communicator_.prepare({kind, Scope::kWorld, half ? ElementType::kHalf : ElementType::kFloat,
                             nullptr, elements, name, peer});
  return result;
}

void PipelineLinks::before(bool backward, std::int64_t batch) {
  const auto& from = from_[backward ? 1 : 0];
  if (!from) return;
  communicator_.enqueue(from->stream, *from->message, batch);
  device_.wait(compute_, device_.record(from->stream));
}

void PipelineLinks::after(bool backward, std::int64_t batch) {
  const auto& to = to_[backward ? 1 : 0];
  if (!to) return;
  device_.wait(to->stream, device_.record(compute_));
  communicator_.enqueue(to->stream, *to->message, batch);
}

}  // namespace headway::trainer
