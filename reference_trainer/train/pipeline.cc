// SPDX-License-Identifier: MIT
#include "reference_trainer/train/pipeline.h"

#include <fmt/format.h>

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
                             const CompiledGraph& compiled, const StagePlan& plan,
                             int micro_batches, int buffers)
    : device_(device),
      compute_(compute),
      communicator_(communicator),
      computes_(device.computes()),
      buffers_(!computes_    ? 1
               : buffers > 0 ? buffers
                             : micro_batches),
      waits_(computes_ && buffers_ < micro_batches) {
  if (plan.stage > 0) {
    from_[0] = link({"receive forward", "activations", Phase::kForward, CollectiveKind::kReceive,
                     plan.stage - 1, plan.received_elements, plan.received[0]},
                    compiled, plan);
    to_[1] = link({"send backward", "gradients", Phase::kBackward, CollectiveKind::kSend,
                   plan.stage - 1, plan.received_elements, plan.sent[1]},
                  compiled, plan);
  }
  if (!plan.is_last()) {
    to_[0] = link({"send forward", "activations", Phase::kForward, CollectiveKind::kSend,
                   plan.stage + 1, plan.sent_elements, plan.sent[0]},
                  compiled, plan);
    from_[1] = link({"receive backward", "gradients", Phase::kBackward, CollectiveKind::kReceive,
                     plan.stage + 1, plan.sent_elements, plan.received[1]},
                    compiled, plan);
  }
}

PipelineLinks::~PipelineLinks() {
  // Memory waits for the device before it is freed; kernels and messages do not.
  for (auto* links : {&from_, &to_})
    for (const auto& each : *links)
      if (each)
        for (Slot& slot : each->slots) slot.buffer = {};
}

std::unique_ptr<PipelineLinks::Link> PipelineLinks::link(const End& end,
                                                         const CompiledGraph& compiled,
                                                         const StagePlan& plan) {
  auto result = std::make_unique<Link>();
  result->stream = device_.create_stream(end.stream);
  if (computes_)
    for (int copy = 0; copy < plan.under_way; ++copy)
      result->tensors.push_back(
          {compiled.kept_memory(end.border.value, copy).address, end.elements});
  for (int i = 0; i < buffers_; ++i) add_slot(end, plan, *result);
  return result;
}

void PipelineLinks::add_slot(const End& end, const StagePlan& plan, Link& link) {
  Slot& slot = link.slots.emplace_back();
  // A device that computes keeps floats that are rounded to half precision.
  Collective message{
      end.kind, Scope::kWorld, plan.half && !computes_ ? ElementType::kHalf : ElementType::kFloat,
      nullptr,  end.elements,  end.text,
      end.peer};
  if (computes_) {
    slot.buffer = device_.allocate(message.bytes(), MemoryKind::kDevice);
    message.data = slot.buffer.view().address;
  }
  slot.message = communicator_.prepare(std::move(message));
  for (const kernels::GradientTensor& tensor : link.tensors) {
    const std::span one(&tensor, 1);
    auto* const flat = slot.buffer.as<float>();
    const kernels::StreamOp op = end.kind == CollectiveKind::kSend
                                     ? kernels::StreamOp(kernels::PackGradients{one, flat})
                                     : kernels::StreamOp(kernels::UnpackGradients{one, flat});
    Kernel::Tag tag;
    tag.text =
        fmt::format("{} {}", end.kind == CollectiveKind::kSend ? "pack" : "unpack", end.text);
    tag.name = nvtx::intern(tag.text);
    tag.op = end.border.node.value;
    tag.phase = end.phase;
    tag.work = kernels::work_of(op);
    slot.copies.push_back(device_.make_kernel(std::move(tag), op));
  }
}

void PipelineLinks::wait_until_free(StreamId stream, const Slot& slot) {
  if (waits_ && slot.free.sync_id != 0) device_.wait(stream, slot.free);
}

PipelineLinks::Slot& PipelineLinks::next_slot(Link& link) {
  Slot& slot = link.slots[link.next];
  link.next = (link.next + 1) % link.slots.size();
  return slot;
}

void PipelineLinks::before(bool backward, const LaunchArguments& arguments) {
  const auto& from = from_[backward ? 1 : 0];
  if (!from) return;
  Slot& slot = next_slot(*from);
  wait_until_free(from->stream, slot);
  communicator_.enqueue(from->stream, *slot.message, arguments.batch);
  device_.wait(compute_, device_.record(from->stream));
  if (!computes_) return;
  device_.launch(compute_, *slot.copies[static_cast<std::size_t>(arguments.kept)], arguments);
  if (waits_) slot.free = device_.record(compute_);
}

void PipelineLinks::after(bool backward, const LaunchArguments& arguments) {
  const auto& to = to_[backward ? 1 : 0];
  if (!to) return;
  Slot& slot = next_slot(*to);
  if (computes_) {
    wait_until_free(compute_, slot);
    device_.launch(compute_, *slot.copies[static_cast<std::size_t>(arguments.kept)], arguments);
  }
  device_.wait(to->stream, device_.record(compute_));
  communicator_.enqueue(to->stream, *slot.message, arguments.batch);
  if (waits_) slot.free = device_.record(to->stream);
}

ParameterSet gather_parameters(Device& device, StreamId stream, Communicator& communicator,
                               const Graph& graph, const CompiledGraph& compiled,
                               const StagePlan& plan) {
  ParameterSet all;
  const int last = plan.stages - 1;
  for (int stage = 0; stage < plan.stages; ++stage) {
    if (!plan.is_last() && stage != plan.stage) continue;
    std::vector<ValueId> its;
    std::int64_t count = 0;
    for (ValueId parameter : graph.parameters()) {
      if (plan.owner[parameter.value] != stage) continue;
      its.push_back(parameter);
      count += graph.value(parameter).shape.elements();
    }
    if (stage == last) {
      for (ValueId parameter : its) all[graph.value(parameter).name] = compiled.read(parameter);
      continue;
    }
    Memory flat = device.allocate(count * std::int64_t{sizeof(float)}, MemoryKind::kPinned);
    auto* next = flat.as<float>();
    if (!plan.is_last())
      for (ValueId parameter : its) next = std::ranges::copy(compiled.read(parameter), next).out;
    const auto message =
        communicator.prepare({plan.is_last() ? CollectiveKind::kReceive : CollectiveKind::kSend,
                              Scope::kWorld, ElementType::kFloat, flat.view().address, count,
                              "parameters", plan.is_last() ? stage : last});
    communicator.enqueue(stream, *message, -1);
    device.synchronize(stream);
    if (plan.is_last())
      for (ValueId parameter : its) {
        const std::int64_t elements = graph.value(parameter).shape.elements();
        all[graph.value(parameter).name].assign(next, next + elements);
        next += elements;
      }
  }
  return all;
}

}  // namespace headway::trainer
