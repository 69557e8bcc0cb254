// SPDX-License-Identifier: MIT
#include "reference_trainer/models/resnet.h"

#include <algorithm>
#include <vector>

#include "common/error.h"
#include "reference_trainer/ops/op.h"

namespace headway::trainer {
namespace {

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

ValueId bottleneck(Graph& graph, const std::string& name, ValueId x, std::int64_t channels,
                   int stride, bool training) {
  ValueId shortcut = x;
  if (stride != 1 || graph.value(x).shape.last() != 4 * channels) {
    shortcut = ops::conv2d(graph, name + ".shortcut.conv", x, 4 * channels, 1, stride);
    shortcut = ops::batch_norm(graph, name + ".shortcut.bn", shortcut, training);
  }
  ValueId y = ops::conv2d(graph, name + ".conv1", x, channels, 1, 1);
  y = ops::batch_norm(graph, name + ".bn1", y, training);
  y = ops::relu(graph, name + ".relu1", y);
  // The 3x3 convolution has the stride, as in most frameworks.
  y = ops::conv2d(graph, name + ".conv2", y, channels, 3, stride);
  y = ops::batch_norm(graph, name + ".bn2", y, training);
  y = ops::relu(graph, name + ".relu2", y);
  y = ops::conv2d(graph, name + ".conv3", y, 4 * channels, 1, 1);
  y = ops::batch_norm(graph, name + ".bn3", y, training);
  y = ops::add(graph, name + ".add", y, shortcut);
  return ops::relu(graph, name + ".relu3", y);
}

ValueId stem(Graph& graph, const ResnetOptions& o, ValueId x) {
  const bool large = o.large_stem || (o.depth == 50 && std::min(o.height, o.width_pixels) >= 64);
  const std::int64_t channels = o.depth == 50 ? 4 * o.width : o.width;
  x = ops::conv2d(graph, "stem.conv", x, channels, large ? 7 : 3, large ? 2 : 1);
  x = ops::batch_norm(graph, "stem.bn", x, o.training);
  x = ops::relu(graph, "stem.relu", x);
  return large ? ops::max_pool(graph, "stem.pool", x, 3, 2) : x;
}

std::vector<int> blocks_of(const ResnetOptions& o) {
  HEADWAY_INVARIANT(o.depth == 50 || (o.depth >= 8 && (o.depth - 2) % 6 == 0));
  return o.depth == 50 ? std::vector<int>{3, 4, 6, 3} : std::vector<int>(3, (o.depth - 2) / 6);
}

}  // namespace

std::vector<ValueId> resnet_stages(Graph& graph, const ResnetOptions& o, ValueId images,
                                   std::size_t count) {
  const std::vector<int> blocks = blocks_of(o);
  std::vector<ValueId> results;
  ValueId x = stem(graph, o, images);
  for (std::size_t stage = 0; stage < count; ++stage) {
    for (int block = 0; block < blocks[stage]; ++block) {
      const int stride = stage > 0 && block == 0 ? 2 : 1;
      const std::string name = fmt::format("layer{}.{}", stage + 1, block);
      const std::int64_t channels = std::int64_t{o.width} << stage;
      x = o.depth == 50 ? bottleneck(graph, name, x, 4 * channels, stride, o.training)
                        : basic_block(graph, name, x, channels, stride, o.training);
    }
    results.push_back(x);
  }
  return results;
}

ValueId add_input(Graph& graph, const std::string& name, Shape shape, DataType type) {
  Value value;
  value.name = name;
  value.shape = std::move(shape);
  value.type = type;
  value.role = Role::kInput;
  return graph.add_value(std::move(value));
}

Model build_resnet(const ResnetOptions& o) {
  Model model;
  Graph& graph = model.graph;
  model.images = add_input(graph, "images", {o.batch, o.height, o.width_pixels, o.image_channels},
                           DataType::kFloat32);
  model.labels = add_input(graph, "labels", {o.batch}, DataType::kInt32);
  ValueId x = resnet_stages(graph, o, model.images, blocks_of(o).size()).back();
  x = ops::global_average_pool(graph, "pool", x);
  x = ops::linear(graph, "fc", x, o.classes);
  model.figures = ops::cross_entropy(graph, "loss", x, model.labels);
  return model;
}

}  // namespace headway::trainer
