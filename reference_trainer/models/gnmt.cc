// SPDX-License-Identifier: MIT
#include "reference_trainer/models/gnmt.h"

#include <cmath>

#include "common/error.h"
#include "reference_trainer/ops/op.h"

namespace headway::trainer {
namespace {

ValueId tokens(Graph& graph, const std::string& name, std::int64_t count) {
  Value value;
  value.name = name;
  value.shape = {count};
  value.type = DataType::kInt32;
  value.role = Role::kInput;
  return graph.add_value(std::move(value));
}

/// The encoder's or the decoder's layers; `first_token`: index of their first token.
ValueId recurrent_layers(Graph& graph, const GnmtOptions& o, const std::string& side, ValueId x,
                         ValueId all_tokens, std::int64_t first_token) {
  const LstmAttributes by{{o.length, o.batch, o.features}, o.persistent, first_token};
  for (std::int64_t layer = 0; layer < o.layers; ++layer) {
    const std::string name = fmt::format("{}{}", side, layer);
    ValueId in = x;
    if (o.training && o.dropout > 0) in = ops::dropout(graph, name + ".dropout", x, o.dropout);
    const ValueId h = ops::lstm(graph, name, in, all_tokens, by);
    x = layer > 0 ? ops::add(graph, name + ".add", h, x) : h;
  }
  return x;
}

/// The attention context of the decoder's rows. Both inputs are batch-major.
ValueId context(Graph& graph, const GnmtOptions& o, ValueId decoder, ValueId encoder,
                ValueId all_tokens) {
  const kernels::BatchedMatmul scores{o.batch, o.length, o.length, o.features, false, true};
  const kernels::BatchedMatmul values{o.batch, o.length, o.features, o.length, false, false};
  ValueId p = ops::batched_matmul(graph, "attention.scores", decoder, encoder, scores);
  p = ops::scale(graph, "attention.scale", p, 1 / std::sqrt(static_cast<float>(o.features)));
  p = ops::padding_mask(graph, "attention.mask", p, all_tokens, o.batch);
  p = ops::softmax(graph, "attention.softmax", p);
  return ops::batched_matmul(graph, "attention.values", p, encoder, values);
}

}  // namespace

Model build_gnmt(const GnmtOptions& o) {
  Model model;
  Graph& graph = model.graph;
  const std::int64_t side = o.length * o.batch;
  model.images = tokens(graph, "tokens", 2 * side);
  model.labels = tokens(graph, "labels", side);
  const ValueId embedded =
      ops::embedding(graph, "embedding", model.images, o.vocabulary, o.features, 2 * side, false);
  const auto [source, target] = ops::split_rows(graph, "embedding.split", embedded, side);
  ValueId encoder = recurrent_layers(graph, o, "encoder", source, model.images, 0);
  ValueId decoder = recurrent_layers(graph, o, "decoder", target, model.images, side);
  encoder = ops::swap_major(graph, "encoder.swap", encoder, o.length, o.batch);
  decoder = ops::swap_major(graph, "decoder.swap", decoder, o.length, o.batch);
  const ValueId seen = context(graph, o, decoder, encoder, model.images);
  ValueId y =
      ops::add(graph, "combine.add", ops::projection(graph, "combine.decoder", decoder, o.features),
               ops::matmul(graph, "combine.context", seen, o.features));
  y = ops::tanh(graph, "combine.tanh", y);
  y = ops::matmul(graph, "head", y, o.vocabulary);
  model.figures = ops::cross_entropy(graph, "loss", y, model.labels);
  return model;
}

}  // namespace headway::trainer
