// SPDX-License-Identifier: MIT
// Generation of one token after another (kernels/decode/op.h). Tokens, keys and values that are
// kept from token to token are state of the graph.
#include "kernels/decode/op.h"

#include "reference_trainer/ops/support.h"

namespace headway::trainer::ops {
namespace {

Work attention_work(const Graph&, const Node& node) {
  return kernels::cached_attention_work(std::get<DecodeAttributes>(node.attributes).shape);
}
/// The bytes written to a cache, or read from a table, equal those of the op's other side.
Work twice_first(const Graph& graph, const Node& node) {
  return {0, 2 * graph.value(node.inputs[0]).bytes()};
}
Work twice_result(const Graph& graph, const Node& node) {
  return {0, 2 * graph.value(node.outputs[0]).bytes()};
}
Work largest_work(const Graph& graph, const Node& node) {
  return {elements(graph, node.inputs[0]), graph.value(node.inputs[0]).bytes()};
}

ValueId state(Graph& graph, const std::string& name, Shape shape, DataType type) {
  Value value;
  value.name = name;
  value.shape = std::move(shape);
  value.type = type;
  value.role = Role::kState;
  return graph.add_value(std::move(value));
}

void add_in_place(Graph& graph, const OpDefinition& op, const std::string& name,
                  std::vector<ValueId> operands, Attributes attributes) {
  graph.add_node(
      {&op, name, Phase::kForward, NodeId::none(), std::move(operands), {}, std::move(attributes)});
}

}  // namespace

const OpDefinition kCachedAttention{
    "cached_attention", "qkv of one token, keys, values -> y; into the cache", attention_work};
const OpDefinition kFillCache{"fill_cache", "qkv of a prompt -> keys, values", twice_first};
const OpDefinition kStoreTokens{"store_tokens", "tokens of a prompt -> those of the sequence",
                                twice_first};
const OpDefinition kEmbeddingAt{"embedding_at", "tokens, table, positions -> rows of the table",
                                twice_result};
const OpDefinition kRowsAt{"rows_at", "x -> the row of each sequence that is asked for",
                           twice_result};
const OpDefinition kLargest{"largest", "logits -> next tokens[, their place in the sequence]",
                            largest_work};

KeysAndValues key_value_cache(Graph& graph, const std::string& name,
                              const kernels::DecodeShape& s) {
  const Shape places{s.batch * s.heads * s.length, s.depth};
  return {state(graph, name + ".keys", places, DataType::kFloat32),
          state(graph, name + ".values", places, DataType::kFloat32), s};
}

ValueId cached_attention(Graph& graph, const std::string& name, ValueId qkv,
                         const KeysAndValues& cache) {
  const Shape in = graph.value(qkv).shape;
  require(in == Shape{cache.shape.batch, 3 * cache.shape.columns()}, kCachedAttention, name,
          "[batch, 3·heads·depth]", in);
  return add_forward(graph, kCachedAttention, name, {qkv, cache.keys, cache.values},
                     {cache.shape.batch, cache.shape.columns()}, DecodeAttributes{cache.shape});
}

void fill_cache(Graph& graph, const std::string& name, ValueId qkv, const KeysAndValues& cache) {
  add_in_place(graph, kFillCache, name, {qkv, cache.keys, cache.values},
               DecodeAttributes{cache.shape});
}

ValueId token_state(Graph& graph, const std::string& name, std::int64_t tokens) {
  return state(graph, name, {tokens}, DataType::kInt32);
}

void store_tokens(Graph& graph, const std::string& name, ValueId prompt, ValueId sequence,
                  std::int64_t batch) {
  DecodeAttributes by;
  by.shape.batch = batch;
  add_in_place(graph, kStoreTokens, name, {prompt, sequence}, by);
}

ValueId embedding_at(Graph& graph, const std::string& name, ValueId tokens, std::int64_t entries,
                     std::int64_t columns, std::int64_t places) {
  const Initial initial{Initial::Kind::kNormal, 0.02F};
  const ValueId table = add_parameter(graph, name + ".weight", {entries, columns}, initial);
  const ValueId positions = add_parameter(graph, name + ".positions", {places, columns}, initial);
  return add_forward(graph, kEmbeddingAt, name, {tokens, table, positions},
                     {elements(graph, tokens), columns}, DecodeAttributes{});
}

ValueId rows_at(Graph& graph, const std::string& name, ValueId x, std::int64_t batch,
                std::int64_t position) {
  const Shape in = graph.value(x).shape;
  require(in.rank() == 2 && in[0] % batch == 0, kRowsAt, name, "as many rows of each sequence", in);
  DecodeAttributes by;
  by.position = position;
  return add_forward(graph, kRowsAt, name, {x}, {batch, in[1]}, by);
}

void largest(Graph& graph, const std::string& name, ValueId logits, ValueId next,
             ValueId sequence) {
  std::vector<ValueId> operands = {logits, next};
  if (sequence.valid()) operands.push_back(sequence);
  add_in_place(graph, kLargest, name, std::move(operands), DecodeAttributes{});
}

}  // namespace headway::trainer::ops
