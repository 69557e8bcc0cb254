// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/sim/sim_communicator.h"

#include <cmath>

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
  const bool message = is_message(what.kind);
  if (what.kind == CollectiveKind::kSend)
    simulated.group = &world.messages(rank(), what.peer);
  else if (message)
    simulated.group = &world.messages(what.peer, rank());
  else
    simulated.group = what.of_model                 ? &world.model()
                      : what.scope == Scope::kWorld ? &world.world()
                      : what.scope == Scope::kNode  ? &world.node_of(rank())
                                                    : &world.across(rank());
  simulated.kind = what.kind;
  simulated.scope = what.scope;
  if (message) simulated.scope = world.links().scope_between(rank(), what.peer);
  simulated.peer = what.peer;
  simulated.bytes = what.bytes();
  if (what.most)
    simulated.transfer_bytes = std::llround(static_cast<double>(what.bytes()) * what.most(batch));
  simulated.dtype = what.dtype();
  simulated.batch = batch;
  device_.enqueue_collective(stream, simulated);
}

}  // namespace headway::trainer::sim
