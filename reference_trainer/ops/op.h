// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "reference_trainer/graph/graph.h"
#include "reference_trainer/graph/op_definition.h"
#include "reference_trainer/ops/op_list.h"

namespace headway::trainer {

/// Every op. A device that lacks one reports it when a graph with it is compiled.
std::span<const OpDefinition* const> all_ops();

namespace ops {

#define HEADWAY_OP(op, host, cuda) extern const OpDefinition op;
HEADWAY_OPS(HEADWAY_OP)
#undef HEADWAY_OP

// Builders: each appends one forward node called `name` (and the parameters it needs) and returns
// its result. Shapes are checked; a mismatch is an internal error naming the node.

/// x [N,H,W,C] -> [N,H/s,W/s,out]; square kernel, no bias; padding -1: kernel/2.
ValueId conv2d(Graph& graph, const std::string& name, ValueId x, std::int64_t out_channels,
               int kernel, int stride, int padding = -1);
/// Images in the other order: x [N,H,W,C] -> [N,C,H,W], x [N,C,H,W] -> [N,H,W,C].
ValueId nhwc_to_nchw(Graph& graph, const std::string& name, ValueId x);
ValueId nchw_to_nhwc(Graph& graph, const std::string& name, ValueId x);
/// x [...,C] -> same shape.
ValueId batch_norm(Graph& graph, const std::string& name, ValueId x, bool training);
ValueId relu(Graph& graph, const std::string& name, ValueId x);
ValueId add(Graph& graph, const std::string& name, ValueId a, ValueId b);
/// Mean over all positions: x [N,H,W,C] -> [N,C].
ValueId global_average_pool(Graph& graph, const std::string& name, ValueId x);
/// Largest of each square window, padding kernel/2: x [N,H,W,C] -> [N,H/s,W/s,C].
ValueId max_pool(Graph& graph, const std::string& name, ValueId x, int kernel, int stride);
/// x [N,in] -> [N,out], with bias.
ValueId linear(Graph& graph, const std::string& name, ValueId x, std::int64_t out_features);
/// logits [N,classes], labels int32 [N] -> figures [3]: mean loss, correct rows, counted rows.
ValueId softmax_cross_entropy(Graph& graph, const std::string& name, ValueId logits,
                              ValueId labels);

/// softmax_cross_entropy as two ops, as in a framework without a fused loss.
ValueId cross_entropy(Graph& graph, const std::string& name, ValueId logits, ValueId labels);
/// x [N,in] -> x·wᵀ [N,out]; weights start with deviation gain / sqrt(in).
ValueId matmul(Graph& graph, const std::string& name, ValueId x, std::int64_t out_features,
               float gain = 1);
/// A matmul and a bias_add.
ValueId projection(Graph& graph, const std::string& name, ValueId x, std::int64_t out_features,
                   float gain = 1);
/// Elementwise: b is of a's shape, one per row [N,1], or one per column [C].
ValueId bias_add(Graph& graph, const std::string& name, ValueId x, ValueId bias);
ValueId sub(Graph& graph, const std::string& name, ValueId a, ValueId b);
ValueId mul(Graph& graph, const std::string& name, ValueId a, ValueId b);
ValueId scale(Graph& graph, const std::string& name, ValueId x, float factor);
ValueId gelu(Graph& graph, const std::string& name, ValueId x);
/// Surviving elements are scaled by 1 / (1 - rate). They differ from step to step, and between the
/// parts of a tensor that ranks share.
ValueId dropout(Graph& graph, const std::string& name, ValueId x, float rate, int part = 0);
ValueId rsqrt(Graph& graph, const std::string& name, ValueId x, float epsilon);
/// x [N,C] -> [N,1].
ValueId row_mean(Graph& graph, const std::string& name, ValueId x);
/// x [N,C] -> same shape, as a chain of elementwise ops.
ValueId layer_norm(Graph& graph, const std::string& name, ValueId x);
/// tokens int32 [N] -> [N, columns]. With positions, sequences are `length` tokens long, and there
/// are parameters for `places` positions; 0: `length`.
ValueId embedding(Graph& graph, const std::string& name, ValueId tokens, std::int64_t entries,
                  std::int64_t columns, std::int64_t length, bool positions,
                  std::int64_t places = 0);
/// qkv [batch·length, 3·heads·depth] -> [batch·length, heads·depth], as a chain of ops.
ValueId attention(Graph& graph, const std::string& name, ValueId qkv,
                  const kernels::AttentionShape& shape);
/// a [groups·m, k], b [groups·k, n] (or transposed [groups·n, k]) -> [groups·m, n].
ValueId batched_matmul(Graph& graph, const std::string& name, ValueId a, ValueId b,
                       const kernels::BatchedMatmul& shape);
ValueId softmax(Graph& graph, const std::string& name, ValueId x);
/// scores [N, classes] -> the logarithms of their softmax.
ValueId log_softmax(Graph& graph, const std::string& name, ValueId scores);
/// A recurrent layer: x [steps·rows, features] time-major -> [steps·rows, hidden]. `tokens`
/// determine how many steps the batch uses.
ValueId lstm(Graph& graph, const std::string& name, ValueId x, ValueId tokens,
             const LstmAttributes& attributes);
/// x [N,C] -> its first rows, and the others.
std::pair<ValueId, ValueId> split_rows(Graph& graph, const std::string& name, ValueId x,
                                       std::int64_t first);
/// Rows o·inner + i -> rows i·outer + o.
ValueId swap_major(Graph& graph, const std::string& name, ValueId x, std::int64_t outer,
                   std::int64_t inner);
/// The same exchange for pieces of x, which are outer·inner equal pieces in memory; x keeps its
/// shape.
ValueId swap_pieces(Graph& graph, const std::string& name, ValueId x, std::int64_t outer,
                    std::int64_t inner);
/// scores [batch·rows, length] -> -1e30 where the sequence's token is padding, else unchanged
/// (tokens time-major).
ValueId padding_mask(Graph& graph, const std::string& name, ValueId scores, ValueId tokens,
                     std::int64_t batch);
ValueId tanh(Graph& graph, const std::string& name, ValueId x);
/// The router's choice for each token: int32 places [tokens, choices] in the table of all experts'
/// rows, and gates.
struct Routed {
  ValueId places;
  ValueId gates;
  RouteAttributes by;
};
Routed route(Graph& graph, const std::string& name, ValueId probabilities,
             const RouteAttributes& by);
/// x [tokens, C] -> [experts·capacity, C]; and back, each row times its gate.
ValueId dispatch(Graph& graph, const std::string& name, ValueId x, const Routed& routed);
ValueId combine(Graph& graph, const std::string& name, ValueId table, const Routed& routed);
/// x [N,C], exchanged with the ranks that share the layer. The result has the same shape, or the
/// rows of all ranks or of one.
ValueId exchange(Graph& graph, const std::string& name, ValueId x, const ExchangeAttributes& by);
/// Keys and values of the tokens so far; they are state of the graph.
struct KeysAndValues {
  ValueId keys;
  ValueId values;
  kernels::DecodeShape shape;
};
KeysAndValues key_value_cache(Graph& graph, const std::string& name,
                              const kernels::DecodeShape& shape);
/// qkv [batch, 3·heads·depth] of one token of each sequence, which is added to the cache -> [batch,
/// heads·depth].
ValueId cached_attention(Graph& graph, const std::string& name, ValueId qkv,
                         const KeysAndValues& cache);
/// Stores the qkv [batch·tokens, 3·heads·depth] of a prompt in the cache.
void fill_cache(Graph& graph, const std::string& name, ValueId qkv, const KeysAndValues& cache);
/// Adds int32 tokens as state of the graph.
ValueId token_state(Graph& graph, const std::string& name, std::int64_t tokens);
/// Copies the prompts of `batch` sequences into the state `sequence`.
void store_tokens(Graph& graph, const std::string& name, ValueId prompt, ValueId sequence,
                  std::int64_t batch);
/// One token of each sequence, int32 [N] -> [N, columns]. The parameters are those of embedding()
/// with `places` positions.
ValueId embedding_at(Graph& graph, const std::string& name, ValueId tokens, std::int64_t entries,
                     std::int64_t columns, std::int64_t places);
/// x [batch·length, C] -> [batch, C]: the row of each sequence at `position`, or (-1) at the
/// launch's position.
ValueId rows_at(Graph& graph, const std::string& name, ValueId x, std::int64_t batch,
                std::int64_t position);
/// Writes the most likely tokens of logits [batch, entries] to `next` [batch] and, if given, to the
/// place in `sequence` after the launch's position.
void largest(Graph& graph, const std::string& name, ValueId logits, ValueId next, ValueId sequence);
/// Joins maps [N,H,W,A·columns] of any H, W and A -> [N·sum of H·W·A, columns]: for each image the
/// rows of all maps, in order.
ValueId join_maps(Graph& graph, const std::string& name, std::vector<ValueId> maps,
                  std::int64_t columns);
/// The targets of each anchor of each image (kernels/box_match/op.h).
struct AnchorTargets {
  ValueId labels;   ///< int32 [images·anchors], 0: background
  ValueId offsets;  ///< [images·anchors, 4]
};
/// Computes them on the device from boxes [images·boxes, 4] and their labels int32 [images·boxes].
AnchorTargets assign_boxes(Graph& graph, const std::string& name, ValueId boxes, ValueId labels,
                           const BoxMatchAttributes& attributes);
/// Computes them from boxes, their labels and what the model predicts, by SimOTA
/// (kernels/simota/op.h): `log_probabilities` [images·anchors, classes], `offsets` [images·anchors,
/// 4]. No gradient passes through it.
AnchorTargets assign_simota(Graph& graph, const std::string& name, ValueId boxes, ValueId labels,
                            ValueId log_probabilities, ValueId offsets,
                            const SimotaAttributes& attributes);
/// log_probabilities [images·anchors, classes], offsets [images·anchors, 4] -> figures [3]
/// (kernels/multibox/op.h), as several ops. `pick_on_processor`: the processor picks the anchors
/// that count.
ValueId multibox_loss(Graph& graph, const std::string& name, ValueId log_probabilities,
                      ValueId offsets, const AnchorTargets& targets, std::int64_t images,
                      bool pick_on_processor);

}  // namespace ops
}  // namespace headway::trainer
