// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "analyzer/replay/predictor.h"

namespace headway::analyzer {

/// Of the bytes that kernels move, those that are no sample's: the weights that products read, or the weights' gradient that they
/// write; what changes the type of either, and what adds up gradients. A larger batch has no more of them. Keeps a reference to the
/// predictor.
class FixedBytes {
 public:
  explicit FixedBytes(const Predictor& predictor);

  /// Of a product's bytes, 0 to 1; 0 where the op graph does not tell.
  double share_of(trace::DeviceOpId product) const;
  /// Whether a kernel has to do with weights or their gradients alone; false where the op graph does not tell.
  bool are_all_of(trace::DeviceOpId kernel) const;

 private:
  using Key = std::pair<std::uint32_t, std::int64_t>;  // process, op
  const trace::GraphOp* find(std::uint32_t process, std::int64_t op) const;
  const trace::GraphOp* graph_of(trace::DeviceOpId kernel) const;
  bool is_weight(const trace::GraphOp& op) const;
  /// What a forward op reads that no other op writes.
  double weights_of(const trace::GraphOp& forward) const;

  const Predictor& predictor_;
  std::map<Key, std::uint32_t> graph_ops_;
  std::int64_t first_ = std::numeric_limits<std::int64_t>::max();  ///< op of the forward pass
};

}  // namespace headway::analyzer
