// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/cuda/staged_communicator.h"

namespace headway::trainer {
namespace {

struct Prepared final : PreparedCollective {
  Collective what;
  std::function<void()> exchange;
};

}  // namespace

StagedCommunicator::StagedCommunicator(CudaDevice& device, CommBackend& backend,
                                       const LinkModel& links)
    : BackendCommunicator(backend, links), device_(device) {
  describe_groups();
}

std::unique_ptr<PreparedCollective> StagedCommunicator::prepare(Collective collective) {
  auto prepared = std::make_unique<Prepared>();
  prepared->what = std::move(collective);
  if (prepared->what.bytes() > staging_.bytes())
    staging_ = device_.allocate(prepared->what.bytes(), MemoryKind::kPinned);
  prepared->exchange = [this, what = &prepared->what] {
    const nvtx::CollectiveRange range = range_of(*what);
    run(*what, staging_.as<void>());
  };
  return prepared;
}

void StagedCommunicator::enqueue(StreamId stream, const PreparedCollective& collective,
                                 std::int64_t batch) {
  const auto& prepared = static_cast<const Prepared&>(collective);
  const MemoryView data{prepared.what.data, MemoryKind::kDevice};
  device_.copy(stream, staging_.view(), data, prepared.what.bytes(), batch);
  device_.call(stream, prepared.exchange);
  device_.copy(stream, data, staging_.view(), prepared.what.bytes(), batch);
}

}  // namespace headway::trainer
