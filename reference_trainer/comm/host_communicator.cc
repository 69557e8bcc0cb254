// SPDX-License-Identifier: MIT
#include "reference_trainer/comm/host_communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "reference_trainer/nvtx/nccl_ranges.h"

namespace headway::trainer {
namespace {

using Clock = std::chrono::steady_clock;

const char* function_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kReduceScatter:
      return "ncclReduceScatter";
    case CollectiveKind::kAllGather:
      return "ncclAllGather";
    case CollectiveKind::kParameterServer:
      return "ncclReduce";
    default:
      return "ncclAllReduce";
  }
}

const char* text_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kReduceScatter:
      return "reduce_scatter";
    case CollectiveKind::kAllGather:
      return "allgather";
    case CollectiveKind::kParameterServer:
      return "reduce through server";
    default:
      return "allreduce";
  }
}

}  // namespace

struct HostCommunicator::Prepared final : PreparedCollective {
  Collective what;
  std::unique_ptr<Kernel> kernel;
  std::string function;
  std::uint64_t communicator = 0;
  std::int64_t bytes_as_called = 0;
};

HostCommunicator::HostCommunicator(Device& device, CommBackend& backend, const LinkModel& links)
    : device_(device), backend_(backend), links_(links) {
  nvtx::describe_communicator(communicator_id(Scope::kWorld), size(), rank());
  if (size() <= links_.ranks_per_node) return;
  for (Scope scope : {Scope::kNode, Scope::kAcross}) {
    const int place =
        scope == Scope::kNode ? rank() % links_.ranks_per_node : rank() / links_.ranks_per_node;
    nvtx::describe_communicator(communicator_id(scope), members(scope), place);
  }
}

int HostCommunicator::members(Scope scope) const {
  const int per_node = links_.ranks_per_node;
  if (scope == Scope::kWorld) return size();
  if (scope == Scope::kNode) {
    const int first = rank() / per_node * per_node;
    return std::min(size() - first, per_node);
  }
  return (size() - rank() % per_node + per_node - 1) / per_node;
}

/// The same for all members, another for each group.
std::uint64_t HostCommunicator::communicator_id(Scope scope) const {
  constexpr std::uint64_t kWorld = 0x4857'0000'0000'0001;
  const int per_node = links_.ranks_per_node;
  const int group = scope == Scope::kNode ? rank() / per_node : rank() % per_node;
  if (scope == Scope::kWorld) return kWorld;
  return kWorld + (scope == Scope::kNode ? 0x1'0000U : 0x2'0000U) +
         static_cast<std::uint64_t>(group);
}

std::unique_ptr<PreparedCollective> HostCommunicator::prepare(Collective collective) {
  auto prepared = std::make_unique<Prepared>();
  prepared->what = std::move(collective);
  const Collective& what = prepared->what;
  prepared->function = function_of(what.kind);
  prepared->communicator = communicator_id(what.scope);
  const bool per_rank =
      what.kind == CollectiveKind::kAllGather || what.kind == CollectiveKind::kReduceScatter;
  prepared->bytes_as_called = per_rank ? what.bytes / members(what.scope) : what.bytes;
  Kernel::Tag tag;
  tag.text = fmt::format("{} {}", text_of(what.kind), what.text);
  tag.name = nvtx::intern(tag.text);
  tag.kind = conventions::DeviceOpKind::kCommunication;
  tag.math_unit = conventions::MathUnit::kUnknown;
  tag.phase = Phase::kCommunication;
  tag.work.bytes = what.bytes;
  prepared->kernel = device_.make_kernel(
      std::move(tag), [this, own = prepared.get()](const LaunchArguments&) { run(own->what); });
  return prepared;
}

void HostCommunicator::run(const Collective& collective) {
  const std::int64_t least = links_.collective_ns(collective.kind, collective.scope,
                                                  members(collective.scope), collective.bytes);
  // The links begin when the last rank is there.
  if (least > 0) backend_.barrier();
  const Clock::time_point start = Clock::now();
  collective.body(backend_);
  if (least > 0) std::this_thread::sleep_until(start + std::chrono::nanoseconds(least));
}

void HostCommunicator::enqueue(StreamId stream, const PreparedCollective& collective,
                               std::int64_t batch) {
  const auto& prepared = static_cast<const Prepared&>(collective);
  const nvtx::CollectiveRange range(prepared.function, prepared.communicator,
                                    prepared.bytes_as_called);
  LaunchArguments arguments;
  arguments.batch = batch;
  device_.launch(stream, *prepared.kernel, arguments);
}

}  // namespace headway::trainer
