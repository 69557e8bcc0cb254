// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "reference_trainer/comm/communicator.h"
#include "reference_trainer/devices/device.h"
#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

/// The exchanges between ranks that share the model's layers: the `exchange` ops of their graphs.
/// The op copies its operand, and the exchange is made in place in the result, on its own stream.
/// The compute stream waits for it, as in frameworks, because the next op needs the result.
class ModelExchanges {
 public:
  /// For an all-to-all whose parts differ (see Collective::most): the largest share by layer and
  /// batch. Empty: all parts are equal.
  using Most = std::function<double(std::int64_t layer, std::int64_t batch)>;
  /// The communicator must outlive it.
  ModelExchanges(Device& device, StreamId compute, const Graph& graph,
                 const CompiledGraph& compiled, Communicator& communicator, const Most& most);

  /// To be called after the launches of an op.
  void after(NodeId node, std::int64_t batch);
  bool acts_after(NodeId node) const { return prepared_.contains(node); }
  StreamId stream() const { return stream_; }

 private:
  Device& device_;
  const StreamId compute_;
  Communicator& communicator_;
  StreamId stream_;
  std::map<NodeId, std::unique_ptr<PreparedCollective>> prepared_;
};

}  // namespace headway::trainer
