// SPDX-License-Identifier: MIT
#include "reference_trainer/comm/backend_communicator.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace headway::trainer {

int BackendCommunicator::members(Scope scope) const {
  const int per_node = links_.ranks_per_node;
  if (scope == Scope::kWorld) return size();
  if (scope == Scope::kNode) return std::min(size() - rank() / per_node * per_node, per_node);
  return (size() - rank() % per_node + per_node - 1) / per_node;
}

int BackendCommunicator::place(Scope scope) const {
  if (scope == Scope::kWorld) return rank();
  return scope == Scope::kNode ? rank() % links_.ranks_per_node : rank() / links_.ranks_per_node;
}

std::uint64_t BackendCommunicator::communicator_id(Scope scope) const {
  constexpr std::uint64_t kWorld = 0x4857'0000'0000'0001;
  const int per_node = links_.ranks_per_node;
  const int group = scope == Scope::kNode ? rank() / per_node : rank() % per_node;
  if (scope == Scope::kWorld) return kWorld;
  return kWorld + (scope == Scope::kNode ? 0x1'0000U : 0x2'0000U) +
         static_cast<std::uint64_t>(group);
}

void BackendCommunicator::describe_groups() const {
  nvtx::describe_communicator(communicator_id(Scope::kWorld), size(), rank());
  if (size() <= links_.ranks_per_node) return;
  for (Scope scope : {Scope::kNode, Scope::kAcross})
    nvtx::describe_communicator(communicator_id(scope), members(scope), place(scope));
}

nvtx::CollectiveRange BackendCommunicator::range_of(const Collective& collective) const {
  return {nccl_function_of(collective.kind), communicator_id(collective.scope),
          bytes_as_called(collective, members(collective.scope)), collective.peer};
}

Kernel::Tag BackendCommunicator::tag_of(const Collective& collective) const {
  Kernel::Tag tag;
  tag.text = name_of(collective);
  tag.name = nvtx::intern(tag.text);
  tag.kind = conventions::DeviceOpKind::kCommunication;
  tag.math_unit = conventions::MathUnit::kUnknown;
  tag.phase = Phase::kCommunication;
  tag.work.bytes = collective.bytes();
  return tag;
}

void BackendCommunicator::run(const Collective& collective, void* data) const {
  using Clock = std::chrono::steady_clock;
  if (is_message(collective.kind)) {
    const Clock::time_point met = pass_message(collective, backend_, data);
    const std::int64_t least = links_.collective_ns(
        collective.kind, links_.scope_between(rank(), collective.peer), 2, collective.bytes());
    if (least > 0) std::this_thread::sleep_until(met + std::chrono::nanoseconds(least));
    return;
  }
  const std::int64_t least = links_.collective_ns(collective.kind, collective.scope,
                                                  members(collective.scope), collective.bytes());
  // The transfer begins when the last rank has arrived.
  if (least > 0) backend_.barrier();
  const Clock::time_point start = Clock::now();
  carry_out(collective, backend_, data);
  if (least > 0) std::this_thread::sleep_until(start + std::chrono::nanoseconds(least));
}

}  // namespace headway::trainer
