// SPDX-License-Identifier: MIT
#include "reference_trainer/models/ssd.h"

#include "common/error.h"
#include "reference_trainer/ops/op.h"
#include "reference_trainer/ops/support.h"

namespace headway::trainer {
namespace {

ValueId conv_bn_relu(Graph& graph, const SsdOptions& o, const std::string& name, ValueId x,
                     std::int64_t channels, int kernel, int stride, int padding = -1) {
  x = ops::conv2d(graph, name + ".conv", x, channels, kernel, stride, padding);
  x = ops::batch_norm(graph, name + ".bn", x, o.training);
  return ops::relu(graph, name + ".relu", x);
}

/// The maps that the heads use, finest first.
std::vector<ValueId> feature_maps(Graph& graph, const SsdOptions& o, ValueId images,
                                  std::span<const BoxEncoder::FeatureMap> wanted) {
  ResnetOptions backbone;
  backbone.depth = o.depth;
  backbone.width = o.width;
  backbone.training = o.training;
  backbone.large_stem = true;
  std::vector<ValueId> maps = resnet_stages(graph, backbone, images, 3);
  maps.erase(maps.begin());  // the first stage's is too fine
  const std::int64_t channels = 4 * std::int64_t{o.width};
  while (maps.size() < wanted.size()) {
    const std::string name = fmt::format("extra{}", maps.size() - 1);
    const ValueId narrow =
        conv_bn_relu(graph, o, name + ".narrow", maps.back(), channels / 2, 1, 1);
    const int padding = wanted[maps.size() - 1].cells == 3 ? 0 : 1;
    maps.push_back(conv_bn_relu(graph, o, name, narrow, channels, 3, 2, padding));
  }
  for (std::size_t i = 0; i < maps.size(); ++i)
    HEADWAY_INVARIANT(graph.value(maps[i]).shape[1] == wanted[i].cells);
  return maps;
}

/// `columns` numbers for each anchor of every map: [batch·anchors, columns].
ValueId heads(Graph& graph, const std::string& name, std::span<const ValueId> maps,
              std::span<const BoxEncoder::FeatureMap> layout, std::int64_t columns) {
  std::vector<ValueId> parts;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const std::string part = fmt::format("{}{}", name, i);
    const std::int64_t channels = layout[i].anchors_per_cell() * columns;
    const ValueId y = ops::conv2d(graph, part + ".conv", maps[i], channels, 3, 1);
    // He's deviation is for layers with a ReLU; scores should start near zero, so that all classes
    // are equally likely.
    graph.value(graph.find(part + ".conv.weight")).initial.value = 0.01F;
    const ValueId bias = ops::add_parameter(graph, part + ".bias", {channels}, {});
    parts.push_back(ops::bias_add(graph, part + ".bias_add", y, bias));
  }
  return ops::join_maps(graph, name, std::move(parts), columns);
}

}  // namespace

Model build_ssd(const SsdOptions& o) {
  HEADWAY_INVARIANT(o.matching == Matching::kOverlap || o.assign != Assign::kLoader);
  Model model;
  Graph& graph = model.graph;
  const std::vector<BoxEncoder::FeatureMap> layout = ssd_feature_maps(o.size);
  const BoxEncoder encoder(layout);
  const auto anchors = static_cast<std::int64_t>(encoder.count());
  const std::int64_t targets = o.batch * (o.assign == Assign::kLoader ? anchors : o.boxes);
  model.images = add_input(graph, "images", {o.batch, o.size, o.size, 3}, DataType::kFloat32);
  model.labels = add_input(graph, "labels", {targets}, DataType::kInt32);
  model.boxes = add_input(graph, "boxes", {targets, 4}, DataType::kFloat32);
  const std::vector<ValueId> maps = feature_maps(graph, o, model.images, layout);
  const ValueId scores = heads(graph, "classes", maps, layout, o.classes + 1);
  const ValueId offsets = heads(graph, "offsets", maps, layout, 4);
  const kernels::BoxMatchShape match{o.batch, o.boxes, anchors};
  const bool per_sample = o.assign == Assign::kPerSample;
  const bool simota = o.matching == Matching::kSimota;
  ops::AnchorTargets wanted{model.labels, model.boxes};
  if (o.assign != Assign::kLoader && !simota)
    wanted = ops::assign_boxes(graph, "assign", model.boxes, model.labels,
                               {match, encoder.anchors(), per_sample});
  const ValueId log_probabilities = ops::log_softmax(graph, "loss.log_softmax", scores);
  if (simota)
    wanted = ops::assign_simota(
        graph, "assign", model.boxes, model.labels, log_probabilities, offsets,
        {{match, o.classes + 1}, encoder.anchors(), encoder.regions(), per_sample});
  model.figures = ops::multibox_loss(graph, "loss", log_probabilities, offsets, wanted, o.batch,
                                     o.pick_on_processor);
  return model;
}

}  // namespace headway::trainer
