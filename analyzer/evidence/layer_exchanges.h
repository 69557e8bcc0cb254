// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "analyzer/evidence/rule.h"

namespace headway::analyzer {

/// Collectives that carry activations of layers which ranks share (tensor and sequence parallelism), and their gradients. Told by
/// order: an all-reduce or reduce-scatter in the forward pass, compute of that pass before and after it and none beside it, in
/// most steady steps. Gradients of parameters are never summed there. What moves as many bytes in the same communicator belongs
/// to them, in the backward pass, too. Messages of unknown size, and steps without known phases, are not judged.
struct LayerExchanges {
  /// Communicator, as the program names it, and bytes of the full message.
  std::set<std::pair<std::string, std::int64_t>> messages;

  bool empty() const { return messages.empty(); }
  bool contains(const trace::Trace& trace, const trace::Collective& collective) const;
  /// The device ops of all of them.
  std::set<trace::DeviceOpId> ops(const trace::Trace& trace) const;
};

/// Of all ranks in the trace. Linear in its device ops.
LayerExchanges find_layer_exchanges(const RuleContext& context);

}  // namespace headway::analyzer
