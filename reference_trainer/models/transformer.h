// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "reference_trainer/models/resnet.h"

namespace headway::trainer {

/// Experts that replace each block's GELU layer (Shazeer et al. 2017). Each token of a block goes
/// to `choices` of them.
struct ExpertOptions {
  std::int64_t count = 0;  ///< 0: none
  std::int64_t choices = 1;
  /// Room for tokens per expert, as a multiple of its tokens under even load; further tokens are
  /// dropped.
  double capacity = 1;
  std::int64_t ranks = 1;  ///< ranks with an equal share of the experts each; divides count
  std::int64_t rank = 0;
  /// Factors of the router's preference, by layer and expert; empty: all equal.
  std::function<std::vector<float>(std::int64_t layer)> favour = {};
};
/// Ranks that share each block (Shoeybi et al. 2019): each rank has some of the heads and some of
/// the columns of the wide layer.
struct TensorParallelOptions {
  std::int64_t ranks = 1;  ///< divides heads
  std::int64_t rank = 0;
  /// The ops between the shared products are divided by tokens (Korthikanti et al. 2022); `ranks`
  /// must then divide batch * length.
  bool by_tokens = false;
};
/// The part of token generation that a graph computes.
enum class TransformerPart : std::uint8_t {
  kWhole,   ///< all tokens of a batch, with a loss
  kPrompt,  ///< the tokens of prompts, keeping their keys and values; the next token of each
  kStore,   ///< stores prompts; computes nothing
  kToken,   ///< one token of each sequence, from the stored keys and values
  kAgain,   ///< all tokens so far again, to get the next one
};
/// The number of the expert layer that the op `name` belongs to, if the op lies between the layer's
/// two exchanges; -1: none.
std::int64_t expert_layer_of(std::string_view name);

/// A decoder-only transformer in the form of GPT-2 (Radford et al. 2019). It has token and position
/// embeddings, blocks, a last layer norm, and a linear layer to the vocabulary. A block has causal
/// attention and a four times wider GELU layer, each behind a layer norm and with a residual
/// connection. With a window, attention covers only `window` tokens, and every other block shifts
/// the windows by half (Liu et al. 2021).
struct TransformerOptions {
  std::int64_t batch = 8;
  std::int64_t length = 128;
  std::int64_t features = 128;
  std::int64_t heads = 4;  ///< divides features
  std::int64_t layers = 4;
  std::int64_t window = 0;  ///< 0: the whole sequence; else divides length
  int vocabulary = 256;
  float dropout = 0.1F;
  bool training = true;        ///< false: no dropout
  ExpertOptions experts = {};  ///< excludes tensor parallelism
  TensorParallelOptions tensor = {};
  TransformerPart part = TransformerPart::kWhole;
  std::int64_t prompt = 0;  ///< for other parts: tokens of a prompt, below length
};

/// `images` are the tokens [batch·length], `labels` the tokens after them. Everything fusible is
/// built of elementwise ops and plain products, which passes fuse.
Model build_transformer(const TransformerOptions& options);

/// Names of the states of parts other than kWhole: the last token of each sequence, and all tokens.
constexpr const char* kNextTokens = "next tokens";
constexpr const char* kAllTokens = "all tokens";

}  // namespace headway::trainer
