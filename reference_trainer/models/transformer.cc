// SPDX-License-Identifier: MIT
#include "reference_trainer/models/transformer.h"

#include <cmath>

#include "common/error.h"
#include "reference_trainer/ops/op.h"

namespace headway::trainer {
namespace {

ValueId tokens(Graph& graph, const std::string& name, const TransformerOptions& o) {
  Value value;
  value.name = name;
  value.shape = {o.batch * o.length};
  value.type = DataType::kInt32;
  value.role = Role::kInput;
  return graph.add_value(std::move(value));
}

ValueId residual(Graph& graph, const std::string& name, const TransformerOptions& o, ValueId x,
                 ValueId branch) {
  if (o.training && o.dropout > 0)
    branch = ops::dropout(graph, name + ".dropout", branch, o.dropout);
  return ops::add(graph, name + ".add", x, branch);
}

ValueId block(Graph& graph, const TransformerOptions& o, std::int64_t number, ValueId x) {
  const std::string name = fmt::format("block{}", number);
  // Branches that feed the residual stream start smaller the deeper the network (GPT-2).
  const float gain = 1 / std::sqrt(2.0F * static_cast<float>(o.layers));
  kernels::AttentionShape shape{o.batch, o.length, o.heads, o.features / o.heads, o.length, 0};
  if (o.window > 0) {
    shape.window = o.window;
    shape.shift = number % 2 == 1 && o.window < o.length ? o.window / 2 : 0;
  }
  ValueId y = ops::layer_norm(graph, name + ".ln1", x);
  y = ops::projection(graph, name + ".qkv", y, 3 * o.features);
  y = ops::attention(graph, name + ".attention", y, shape);
  y = ops::projection(graph, name + ".proj", y, o.features, gain);
  x = residual(graph, name + ".attention", o, x, y);
  y = ops::layer_norm(graph, name + ".ln2", x);
  y = ops::projection(graph, name + ".fc1", y, 4 * o.features);
  y = ops::gelu(graph, name + ".gelu", y);
  y = ops::projection(graph, name + ".fc2", y, o.features, gain);
  return residual(graph, name + ".mlp", o, x, y);
}

}  // namespace

Model build_transformer(const TransformerOptions& o) {
  HEADWAY_INVARIANT(o.features % o.heads == 0);
  HEADWAY_INVARIANT(o.window == 0 || o.length % o.window == 0);
  Model model;
  Graph& graph = model.graph;
  model.images = tokens(graph, "tokens", o);
  model.labels = tokens(graph, "labels", o);
  ValueId x =
      ops::embedding(graph, "embedding", model.images, o.vocabulary, o.features, o.length, true);
  for (std::int64_t i = 0; i < o.layers; ++i) x = block(graph, o, i, x);
  x = ops::layer_norm(graph, "ln", x);
  x = ops::matmul(graph, "head", x, o.vocabulary);
  model.figures = ops::cross_entropy(graph, "loss", x, model.labels);
  return model;
}

}  // namespace headway::trainer
