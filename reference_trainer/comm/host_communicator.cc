// SPDX-License-Identifier: MIT
#include "reference_trainer/comm/host_communicator.h"

#include <algorithm>

#include "common/error.h"
#include "kernels/gradient_list/op.h"

namespace headway::trainer {
namespace {

struct Prepared final : PreparedCollective {
  Collective what;
  std::unique_ptr<Kernel> kernel;
};

}  // namespace

HostCommunicator::HostCommunicator(HostDevice& device, CommBackend& backend, const LinkModel& links)
    : BackendCommunicator(backend, links), device_(device) {
  describe_groups();
}

std::unique_ptr<PreparedCollective> HostCommunicator::prepare(Collective collective) {
  auto prepared = std::make_unique<Prepared>();
  prepared->what = std::move(collective);
  prepared->kernel = device_.make_kernel(
      tag_of(prepared->what),
      [this, what = &prepared->what](const LaunchArguments&) { run_with_part(*what); });
  return prepared;
}

void HostCommunicator::run_with_part(const Collective& what) const {
  if (!what.own_part) return run(what, what.data);
  HEADWAY_INVARIANT(what.type == ElementType::kFloat);
  const int members = this->members(what.scope);
  const Part part = part_of(static_cast<std::size_t>(what.count), place(what.scope), members);
  const std::size_t count = part.end - part.begin;
  float* const in_place = static_cast<float*>(what.data) + part.begin;
  if (what.kind == CollectiveKind::kAllGather) std::copy_n(what.own_part, count, in_place);
  run(what, what.data);
  if (what.kind != CollectiveKind::kReduceScatter) return;
  const kernels::GradientTensor mean{what.own_part, static_cast<std::int64_t>(count)};
  kernels::run(kernels::UnpackGradients{{&mean, 1}, in_place, 1 / static_cast<float>(members)});
}

void HostCommunicator::enqueue(StreamId stream, const PreparedCollective& collective,
                               std::int64_t batch) {
  const auto& prepared = static_cast<const Prepared&>(collective);
  const nvtx::CollectiveRange range = range_of(prepared.what);
  LaunchArguments arguments;
  arguments.batch = batch;
  device_.launch(stream, *prepared.kernel, arguments);
}

}  // namespace headway::trainer
