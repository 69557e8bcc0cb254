// SPDX-License-Identifier: MIT
#include "reference_trainer/models/resnet.h"

#include "common/error.h"
#include "reference_trainer/ops/op.h"

namespace headway::trainer {
namespace {

ValueId input(Graph& graph, const std::string& name, Shape shape, DataType type) {
  Value value;
  value.name = name;
  value.shape = std::move(shape);
  value.type = type;
  value.role = Role::kInput;
  return graph.add_value(std::move(value));
}

ValueId basic_block(Graph& graph, const std::string& name, ValueId x, std::int64_t channels,
                    int stride, bool training) {
  ValueId shortcut = x;
  if (stride != 1 || graph.value(x).shape.last() != channels) {
    shortcut = ops::conv2d(graph, name + ".shortcut.conv", x, channels, 1, stride);
    shortcut = ops::batch_norm(graph, name + ".shortcut.bn", shortcut, training);
  }
  ValueId y = ops::conv2d(graph, name + ".conv1", x, channels, 3, stride);
  y = ops::batch_norm(graph, name + ".bn1", y, training);
  y = ops::relu(graph, name + ".relu1", y);
  y = ops::conv2d(graph, name + ".conv2", y, channels, 3, 1);
  y = ops::batch_norm(graph, name + ".bn2", y, training);
  y = ops::add(graph, name + ".add", y, shortcut);
  return ops::relu(graph, name + ".relu2", y);
}

}  // namespace

Model build_resnet(const ResnetOptions& o) {
  HEADWAY_INVARIANT(o.depth >= 8 && (o.depth - 2) % 6 == 0);
  Model model;
  Graph& graph = model.graph;
  model.images = input(graph, "images", {o.batch, o.height, o.width_pixels, o.image_channels},
                       DataType::kFloat32);
  model.labels = input(graph, "labels", {o.batch}, DataType::kInt32);
  ValueId x = ops::conv2d(graph, "stem.conv", model.images, o.width, 3, 1);
  x = ops::batch_norm(graph, "stem.bn", x, o.training);
  x = ops::relu(graph, "stem.relu", x);
  const int blocks = (o.depth - 2) / 6;
  for (int stage = 0; stage < 3; ++stage) {
    for (int block = 0; block < blocks; ++block) {
      const int stride = stage > 0 && block == 0 ? 2 : 1;
      const std::string name = fmt::format("layer{}.{}", stage + 1, block);
      x = basic_block(graph, name, x, std::int64_t{o.width} << stage, stride, o.training);
    }
  }
  x = ops::global_average_pool(graph, "pool", x);
  x = ops::linear(graph, "fc", x, o.classes);
  model.figures = ops::softmax_cross_entropy(graph, "loss", x, model.labels);
  return model;
}

}  // namespace headway::trainer
