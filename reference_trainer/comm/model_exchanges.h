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

/// What the ranks exchange of the layers that they share: the `exchange` ops of their graphs. The op has copied its operand, and
/// the exchange is made in place of the result, on a stream of its own that compute waits for, as frameworks have it: what
/// comes next needs it.
class ModelExchanges {
 public:
  /// Of an all-to-all whose parts differ (see Collective::most), by layer and batch; empty: they do not.
  using Most = std::function<double(std::int64_t layer, std::int64_t batch)>;
  /// The communicator must outlive it.
  ModelExchanges(Device& device, StreamId compute, const Graph& graph,
                 const CompiledGraph& compiled, Communicator& communicator, const Most& most);

  /// After the launches of an op.
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
