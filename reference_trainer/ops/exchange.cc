// SPDX-License-Identifier: MIT
// Exchanges between ranks that share a layer (comm/model_exchanges.h): tokens of experts, sums and
// parts of activations. Tensors between the stages of a pipeline (train/pipeline.h).
#include "reference_trainer/ops/support.h"

namespace headway::trainer::ops {
namespace {

Work work(const Graph& graph, const Node& node) {
  return {0, operand_bytes(graph, node)};
}

const ExchangeAttributes& exchange_of(const Node& node) {
  return std::get<ExchangeAttributes>(node.attributes);
}

Shape shape_after(Shape shape, const ExchangeAttributes& by) {
  if (by.kind == ExchangeKind::kGather || by.kind == ExchangeKind::kJoin)
    return {shape[0] * by.ranks, shape[1]};
  if (by.kind == ExchangeKind::kOwnPart) return {shape[0] / by.ranks, shape[1]};
  return shape;
}

ValueId back(Gradients& gradients, NodeId id, ValueId gradient, ExchangeKind kind, ValueId like) {
  ExchangeAttributes by = exchange_of(gradients.graph().node(id));
  by.kind = kind;
  return gradients.emit(kExchange, id, {gradient}, {like}, by)[0];
}

void differentiate(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  const ValueId dy = gradients.of(y);
  switch (exchange_of(node).kind) {
    case ExchangeKind::kAllToAll:  // received parts go back to their senders
      return gradients.accumulate(id, x, back(gradients, id, dy, ExchangeKind::kAllToAll, x));
    case ExchangeKind::kNothing:
      return gradients.accumulate(id, x, back(gradients, id, dy, ExchangeKind::kSum, x));
    case ExchangeKind::kGather: {
      const ValueId sums = back(gradients, id, dy, ExchangeKind::kScatterSum, y);
      return gradients.accumulate(id, x, back(gradients, id, sums, ExchangeKind::kOwnPart, x));
    }
    case ExchangeKind::kJoin:
      return gradients.accumulate(id, x, back(gradients, id, dy, ExchangeKind::kOwnPart, x));
    case ExchangeKind::kOwnPart:
      return gradients.accumulate(id, x, back(gradients, id, dy, ExchangeKind::kGather, x));
    case ExchangeKind::kStage:
      return gradients.accumulate(id, x, back(gradients, id, dy, ExchangeKind::kStage, x));
    case ExchangeKind::kSum:
    case ExchangeKind::kScatterSum:
      return gradients.accumulate(id, x, dy);
  }
}

}  // namespace

const OpDefinition kExchange{"exchange", "a tensor, exchanged with other ranks", work,
                             differentiate};

ValueId exchange(Graph& graph, const std::string& name, ValueId x, const ExchangeAttributes& by) {
  const Shape in = graph.value(x).shape;
  require(in.rank() == 2 && (by.kind != ExchangeKind::kOwnPart || in[0] % by.ranks == 0), kExchange,
          name, "rows that can be dealt out", in);
  return add_forward(graph, kExchange, name, {x}, shape_after(in, by), by);
}

}  // namespace headway::trainer::ops
