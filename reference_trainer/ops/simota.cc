// SPDX-License-Identifier: MIT
// The targets of a detector's anchors by what the model predicts (mathematics in
// kernels/simota/op.h).
#include "kernels/simota/op.h"

#include "reference_trainer/ops/support.h"

namespace headway::trainer::ops {
namespace {

Work assign_work(const Graph&, const Node& node) {
  return kernels::simota_work(std::get<SimotaAttributes>(node.attributes).shape);
}

}  // namespace

const OpDefinition kAssignSimota{
    "assign_simota", "boxes, labels, logarithms, offsets -> labels and offsets of anchors",
    assign_work};

AnchorTargets assign_simota(Graph& graph, const std::string& name, ValueId boxes, ValueId labels,
                            ValueId log_probabilities, ValueId offsets,
                            const SimotaAttributes& attributes) {
  const kernels::SimotaShape& shape = attributes.shape;
  const std::int64_t places = shape.places();
  const std::int64_t rows = shape.rows();
  require(graph.value(boxes).shape == Shape{places, 4}, kAssignSimota, name,
          "four numbers for each box", graph.value(boxes).shape);
  require(graph.value(labels).shape == Shape{places}, kAssignSimota, name, "a label for each box",
          graph.value(labels).shape);
  require(graph.value(log_probabilities).shape == Shape{rows, shape.classes}, kAssignSimota, name,
          "a logarithm for each class of each anchor", graph.value(log_probabilities).shape);
  require(graph.value(offsets).shape == Shape{rows, 4}, kAssignSimota, name,
          "four offsets for each anchor", graph.value(offsets).shape);
  auto add = [&](const char* part, Shape extents, DataType type = DataType::kFloat32) {
    return add_output(graph, name + part, std::move(extents), type);
  };
  const AnchorTargets targets{add(".labels", {rows}, DataType::kInt32), add(".offsets", {rows, 4})};
  graph.add_node(
      {&kAssignSimota,
       name,
       Phase::kForward,
       NodeId::none(),
       {boxes, labels, log_probabilities, offsets},
       {targets.labels, targets.offsets, add(".candidates", {rows}, DataType::kUint8),
        add(".predicted", {rows, 4}), add(".overlaps", {places, shape.match.anchors}),
        add(".costs", {places, shape.match.anchors}), add(".last", {places}, DataType::kInt32)},
       attributes});
  return targets;
}

}  // namespace headway::trainer::ops
