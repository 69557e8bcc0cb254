// SPDX-License-Identifier: MIT
#include "reference_trainer/comm/model_exchanges.h"

namespace headway::trainer {
namespace {

CollectiveKind kind_of(ExchangeKind kind) {
  switch (kind) {
    case ExchangeKind::kSum:
      return CollectiveKind::kAllReduce;
    case ExchangeKind::kGather:
    case ExchangeKind::kJoin:
      return CollectiveKind::kAllGather;
    case ExchangeKind::kScatterSum:
      return CollectiveKind::kReduceScatter;
    case ExchangeKind::kAllToAll:
    case ExchangeKind::kNothing:
    case ExchangeKind::kOwnPart:
    case ExchangeKind::kStage:
      break;
  }
  return CollectiveKind::kAllToAll;
}

bool is_half(kernels::NumberFormat format) {
  return format == kernels::NumberFormat::kFloat16 || format == kernels::NumberFormat::kBfloat16;
}

}  // namespace

ModelExchanges::ModelExchanges(Device& device, StreamId compute, const Graph& graph,
                               const CompiledGraph& compiled, Communicator& communicator,
                               const Most& most)
    : device_(device),
      compute_(compute),
      communicator_(communicator),
      stream_(device.create_stream("model exchange")) {
  for (std::size_t i = 0; i < graph.node_count(); ++i) {
    const Node& node = graph.nodes()[i];
    const auto* by = std::get_if<ExchangeAttributes>(&node.attributes);
    if (!by || !is_collective(by->kind)) continue;
    const ValueId result = node.outputs[0];
    Collective what;
    what.kind = kind_of(by->kind);
    what.count = graph.value(result).shape.elements();
    what.text = node.name;
    what.of_model = true;
    // A device that computes on the host keeps floats that are rounded to the format.
    if (!device.computes() && is_half(node.results)) what.type = ElementType::kHalf;
    if (device.computes()) what.data = compiled.memory(result).address;
    if (most && by->layer >= 0)
      what.most = [most, layer = by->layer](std::int64_t batch) { return most(layer, batch); };
    prepared_[NodeId::from(i)] = communicator.prepare(std::move(what));
  }
}

void ModelExchanges::after(NodeId node, std::int64_t batch) {
  const auto at = prepared_.find(node);
  if (at == prepared_.end()) return;
  device_.wait(stream_, device_.record(compute_));
  communicator_.enqueue(stream_, *at->second, batch);
  device_.wait(compute_, device_.record(stream_));
}

}  // namespace headway::trainer
