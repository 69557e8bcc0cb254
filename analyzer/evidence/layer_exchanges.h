// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "analyzer/evidence/rule.h"

namespace headway::analyzer {

/// Collectives that carry activations (and their gradients) of layers which ranks share: tensor and
/// sequence parallelism. They are recognised by order: an all-reduce or reduce-scatter in the
/// forward pass, with compute of that pass before and after it but not beside it, in most steady
/// steps. Gradients of parameters are never summed there. Collectives with as many bytes in the
/// same communicator belong to them, also in the backward pass. Messages of unknown size, and steps
/// without known phases, are not judged.
struct LayerExchanges {
  /// Pairs of the communicator's name and the bytes of the full message.
  std::set<std::pair<std::string, std::int64_t>> messages;

  bool empty() const { return messages.empty(); }
  bool contains(const trace::Trace& trace, const trace::Collective& collective) const;
  /// The device ops of all of them.
  std::set<trace::DeviceOpId> ops(const trace::Trace& trace) const;
};

/// The layer exchanges of all ranks in the trace. Linear in its device ops.
LayerExchanges find_layer_exchanges(const RuleContext& context);

}  // namespace headway::analyzer
