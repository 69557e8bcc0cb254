// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "reference_trainer/graph/graph.h"
#include "reference_trainer/graph/model.h"

namespace headway::trainer {

/// The residual network of He et al. (2016) in its CIFAR form: a 3x3 stem, three stages of
/// (depth - 2) / 6 basic blocks with width, 2·width and 4·width channels, the second and third
/// stage starting at stride 2 with a 1x1 projection shortcut, a global average pool and a linear
/// layer. Depth 20 and width 16 are ResNet-20, 0.27 M parameters, 31 M multiplications per 28x28
/// image.
/// Depth 50 is the paper's ResNet-50: four stages of 3, 4, 6 and 3 bottleneck blocks (1x1, 3x3, 1x1)
/// of 4·width, 8·width ... channels inside and four times that outside, 25.6 M parameters at width
/// 16 and 1000 classes. Images of 64 pixels and more pass its 7x7 stem at stride 2 and a max pool,
/// smaller ones a 3x3 stem at stride 1.
struct ResnetOptions {
  std::int64_t batch = 32;
  std::int64_t height = 28;
  std::int64_t width_pixels = 28;
  std::int64_t image_channels = 1;
  int classes = 10;
  int depth = 20;  ///< 6n + 2, or 50
  int width = 16;
  bool training = true;     ///< false: batch norm uses its running statistics
  bool large_stem = false;  ///< use the 7x7 stem at any depth
};

Model build_resnet(const ResnetOptions& options);

/// The stem and the first `count` stages on `images`; returns the result of each stage.
std::vector<ValueId> resnet_stages(Graph& graph, const ResnetOptions& options, ValueId images,
                                   std::size_t count);
/// Adds a value that batches are copied to.
ValueId add_input(Graph& graph, const std::string& name, Shape shape, DataType type);

}  // namespace headway::trainer
