// SPDX-License-Identifier: MIT
// The targets of a detector's anchors (mathematics in kernels/box_match/op.h), and its maps joined
// to one table.
#include "kernels/box_match/op.h"

#include "reference_trainer/ops/support.h"

namespace headway::trainer::ops {
namespace {

Work move_work(const Graph& graph, const Node& node) {
  return {0, operand_bytes(graph, node)};
}

Work assign_work(const Graph&, const Node& node) {
  const auto& shape = std::get<BoxMatchAttributes>(node.attributes).shape;
  return kernels::box_overlaps_work(shape) + kernels::best_anchors_work(shape) +
         kernels::match_targets_work(shape);
}

void differentiate_join(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const std::vector<ValueId> parts =
      gradients.emit(kSplitMaps, id, {gradients.of(node.outputs[0])}, node.inputs);
  for (std::size_t i = 0; i < parts.size(); ++i) gradients.accumulate(id, node.inputs[i], parts[i]);
}

}  // namespace

const OpDefinition kJoinMaps{"join_maps", "maps -> the rows of all, image by image", move_work,
                             differentiate_join};
const OpDefinition kSplitMaps{"split_maps", "rows -> maps", move_work};
const OpDefinition kAssignBoxes{"assign_boxes", "boxes, labels -> labels and offsets of anchors",
                                assign_work};

ValueId join_maps(Graph& graph, const std::string& name, std::vector<ValueId> maps,
                  std::int64_t columns) {
  std::int64_t elements = 0;
  for (ValueId map : maps) {
    const Shape& shape = graph.value(map).shape;
    require(shape.rank() == 4 && shape[3] % columns == 0, kJoinMaps, name,
            "maps (NHWC) with a multiple of the columns", shape);
    elements += shape.elements();
  }
  return add_forward(graph, kJoinMaps, name, std::move(maps), {elements / columns, columns});
}

AnchorTargets assign_boxes(Graph& graph, const std::string& name, ValueId boxes, ValueId labels,
                           const BoxMatchAttributes& attributes) {
  const kernels::BoxMatchShape& shape = attributes.shape;
  const std::int64_t places = shape.images * shape.boxes;
  const std::int64_t rows = shape.images * shape.anchors;
  require(graph.value(boxes).shape == Shape{places, 4}, kAssignBoxes, name,
          "four numbers for each box", graph.value(boxes).shape);
  require(graph.value(labels).shape == Shape{places}, kAssignBoxes, name, "a label for each box",
          graph.value(labels).shape);
  const AnchorTargets targets{add_output(graph, name + ".labels", {rows}, DataType::kInt32),
                              add_output(graph, name + ".offsets", {rows, 4})};
  const ValueId overlaps = add_output(graph, name + ".overlaps", {places, shape.anchors});
  const ValueId best = add_output(graph, name + ".best", {places}, DataType::kInt32);
  graph.add_node({&kAssignBoxes,
                  name,
                  Phase::kForward,
                  NodeId::none(),
                  {boxes, labels},
                  {targets.labels, targets.offsets, overlaps, best},
                  attributes});
  return targets;
}

}  // namespace headway::trainer::ops
