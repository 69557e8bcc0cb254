// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/sim/sim_communicator.h"

namespace headway::trainer::sim {
namespace {

struct Prepared final : PreparedCollective {
  Collective what;
};

}  // namespace

std::unique_ptr<PreparedCollective> SimCommunicator::prepare(Collective collective) {
  auto prepared = std::make_unique<Prepared>();
  prepared->what = std::move(collective);
  return prepared;
}

void SimCommunicator::enqueue(StreamId stream, const PreparedCollective& collective,
                              std::int64_t batch) {
  const Collective& what = static_cast<const Prepared&>(collective).what;
  SimWorld& world = device_.world();
  SimCollective simulated;
  simulated.group = what.scope == Scope::kWorld  ? &world.world()
                    : what.scope == Scope::kNode ? &world.node_of(rank())
                                                 : &world.across(rank());
  simulated.kind = what.kind;
  simulated.scope = what.scope;
  simulated.bytes = what.bytes();
  simulated.dtype = what.dtype();
  simulated.batch = batch;
  device_.enqueue_collective(stream, simulated);
}

}  // namespace headway::trainer::sim
