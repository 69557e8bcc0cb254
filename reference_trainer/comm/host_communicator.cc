// SPDX-License-Identifier: MIT
#include "reference_trainer/comm/host_communicator.h"

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
      [this, what = &prepared->what](const LaunchArguments&) { run(*what, what->data); });
  return prepared;
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
