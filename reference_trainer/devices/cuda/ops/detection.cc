// SPDX-License-Identifier: MIT
// A detector's targets and loss by our own kernels.
#include "kernels/box_match/launch.h"
#include "kernels/cuda/driver/memory.h"
#include "kernels/multibox/launch.h"
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

/// A constant table that the graph reads in every step; copied when memory is bound.
std::shared_ptr<const cuda::DeviceMemory> upload(const CudaGraph& graph,
                                                 const std::vector<float>& values) {
  const auto& driver = graph.device().driver();
  const std::size_t bytes = values.size() * sizeof(float);
  const auto memory = std::make_shared<const cuda::DeviceMemory>(driver, bytes);
  cuda::upload(driver, memory->address(), values.data(), bytes);
  return memory;
}

struct MatchOperands {
  Operand boxes, labels, anchor_labels, offsets, overlaps, best;
  std::shared_ptr<const cuda::DeviceMemory> anchors;

  /// The arrays from image `first` on.
  BoxMatchArrays arrays(const kernels::BoxMatchShape& shape, std::int64_t first, int slot) const {
    const std::int64_t box = first * shape.boxes;
    const std::int64_t row = first * shape.anchors;
    return {boxes.at<float>(slot) + 4 * box,
            labels.at<std::int32_t>(slot) + box,
            reinterpret_cast<const float*>(anchors->address()),
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
  // The launches contain the table's address, so the table must live as long as they do.
  const Vary keep{Vary::By::kNothing, [anchors = of.anchors](Launches&, const LaunchArguments&) {}};
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
        pass.name, pass.work, keep);
}

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
