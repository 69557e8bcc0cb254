// SPDX-License-Identifier: MIT
// A detector's maps, targets and loss by our own kernels.
#include <cstring>

#include "kernels/box_match/op.h"
#include "kernels/multibox/op.h"
#include "kernels/simota/op.h"
#include "reference_trainer/devices/host/ops/host_ops.h"

namespace headway::trainer::host {
namespace {

const kernels::MultiboxShape& loss_shape(const Node& node) {
  return std::get<kernels::MultiboxShape>(node.attributes);
}

/// Calls move(part of the table, part of the map, number of floats) for every image of every map.
template <class Move>
void for_each_part(const HostGraph& graph, ValueId table, std::span<const ValueId> maps,
                   const Move& move) {
  const std::int64_t images = graph.graph().value(maps[0]).shape[0];
  float* const rows = graph.address(table);
  const std::int64_t image_floats = graph.graph().value(table).shape.elements() / images;
  std::int64_t at = 0;
  for (ValueId map : maps) {
    const std::int64_t floats = graph.graph().value(map).shape.elements() / images;
    for (std::int64_t image = 0; image < images; ++image)
      move(rows + image * image_floats + at, graph.address(map) + image * floats,
           static_cast<std::size_t>(floats) * sizeof(float));
    at += floats;
  }
}

/// Adds the three kernels for `shape.images` images from image `first` on.
void add_match_kernels(HostGraph& graph, NodeId id, const kernels::BoxMatchShape& shape,
                       std::int64_t first) {
  const Node& node = graph.graph().node(id);
  const float* const anchors = std::get<BoxMatchAttributes>(node.attributes).anchors->data();
  const std::int64_t box = first * shape.boxes;
  const std::int64_t row = first * shape.anchors;
  const std::int64_t pair = box * shape.anchors;
  graph.add_kernel(
      id,
      [=, &graph, &node](const LaunchArguments& a) {
        kernels::box_overlaps(shape, graph.address(node.inputs[0], a.slot) + 4 * box,
                              graph.address<std::int32_t>(node.inputs[1], a.slot) + box, anchors,
                              graph.address(node.outputs[2]) + pair);
      },
      "overlaps", kernels::box_overlaps_work(shape));
  graph.add_kernel(
      id,
      [=, &graph, &node](const LaunchArguments&) {
        kernels::best_anchors(shape, graph.address(node.outputs[2]) + pair,
                              graph.address<std::int32_t>(node.outputs[3]) + box);
      },
      "argmax", kernels::best_anchors_work(shape));
  graph.add_kernel(
      id,
      [=, &graph, &node](const LaunchArguments& a) {
        kernels::match_targets(shape, graph.address(node.inputs[0], a.slot) + 4 * box,
                               graph.address<std::int32_t>(node.inputs[1], a.slot) + box, anchors,
                               graph.address(node.outputs[2]) + pair,
                               graph.address<std::int32_t>(node.outputs[3]) + box,
                               graph.address<std::int32_t>(node.outputs[0]) + row,
                               graph.address(node.outputs[1]) + 4 * row);
      },
      "scatter", kernels::match_targets_work(shape));
}

/// The whole batch of a node that assigns by SimOTA.
kernels::Simota simota_of(const HostGraph& graph, const Node& node, int slot) {
  const auto& by = std::get<SimotaAttributes>(node.attributes);
  return {.shape = by.shape,
          .boxes = graph.address(node.inputs[0], slot),
          .labels = graph.address<std::int32_t>(node.inputs[1], slot),
          .anchors = by.anchors->data(),
          .regions = by.regions->data(),
          .log_probabilities = graph.address(node.inputs[2]),
          .offsets = graph.address(node.inputs[3]),
          .candidates = graph.address<std::uint8_t>(node.outputs[2]),
          .predicted = graph.address(node.outputs[3]),
          .overlaps = graph.address(node.outputs[4]),
          .costs = graph.address(node.outputs[5]),
          .last = graph.address<std::int32_t>(node.outputs[6]),
          .anchor_labels = graph.address<std::int32_t>(node.outputs[0]),
          .targets = graph.address(node.outputs[1])};
}

}  // namespace

void add_join_maps(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  graph.add_kernel(id, [&graph, &node](const LaunchArguments&) {
    for_each_part(graph, node.outputs[0], node.inputs,
                  [](float* row, float* map, std::size_t bytes) { std::memcpy(row, map, bytes); });
  });
}

void add_split_maps(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  graph.add_kernel(id, [&graph, &node](const LaunchArguments&) {
    for_each_part(graph, node.inputs[0], node.outputs,
                  [](float* row, float* map, std::size_t bytes) { std::memcpy(map, row, bytes); });
  });
}

void add_assign_boxes(HostGraph& graph, NodeId id) {
  const auto& by = std::get<BoxMatchAttributes>(graph.graph().node(id).attributes);
  if (!by.per_sample) return add_match_kernels(graph, id, by.shape, 0);
  kernels::BoxMatchShape one = by.shape;
  one.images = 1;
  for (std::int64_t image = 0; image < by.shape.images; ++image)
    add_match_kernels(graph, id, one, image);
}

void add_assign_simota(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const auto& by = std::get<SimotaAttributes>(node.attributes);
  const std::int64_t count = by.images_at_once();
  kernels::SimotaShape shape = by.shape;
  shape.match.images = count;
  for (std::int64_t image = 0; image < by.shape.match.images; image += count)
    for (const kernels::SimotaPass& pass : kernels::kSimotaPasses)
      graph.add_kernel(
          id,
          [=, &graph, &node, run = pass.run](const LaunchArguments& a) {
            run(simota_of(graph, node, a.slot).images(image, count));
          },
          std::string(pass.name), pass.work(shape));
}

void add_background_losses(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  graph.add_kernel(id, [&graph, &node](const LaunchArguments& a) {
    kernels::background_losses(loss_shape(node), graph.address(node.inputs[0]),
                               graph.address<std::int32_t>(node.inputs[1], a.slot),
                               graph.address(node.outputs[0]));
  });
}

void add_pick_anchors(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  graph.add_kernel(
      id,
      [&graph, &node](const LaunchArguments&) {
        kernels::pick_hard_negatives(loss_shape(node), graph.address(node.inputs[0]),
                                     graph.address<std::uint8_t>(node.outputs[1]));
      },
      "topk", kernels::pick_hard_negatives_work(loss_shape(node)));
  graph.add_kernel(
      id,
      [&graph, &node](const LaunchArguments&) {
        kernels::compact(loss_shape(node).rows(), graph.address<std::uint8_t>(node.outputs[1]),
                         graph.address<std::int32_t>(node.outputs[0]));
      },
      "compact", kernels::compact_work(loss_shape(node).rows()));
}

void add_multibox_loss(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  graph.add_kernel(id, [&graph, &node](const LaunchArguments& a) {
    kernels::multibox_loss_forward(
        loss_shape(node), graph.address(node.inputs[0]),
        graph.address<std::int32_t>(node.inputs[1], a.slot), graph.address(node.inputs[2]),
        graph.address(node.inputs[3], a.slot), graph.address<std::int32_t>(node.inputs[4]),
        graph.address<kernels::LossFigures>(node.outputs[0]));
  });
}

void add_multibox_loss_backward(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  graph.add_kernel(id, [&graph, &node](const LaunchArguments& a) {
    kernels::multibox_loss_backward(
        loss_shape(node), graph.address<std::int32_t>(node.inputs[0], a.slot),
        graph.address(node.inputs[1]), graph.address(node.inputs[2], a.slot),
        graph.address<std::int32_t>(node.inputs[3]), graph.address(node.outputs[0]),
        graph.address(node.outputs[1]), loss_scale(graph, node, 4));
  });
}

}  // namespace headway::trainer::host
