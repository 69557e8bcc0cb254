// SPDX-License-Identifier: MIT
// A layer of experts (kernels/experts/op.h) without its products.
#include "kernels/experts/op.h"

#include "reference_trainer/ops/support.h"

namespace headway::trainer::ops {
namespace {

const kernels::RouteShape& shape_of(const Node& node) {
  return std::get<RouteAttributes>(node.attributes).shape;
}

Work move_work(const Graph& graph, const Node& node) {
  return {0, operand_bytes(graph, node)};
}

/// Of a table of all places, only as many rows are read or written as there are tokens.
Work row_work(const Graph& graph, const Node& node) {
  const kernels::RouteShape& shape = shape_of(node);
  const std::int64_t rows = shape.tokens * shape.choices;
  std::int64_t bytes = 0;
  auto add = [&](ValueId id) {
    const Value& value = graph.value(id);
    const bool table = value.shape[0] == shape.places() && value.shape.rank() == 2;
    bytes +=
        table ? value.bytes() / shape.places() * std::min(rows, shape.places()) : value.bytes();
  };
  for (ValueId id : node.inputs) add(id);
  for (ValueId id : node.outputs) add(id);
  return {0, bytes};
}

void differentiate_route(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  gradients.accumulate(
      id, node.inputs[0],
      gradients.emit(kRouteBackward, id, {node.outputs[0], gradients.of(node.outputs[1])},
                     {node.inputs[0]})[0]);
}

void differentiate_dispatch(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  gradients.accumulate(
      id, node.inputs[0],
      gradients.emit(kDispatchBackward, id, {gradients.of(node.outputs[0]), node.inputs[1]},
                     {node.inputs[0]})[0]);
}

void differentiate_combine(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const ValueId table = node.inputs[0];
  const ValueId gates = node.inputs[2];
  const auto outputs =
      gradients.emit(kCombineBackward, id,
                     {gradients.of(node.outputs[0]), table, node.inputs[1], gates}, {table, gates});
  gradients.accumulate(id, table, outputs[0]);
  gradients.accumulate(id, gates, outputs[1]);
}

}  // namespace

const OpDefinition kRoute{"route", "probabilities -> places of each token, gates", move_work,
                          differentiate_route};
const OpDefinition kRouteBackward{"route_backward", "places, dgates -> dprobabilities", move_work};
const OpDefinition kDispatch{"dispatch", "x, places -> rows by expert", row_work,
                             differentiate_dispatch};
const OpDefinition kDispatchBackward{"dispatch_backward", "drows, places -> dx", row_work};
const OpDefinition kCombine{"combine", "rows by expert, places, gates -> y", row_work,
                            differentiate_combine};
const OpDefinition kCombineBackward{"combine_backward", "dy, rows, places, gates -> drows, dgates",
                                    row_work};

Routed route(Graph& graph, const std::string& name, ValueId probabilities,
             const RouteAttributes& by) {
  const Shape in = graph.value(probabilities).shape;
  require(in == Shape{by.shape.tokens, by.shape.experts} && by.shape.choices <= by.shape.experts,
          kRoute, name, "[tokens, experts]", in);
  const Shape choices{by.shape.tokens, by.shape.choices};
  Routed routed{add_output(graph, name + ".places", choices),
                add_output(graph, name + ".gates", choices), by};
  graph.value(routed.places).type = DataType::kInt32;
  graph.add_node({&kRoute,
                  name,
                  Phase::kForward,
                  NodeId::none(),
                  {probabilities},
                  {routed.places, routed.gates},
                  by});
  return routed;
}

ValueId dispatch(Graph& graph, const std::string& name, ValueId x, const Routed& routed) {
  const Shape in = graph.value(x).shape;
  require(in.rank() == 2 && in[0] == routed.by.shape.tokens, kDispatch, name, "a row per token",
          in);
  return add_forward(graph, kDispatch, name, {x, routed.places}, {routed.by.shape.places(), in[1]},
                     routed.by);
}

ValueId combine(Graph& graph, const std::string& name, ValueId table, const Routed& routed) {
  const Shape in = graph.value(table).shape;
  require(in.rank() == 2 && in[0] == routed.by.shape.places(), kCombine, name, "a row per place",
          in);
  return add_forward(graph, kCombine, name, {table, routed.places, routed.gates},
                     {routed.by.shape.tokens, in[1]}, routed.by);
}

}  // namespace headway::trainer::ops
