// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "analyzer/replay/predictor.h"

namespace headway::analyzer {

/// The bytes that kernels move independently of the number of samples: weights that products read,
/// gradients of weights that they write, type changes of either, and sums of gradients. A larger
/// batch does not move more of them. Keeps a reference to the predictor.
class FixedBytes {
 public:
  explicit FixedBytes(const Predictor& predictor);

  /// Their share of a product's bytes, 0 to 1; 0 if the op graph does not show it.
  double share_of(trace::DeviceOpId product) const;
  /// True if a kernel handles only weights or their gradients; false if the op graph does not show
  /// it.
  bool are_all_of(trace::DeviceOpId kernel) const;

 private:
  using Key = std::pair<std::uint32_t, std::int64_t>;  // process, op
  const trace::GraphOp* find(std::uint32_t process, std::int64_t op) const;
  const trace::GraphOp* graph_of(trace::DeviceOpId kernel) const;
  bool is_weight(const trace::GraphOp& op) const;
  /// Bytes of weights that a forward op reads: its input bytes that no other op produces.
  double weights_of(const trace::GraphOp& forward) const;

  const Predictor& predictor_;
  std::map<Key, std::uint32_t> graph_ops_;
  std::int64_t first_ = std::numeric_limits<std::int64_t>::max();  ///< first op of the forward pass
};

}  // namespace headway::analyzer
