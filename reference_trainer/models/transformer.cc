// SPDX-License-Identifier: MIT
#include "reference_trainer/models/transformer.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "common/error.h"
#include "reference_trainer/ops/op.h"

namespace headway::trainer {
namespace {

/// The number of tokens of each sequence that a graph processes.
std::int64_t length_of(const TransformerOptions& o) {
  if (o.part == TransformerPart::kToken) return 1;
  const bool prompt = o.part == TransformerPart::kPrompt || o.part == TransformerPart::kStore;
  return prompt ? o.prompt : o.length;
}

ValueId tokens(Graph& graph, const std::string& name, const TransformerOptions& o) {
  Value value;
  value.name = name;
  value.shape = {o.batch * length_of(o)};
  value.type = DataType::kInt32;
  value.role = Role::kInput;
  return graph.add_value(std::move(value));
}

ValueId residual(Graph& graph, const std::string& name, const TransformerOptions& o, ValueId x,
                 ValueId branch) {
  if (o.training && o.dropout > 0)
    branch = ops::dropout(graph, name + ".dropout", branch, o.dropout,
                          o.tensor.by_tokens ? static_cast<int>(o.tensor.rank) : 0);
  return ops::add(graph, name + ".add", x, branch);
}

/// x [rows of each expert of this rank, in] times the weights of the respective expert.
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

/// A layer of experts: sends tokens to the ranks that have their experts, multiplies, and sends the
/// results back.
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

/// Products that ranks share. Each rank's weights start as a part of the weights that a single rank
/// would have.
class SharedProducts {
 public:
  SharedProducts(Graph& graph, const TransformerOptions& o) : graph_(graph), by_(o.tensor) {}

  /// Before products that are split by columns: provides x on all ranks, and sums its gradients
  /// over the ranks.
  ValueId enter(const std::string& name, ValueId x) {
    if (by_.ranks == 1) return x;
    return exchange(name, x, by_.by_tokens ? ExchangeKind::kGather : ExchangeKind::kNothing);
  }
  /// x [N, in] -> [N, out / ranks], bias included. The rank has a part of each of `blocks` blocks
  /// of columns.
  ValueId by_columns(const std::string& name, ValueId x, std::int64_t out, std::int64_t blocks) {
    const ValueId y = ops::projection(graph_, name, x, out / by_.ranks);
    const std::int64_t in = graph_.value(x).shape[1];
    const std::int64_t first = by_.rank * out / blocks / by_.ranks;
    if (by_.ranks > 1) weight(name).part = {out, in, blocks, first, 0};
    return y;
  }
  /// x [N, in / ranks] -> [N, out]: the sum over all ranks, or this rank's rows of it; the bias is
  /// added afterwards.
  ValueId by_rows(const std::string& name, ValueId x, std::int64_t out, float gain) {
    if (by_.ranks == 1) return ops::projection(graph_, name, x, out, gain);
    const std::int64_t own = graph_.value(x).shape[1];
    const float scale = 1 / std::sqrt(static_cast<float>(by_.ranks));
    ValueId y = ops::matmul(graph_, name, x, out, gain * scale);
    weight(name).part = {out, own * by_.ranks, 1, 0, by_.rank * own};
    if (by_.by_tokens) {
      y = exchange(name + ".scatter", y, ExchangeKind::kScatterSum);
      y = own_rows(name + ".rows", y);
    } else {
      y = exchange(name + ".sum", y, ExchangeKind::kSum);
    }
    Value bias;
    bias.name = name + ".bias";
    bias.shape = {out};
    bias.role = Role::kParameter;
    bias.sum_over_ranks = by_.by_tokens;
    return ops::bias_add(graph_, name + ".bias_add", y, graph_.add_value(std::move(bias)));
  }
  /// own_rows: this rank's rows of a tensor that all ranks have. all_rows: the reverse, where all
  /// ranks then compute the same.
  ValueId own_rows(const std::string& name, ValueId x) {
    return by_.by_tokens ? exchange(name, x, ExchangeKind::kOwnPart) : x;
  }
  ValueId all_rows(const std::string& name, ValueId x) {
    return by_.by_tokens ? exchange(name, x, ExchangeKind::kJoin) : x;
  }
  ValueId layer_norm(const std::string& name, ValueId x) {
    const ValueId y = ops::layer_norm(graph_, name, x);
    if (by_.by_tokens)
      weight(name).sum_over_ranks = graph_.value(graph_.find(name + ".bias")).sum_over_ranks = true;
    return y;
  }

 private:
  Value& weight(const std::string& name) { return graph_.value(graph_.find(name + ".weight")); }
  ValueId exchange(const std::string& name, ValueId x, ExchangeKind kind) {
    return ops::exchange(graph_, name, x, {kind, -1, by_.ranks, by_.rank});
  }

  Graph& graph_;
  const TensorParallelOptions by_;
};

/// Attention over whole sequences, over a prompt whose keys and values are stored, or from one
/// token to the stored ones.
ValueId attend(Graph& graph, const TransformerOptions& o, const std::string& name, ValueId qkv,
               const kernels::AttentionShape& shape) {
  const kernels::DecodeShape kept{o.batch, o.heads, shape.depth, o.length};
  if (o.part == TransformerPart::kToken)
    return ops::cached_attention(graph, name, qkv, ops::key_value_cache(graph, name, kept));
  const ValueId y = ops::attention(graph, name, qkv, shape);
  if (o.part == TransformerPart::kPrompt)
    ops::fill_cache(graph, name + ".keep", qkv, ops::key_value_cache(graph, name, kept));
  return y;
}

ValueId block(Graph& graph, const TransformerOptions& o, std::int64_t number, ValueId x) {
  const std::string name = fmt::format("block{}", number);
  // Branches that feed the residual stream start smaller the deeper the network (GPT-2).
  const float gain = 1 / std::sqrt(2.0F * static_cast<float>(o.layers));
  SharedProducts shared(graph, o);
  const std::int64_t length = length_of(o);
  kernels::AttentionShape shape{o.batch, length, o.heads / o.tensor.ranks, o.features / o.heads,
                                length,  0};
  if (o.window > 0) {
    shape.window = o.window;
    shape.shift = number % 2 == 1 && o.window < o.length ? o.window / 2 : 0;
  }
  ValueId y = shared.layer_norm(name + ".ln1", x);
  y = shared.enter(name + ".qkv.enter", y);
  y = shared.by_columns(name + ".qkv", y, 3 * o.features, 3);
  y = attend(graph, o, name + ".attention", y, shape);
  y = shared.by_rows(name + ".proj", y, o.features, gain);
  x = residual(graph, name + ".attention", o, x, y);
  y = shared.layer_norm(name + ".ln2", x);
  if (o.experts.count > 0) {
    y = experts(graph, o, number, y, gain);
  } else {
    y = shared.enter(name + ".fc1.enter", y);
    y = shared.by_columns(name + ".fc1", y, 4 * o.features, 1);
    y = ops::gelu(graph, name + ".gelu", y);
    y = shared.by_rows(name + ".fc2", y, o.features, gain);
  }
  return residual(graph, name + ".mlp", o, x, y);
}

/// From embedded tokens to the scores of the next tokens.
ValueId logits(Graph& graph, const TransformerOptions& o, ValueId x) {
  SharedProducts shared(graph, o);
  x = shared.own_rows("embedding.rows", x);
  for (std::int64_t i = 0; i < o.layers; ++i) x = block(graph, o, i, x);
  if (o.part == TransformerPart::kPrompt || o.part == TransformerPart::kAgain)
    x = ops::rows_at(graph, "last", x, o.batch,
                     o.part == TransformerPart::kPrompt ? o.prompt - 1 : -1);
  x = shared.layer_norm("ln", x);
  x = shared.all_rows("head.enter", x);
  return ops::matmul(graph, "head", x, o.vocabulary);
}

/// A graph without a loss: the host reads the next token of each sequence.
Model build_part(const TransformerOptions& o) {
  HEADWAY_INVARIANT(o.prompt > 0 && o.prompt < o.length);
  Model model;
  Graph& graph = model.graph;
  const bool from_prompt = o.part == TransformerPart::kPrompt || o.part == TransformerPart::kStore;
  if (from_prompt) {
    model.images = tokens(graph, "tokens", o);
    model.labels = tokens(graph, "labels", o);
  }
  const bool again = o.part == TransformerPart::kAgain || o.part == TransformerPart::kStore;
  const ValueId all =
      again ? ops::token_state(graph, kAllTokens, o.batch * o.length) : ValueId::none();
  if (o.part == TransformerPart::kStore) {
    ops::store_tokens(graph, "prompt", model.images, all, o.batch);
    return model;
  }
  const ValueId next = ops::token_state(graph, kNextTokens, o.batch);
  const ValueId x =
      o.part == TransformerPart::kToken
          ? ops::embedding_at(graph, "embedding", next, o.vocabulary, o.features, o.length)
          : ops::embedding(graph, "embedding", again ? all : model.images, o.vocabulary, o.features,
                           length_of(o), true, o.length);
  ops::largest(graph, "next", logits(graph, o, x), next, all);
  return model;
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
  HEADWAY_INVARIANT(o.heads % o.tensor.ranks == 0);
  HEADWAY_INVARIANT(o.window == 0 || o.length % o.window == 0);
  if (o.part != TransformerPart::kWhole) return build_part(o);
  Model model;
  Graph& graph = model.graph;
  model.images = tokens(graph, "tokens", o);
  model.labels = tokens(graph, "labels", o);
  const ValueId x =
      ops::embedding(graph, "embedding", model.images, o.vocabulary, o.features, o.length, true);
  model.figures = ops::cross_entropy(graph, "loss", logits(graph, o, x), model.labels);
  return model;
}

}  // namespace headway::trainer
