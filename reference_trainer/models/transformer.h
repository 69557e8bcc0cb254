// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "reference_trainer/models/resnet.h"

namespace headway::trainer {

/// Experts in the place of each block's GELU layer (Shazeer et al. 2017): the tokens of a block go to `choices` of them.
struct ExpertOptions {
  std::int64_t count = 0;  ///< 0: none
  std::int64_t choices = 1;
  /// Places for tokens that each has, as a multiple of what it gets when all get as many; more are dropped.
  double capacity = 1;
  std::int64_t ranks = 1;  ///< each has an equal part of the experts; divides count
  std::int64_t rank = 0;
  /// By layer and expert: what the router favours it by; empty: all alike.
  std::function<std::vector<float>(std::int64_t layer)> favour = {};
};
/// Ranks that share each block (Shoeybi et al. 2019): each has some of the heads, and of the columns of the wide layer.
struct TensorParallelOptions {
  std::int64_t ranks = 1;  ///< divides heads
  std::int64_t rank = 0;
  /// What is between the shared products is shared by tokens (Korthikanti et al. 2022); then ranks divides batch * length.
  bool by_tokens = false;
};
/// What of a model that makes one token after another a graph is.
enum class TransformerPart : std::uint8_t {
  kWhole,   ///< all tokens of a batch, with a loss
  kPrompt,  ///< the tokens of prompts, whose keys and values are kept; the next token of each
  kStore,   ///< prompts, nothing computed
  kToken,   ///< one token of each sequence, by the keys and values of those before it
  kAgain,   ///< all tokens so far again, for the one after them
};
/// The number of the layer of experts that an op between the two exchanges of one belongs to; -1: none.
std::int64_t expert_layer_of(std::string_view name);

/// A decoder-only transformer in the form of GPT-2 (Radford et al. 2019): token and position
/// embeddings, blocks of causal attention and a four times wider GELU layer, each behind a layer
/// norm and beside a residual connection, a last layer norm and a linear layer to the vocabulary.
/// With a window, attention sees `window` tokens only, and every other block shifts the windows by
/// half (Liu et al. 2021).
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
  std::int64_t prompt = 0;  ///< of other parts: tokens of a prompt, below length
};

/// `images` are the tokens [batch·length], `labels` the tokens after them. Every fusible part is
/// built of elementwise ops and plain products; passes join them.
Model build_transformer(const TransformerOptions& options);

/// The states of parts other than kWhole: the last token of each sequence, and all of them.
constexpr const char* kNextTokens = "next tokens";
constexpr const char* kAllTokens = "all tokens";

}  // namespace headway::trainer
