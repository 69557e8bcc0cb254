// SPDX-License-Identifier: MIT
#include "reference_trainer/passes/apply_precision.h"

#include <algorithm>
#include <array>
#include <map>

#include "reference_trainer/ops/op.h"

namespace headway::trainer {
namespace {

using kernels::NumberFormat;

/// The ops that tensor cores run: matrix products in all their forms.
constexpr std::array kAllowed = {
    &ops::kConv2d,         &ops::kConv2dBackwardData,    &ops::kConv2dBackwardWeights,
    &ops::kLinear,         &ops::kLinearBackwardData,    &ops::kLinearBackwardWeights,
    &ops::kMatmul,         &ops::kMatmulBackwardWeights, &ops::kBatchedMatmul,
    &ops::kAttention,      &ops::kAttentionBackward,     &ops::kLstm,
    &ops::kLstmBackward,   &ops::kConv2dFused,           &ops::kLinearFused,
    &ops::kCachedAttention};
/// The ops that lose too much precision: sums over many elements, exponentials, and ops that
/// compute the loss.
constexpr std::array kDenied = {&ops::kLogSoftmax,
                                &ops::kLogSoftmaxBackward,
                                &ops::kNllLoss,
                                &ops::kNllLossBackward,
                                &ops::kSoftmaxCrossEntropy,
                                &ops::kSoftmax,
                                &ops::kSoftmaxBackward,
                                &ops::kRowMean,
                                &ops::kRowSum,
                                &ops::kQuantise,
                                &ops::kRsqrt,
                                &ops::kRsqrtBackward,
                                &ops::kColumnSum,
                                &ops::kAssignBoxes,
                                &ops::kAssignSimota,
                                &ops::kBackgroundLosses,
                                &ops::kPickAnchors,
                                &ops::kMultiboxLoss,
                                &ops::kMultiboxLossBackward};

/// Inserts casts; each value is cast once per format.
class Casts {
 public:
  Casts(Graph& graph, const OpDefinition& op, NumberFormat format)
      : graph_(graph), op_(op), format_(format) {}

  /// Returns the cast of `value`; if missing, makes it before the node that is about to be added.
  ValueId of(ValueId value, const Node& reader, std::vector<Node>& nodes) {
    const auto [place, missing] = cast_of_.try_emplace(value);
    if (!missing) return place->second;
    Value cast;
    cast.name = graph_.value(value).name + ".cast";
    cast.shape = graph_.value(value).shape;
    cast.like = value;
    place->second = graph_.add_value(std::move(cast));
    RowAttributes attributes{kernels::RowOp::kRound, 0, 0, format_};
    nodes.push_back({&op_,
                     graph_.value(value).name,
                     reader.phase,
                     reader.forward,
                     {value},
                     {place->second},
                     attributes});
    return place->second;
  }
  int count() const { return static_cast<int>(cast_of_.size()); }

 private:
  Graph& graph_;
  const OpDefinition& op_;
  const NumberFormat format_;
  std::map<ValueId, ValueId> cast_of_;
};

/// Vectors (biases, statistics) stay FP32: kernels add them to FP32 sums.
bool is_matrix(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  return value.type == DataType::kFloat32 && value.shape.rank() >= 2;
}

/// `wanted` selects the operands of a node that are cast.
template <class Wanted>
int insert_casts(Graph& graph, const OpDefinition& op, NumberFormat format, const Wanted& wanted) {
  Casts casts(graph, op, format);
  std::vector<Node> nodes;
  std::vector<NodeId> moved;
  const std::vector<Node> old = graph.nodes();
  for (Node node : old) {
    if (node.forward.valid()) node.forward = moved[node.forward.value];
    for (ValueId& input : node.inputs)
      if (is_matrix(graph, input) && wanted(node, input)) input = casts.of(input, node, nodes);
    moved.push_back(NodeId::from(nodes.size()));
    nodes.push_back(std::move(node));
  }
  graph.replace_nodes(std::move(nodes));
  return casts.count();
}

void read_loss_scale(Graph& graph, ValueId state) {
  std::vector<Node> nodes = graph.nodes();
  for (Node& node : nodes)
    if (node.op == &ops::kSoftmaxCrossEntropyBackward || node.op == &ops::kNllLossBackward ||
        node.op == &ops::kMultiboxLossBackward)
      node.inputs.push_back(state);
  graph.replace_nodes(std::move(nodes));
}

void write_results(Graph& graph, NumberFormat format) {
  std::vector<Node> nodes = graph.nodes();
  for (Node& node : nodes)
    if (precision_class(*node.op) != PrecisionClass::kDeny) node.results = format;
  graph.replace_nodes(std::move(nodes));
}

}  // namespace

NumberFormat parameter_format(Precision precision) {
  if (precision == Precision::kAmpO2) return NumberFormat::kFloat16;
  return precision == Precision::kBf16 ? NumberFormat::kBfloat16 : NumberFormat::kFloat32;
}

bool needs_loss_scale(Precision precision) {
  return precision == Precision::kAmpO1 || precision == Precision::kAmpO2;
}

PrecisionClass precision_class(const OpDefinition& op) {
  if (std::ranges::find(kAllowed, &op) != kAllowed.end()) return PrecisionClass::kAllow;
  if (std::ranges::find(kDenied, &op) != kDenied.end()) return PrecisionClass::kDeny;
  return PrecisionClass::kNeutral;
}

int apply_precision(Graph& graph, Precision precision, ValueId state) {
  if (needs_loss_scale(precision)) read_loss_scale(graph, state);
  auto product = [](const Node& node, ValueId) {
    return precision_class(*node.op) == PrecisionClass::kAllow;
  };
  // Inputs that only the loss reads, such as boxes, are not cast.
  auto batch = [&](const Node& node, ValueId value) {
    return graph.value(value).role == Role::kInput &&
           precision_class(*node.op) != PrecisionClass::kDeny;
  };
  switch (precision) {
    case Precision::kFp32:
      return 0;
    case Precision::kTf32:
      return insert_casts(graph, ops::kTf32Round, NumberFormat::kTf32, product);
    case Precision::kAmpO1:
      return insert_casts(graph, ops::kCast, NumberFormat::kFloat16, product);
    case Precision::kAmpO2:
    case Precision::kBf16: {
      const NumberFormat format = parameter_format(precision);
      write_results(graph, format);
      return insert_casts(graph, ops::kCast, format, batch);
    }
  }
  return 0;
}

}  // namespace headway::trainer
