// SPDX-License-Identifier: MIT
#include "reference_trainer/models/transformer.h"

#include <algorithm>
#include <charconv>
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

/// x [rows of each expert of this rank, in] times the expert's own weights.
ValueId expert_product(Graph& graph, const std::string& name, const ExpertOptions& e, ValueId x,
                       std::int64_t out, float gain) {
  const Shape in = graph.value(x).shape;
  const std::int64_t own = e.count / e.ranks;
  Value weights;
  weights.name = name + ".weight";
  weights.shape = {own * out, in[1]};
  weights.role = Role::kParameter;
  weights.initial = {Initial::Kind::kNormal, gain / std::sqrt(static_cast<float>(in[1]))};
  if (e.ranks > 1) weights.part = {e.count * out, in[1], 1, e.rank * own * out, 0};
  const ValueId w = graph.add_value(std::move(weights));
  return ops::batched_matmul(graph, name, x, w, {own, in[0] / own, out, in[1], false, true});
}

/// Tokens by expert, to the ranks that have them; the experts' products; and back.
ValueId experts(Graph& graph, const TransformerOptions& o, std::int64_t number, ValueId x,
                float gain) {
  const std::string name = fmt::format("block{}", number);
  const ExpertOptions& e = o.experts;
  const std::int64_t tokens = o.batch * o.length;
  const std::int64_t own = e.count / e.ranks;
  const double even =
      static_cast<double>(tokens * e.choices) / static_cast<double>(e.count) * e.capacity;
  RouteAttributes by;
  by.shape = {tokens, e.count, e.choices,
              std::min(tokens, static_cast<std::int64_t>(std::ceil(even)))};
  by.ranks = e.ranks;
  if (e.favour) by.favour = std::make_shared<const std::vector<float>>(e.favour(number));
  ValueId y = ops::matmul(graph, name + ".router", x, e.count);
  y = ops::softmax(graph, name + ".router.softmax", y);
  const ops::Routed routed = ops::route(graph, name + ".route", y, by);
  y = ops::dispatch(graph, name + ".dispatch", x, routed);
  const ExchangeAttributes all_to_all{ExchangeKind::kAllToAll, number};
  const bool sorts = e.ranks > 1 && own > 1;
  if (e.ranks > 1) y = ops::exchange(graph, name + ".to_experts", y, all_to_all);
  if (sorts) y = ops::swap_pieces(graph, name + ".experts.sort", y, e.ranks, own);
  y = expert_product(graph, name + ".experts.fc1", e, y, 4 * o.features, 1);
  y = ops::gelu(graph, name + ".experts.gelu", y);
  y = expert_product(graph, name + ".experts.fc2", e, y, o.features, gain);
  if (sorts) y = ops::swap_pieces(graph, name + ".experts.unsort", y, own, e.ranks);
  if (e.ranks > 1) y = ops::exchange(graph, name + ".from_experts", y, all_to_all);
  return ops::combine(graph, name + ".combine", y, routed);
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
  if (o.experts.count > 0) {
    y = experts(graph, o, number, y, gain);
  } else {
    y = ops::projection(graph, name + ".fc1", y, 4 * o.features);
    y = ops::gelu(graph, name + ".gelu", y);
    y = ops::projection(graph, name + ".fc2", y, o.features, gain);
  }
  return residual(graph, name + ".mlp", o, x, y);
}

}  // namespace

std::int64_t expert_layer_of(std::string_view name) {
  constexpr std::string_view kBlock = "block";
  const std::size_t dot = name.find(".experts.");
  std::int64_t layer = -1;
  if (name.starts_with(kBlock) && dot != std::string_view::npos)
    std::from_chars(name.data() + kBlock.size(), name.data() + dot, layer);
  return layer;
}

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
