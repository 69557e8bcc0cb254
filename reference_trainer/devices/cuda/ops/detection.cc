// SPDX-License-Identifier: MIT
// A detector's targets and loss by our own kernels.
#include "kernels/box_match/launch.h"
#include "kernels/cuda/driver/memory.h"
#include "kernels/multibox/launch.h"
#include "kernels/simota/launch.h"
#include "reference_trainer/devices/cuda/cuda_ops.h"

namespace headway::trainer::cuda_device {
namespace {

using kernels::cuda::BoxMatchArrays;
using kernels::cuda::MultiboxArrays;

constexpr NumberFormat kFull = NumberFormat::kFloat32;

const kernels::MultiboxShape& loss_shape(const Node& node) {
  return std::get<kernels::MultiboxShape>(node.attributes);
}

Operand loss_scratch(CudaGraph& graph, NodeId id) {
  constexpr std::int64_t kDouble = sizeof(double);
  return graph.scratch(id, kDouble * kernels::cuda::multibox_scratch_doubles(
                                         graph.limits(), loss_shape(graph.node(id))));
}

using Table = std::shared_ptr<const cuda::DeviceMemory>;

/// A constant table that the graph reads in every step; copied when memory is bound.
Table upload(const CudaGraph& graph, const std::vector<float>& values) {
  const auto& driver = graph.device().driver();
  const std::size_t bytes = values.size() * sizeof(float);
  const auto memory = std::make_shared<const cuda::DeviceMemory>(driver, bytes);
  cuda::upload(driver, memory->address(), values.data(), bytes);
  return memory;
}

const float* floats(const Table& table) {
  return reinterpret_cast<const float*>(table->address());
}

/// Launches contain the addresses of tables, so the tables must live as long as they do.
Vary keep(std::vector<Table> tables) {
  return {Vary::By::kNothing, [tables = std::move(tables)](Launches&, const LaunchArguments&) {}};
}

struct MatchOperands {
  Operand boxes, labels, anchor_labels, offsets, overlaps, best;
  Table anchors;

  /// The arrays from image `first` on.
  BoxMatchArrays arrays(const kernels::BoxMatchShape& shape, std::int64_t first, int slot) const {
    const std::int64_t box = first * shape.boxes;
    const std::int64_t row = first * shape.anchors;
    return {boxes.at<float>(slot) + 4 * box,
            labels.at<std::int32_t>(slot) + box,
            floats(anchors),
            overlaps.at<float>() + box * shape.anchors,
            best.at<std::int32_t>() + box,
            anchor_labels.at<std::int32_t>() + row,
            offsets.at<float>() + 4 * row};
  }
};

/// Adds the three kernels for `shape.images` images from image `first` on.
void add_match_kernels(CudaGraph& graph, NodeId id, const MatchOperands& of,
                       const kernels::BoxMatchShape& shape, std::int64_t first) {
  using kernels::cuda::Limits;
  using Make = Launch (*)(const Limits&, const kernels::BoxMatchShape&, const BoxMatchArrays&);
  struct Pass {
    const char* name;
    Make make;
    Work work;
  };
  for (const Pass& pass :
       {Pass{"overlaps", kernels::cuda::box_overlaps, kernels::box_overlaps_work(shape)},
        {"argmax", kernels::cuda::best_anchors, kernels::best_anchors_work(shape)},
        {"scatter", kernels::cuda::match_targets, kernels::match_targets_work(shape)}})
    graph.add_launches(
        id,
        [=, &graph, make = pass.make](int slot) -> Launches {
          return {make(graph.limits(), shape, of.arrays(shape, first, slot))};
        },
        pass.name, pass.work, keep({of.anchors}));
}

struct SimotaOperands {
  kernels::SimotaShape shape;
  Operand boxes, labels, log_probabilities, offsets, anchor_labels, targets;
  Operand candidates, predicted, overlaps, costs, last;
  Table anchors, regions;

  /// Of the whole batch.
  kernels::Simota op(int slot) const {
    return {.shape = shape,
            .boxes = boxes.at<float>(slot),
            .labels = labels.at<std::int32_t>(slot),
            .anchors = floats(anchors),
            .regions = floats(regions),
            .log_probabilities = log_probabilities.at<float>(),
            .offsets = offsets.at<float>(),
            .candidates = candidates.at<std::uint8_t>(),
            .predicted = predicted.at<float>(),
            .overlaps = overlaps.at<float>(),
            .costs = costs.at<float>(),
            .last = last.at<std::int32_t>(),
            .anchor_labels = anchor_labels.at<std::int32_t>(),
            .targets = targets.at<float>()};
  }
};

}  // namespace

void add_assign_boxes(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const auto& by = std::get<BoxMatchAttributes>(node.attributes);
  const MatchOperands of{graph.operand(node.inputs[0]),
                         graph.operand(node.inputs[1]),
                         graph.operand(node.outputs[0]),
                         graph.output(id, node.outputs[1], kFull),
                         graph.output(id, node.outputs[2], kFull),
                         graph.operand(node.outputs[3]),
                         upload(graph, *by.anchors)};
  if (!by.per_sample) return add_match_kernels(graph, id, of, by.shape, 0);
  kernels::BoxMatchShape one = by.shape;
  one.images = 1;
  for (std::int64_t image = 0; image < by.shape.images; ++image)
    add_match_kernels(graph, id, of, one, image);
}

void add_assign_simota(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const auto& by = std::get<SimotaAttributes>(node.attributes);
  const SimotaOperands of{by.shape,
                          graph.operand(node.inputs[0]),
                          graph.operand(node.inputs[1]),
                          graph.input(id, node.inputs[2], kFull),
                          graph.input(id, node.inputs[3], kFull),
                          graph.operand(node.outputs[0]),
                          graph.output(id, node.outputs[1], kFull),
                          graph.operand(node.outputs[2]),
                          graph.output(id, node.outputs[3], kFull),
                          graph.output(id, node.outputs[4], kFull),
                          graph.output(id, node.outputs[5], kFull),
                          graph.operand(node.outputs[6]),
                          upload(graph, *by.anchors),
                          upload(graph, *by.regions)};
  const std::int64_t count = by.images_at_once();
  kernels::SimotaShape shape = by.shape;
  shape.match.images = count;
  for (std::int64_t image = 0; image < by.shape.match.images; image += count)
    for (std::size_t pass = 0; pass < kernels::kSimotaPasses.size(); ++pass)
      graph.add_launches(
          id,
          [=, &graph](int slot) -> Launches {
            return {kernels::cuda::kSimotaLaunches[pass](graph.limits(),
                                                         of.op(slot).images(image, count))};
          },
          std::string(kernels::kSimotaPasses[pass].name), kernels::kSimotaPasses[pass].work(shape),
          keep({of.anchors, of.regions}));
}

void add_background_losses(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const NumberFormat format = graph.format(node.inputs[0]);
  graph.add_launches(id, [=, &graph, &node](int slot) -> Launches {
    MultiboxArrays a;
    a.log_probabilities = graph.address(node.inputs[0]);
    a.labels = graph.address<std::int32_t>(node.inputs[1], slot);
    a.losses = graph.address<float>(node.outputs[0]);
    return {kernels::cuda::background_losses(graph.limits(), format, loss_shape(node), a)};
  });
}

void add_pick_anchors(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const Operand parts = loss_scratch(graph, id);
  auto arrays = [=, &graph, &node] {
    MultiboxArrays a;
    a.losses = graph.address<float>(node.inputs[0]);
    a.places = graph.address<std::int32_t>(node.outputs[0]);
    a.picked = graph.address<std::uint8_t>(node.outputs[1]);
    a.parts = parts.at<double>();
    return a;
  };
  graph.add_launches(
      id,
      [=, &graph, &node](int) -> Launches {
        return {kernels::cuda::pick_hard_negatives(graph.limits(), loss_shape(node), arrays())};
      },
      "topk", kernels::pick_hard_negatives_work(loss_shape(node)));
  graph.add_launches(
      id,
      [=, &graph, &node](int) {
        return kernels::cuda::compact(graph.limits(), loss_shape(node), arrays());
      },
      "compact", kernels::compact_work(loss_shape(node).rows()));
}

void add_multibox_loss(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const NumberFormat format = graph.format(node.inputs[0]);
  const Operand offsets = graph.input(id, node.inputs[2], format);
  const Operand targets = graph.input(id, node.inputs[3], kFull);
  const Operand parts = loss_scratch(graph, id);
  graph.add_launches(id, [=, &graph, &node](int slot) {
    MultiboxArrays a;
    a.log_probabilities = graph.address(node.inputs[0]);
    a.labels = graph.address<std::int32_t>(node.inputs[1], slot);
    a.offsets = offsets.at();
    a.targets = targets.at<float>(slot);
    a.places = graph.address<std::int32_t>(node.inputs[4]);
    a.figures = graph.address<kernels::LossFigures>(node.outputs[0]);
    a.parts = parts.at<double>();
    return kernels::cuda::multibox_loss_forward(graph.limits(), format, loss_shape(node), a);
  });
}

void add_multibox_loss_backward(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const NumberFormat format = graph.format(node.outputs[0]);
  const Operand offsets = graph.input(id, node.inputs[1], format);
  const Operand targets = graph.input(id, node.inputs[2], kFull);
  const Operand doffsets = graph.output(id, node.outputs[1], format);
  const Operand state = node.inputs.size() > 4 ? graph.operand(node.inputs[4]) : Operand();
  const Operand parts = loss_scratch(graph, id);
  graph.add_launches(id, [=, &graph, &node](int slot) {
    MultiboxArrays a;
    a.labels = graph.address<std::int32_t>(node.inputs[0], slot);
    a.offsets = offsets.at();
    a.targets = targets.at<float>(slot);
    a.places = graph.address<std::int32_t>(node.inputs[3]);
    a.dlog_probabilities = graph.address(node.outputs[0]);
    a.doffsets = doffsets.at();
    a.state = state.at<float>();
    a.parts = parts.at<double>();
    return kernels::cuda::multibox_loss_backward(graph.limits(), format, loss_shape(node), a);
  });
}

}  // namespace headway::trainer::cuda_device
