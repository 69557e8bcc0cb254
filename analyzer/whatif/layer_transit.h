// SPDX-License-Identifier: MIT
#pragma once

#include "analyzer/whatif/editor.h"

namespace headway::analyzer {

/// Which exchanges between ranks carry what products read or write.
struct LayerTransit {
  bool shards = false;       ///< sharded parameters and their gradients
  bool activations = false;  ///< of layers that ranks share
};

/// Gives exchanges of sharded parameters and their gradients (FSDP's mixed precision), of
/// activations of layers that ranks share, and messages between the stages of a pipeline another
/// number type: those in 32 bits half of their bytes (`times` 0.5), or those in 16 bits twice as
/// many (2). Returns which there are.
LayerTransit scale_layer_transit(const Predictor& predictor, double times, BytesTake take,
                                 Editor& editor);

}  // namespace headway::analyzer
