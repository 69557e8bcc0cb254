// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/models/resnet.h"

namespace headway::trainer {

/// A translation model similar to GNMT (Wu et al. 2016): an encoder and a decoder of LSTM layers
/// with residual connections from the second layer on. The decoder's last layer attends to the
/// encoder's last layer. (The paper has a bidirectional first layer and attends from the decoder's
/// first.) Teacher forcing; one table of embeddings for both languages.
struct GnmtOptions {
  std::int64_t batch = 16;
  std::int64_t length = 48;  ///< tokens of a source and of a target, padding included
  std::int64_t features = 128;
  std::int64_t layers = 2;  ///< of encoder and decoder each
  int vocabulary = 256;
  float dropout = 0;
  bool persistent = true;  ///< a recurrent layer is one kernel instead of two per time step
  bool training = true;
};

/// `images` are int32 tokens [2·length·batch], time-major: the source, then the target shifted by
/// one; negative: padding. `labels` are the target's tokens [batch·length], -1 for padding.
Model build_gnmt(const GnmtOptions& options);

}  // namespace headway::trainer
