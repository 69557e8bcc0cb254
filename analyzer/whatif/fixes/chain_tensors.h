// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "analyzer/whatif/editor.h"

namespace headway::analyzer {

/// What the op graph shows about the tensors of consecutive kernels. Ops without a kernel of their
/// own (views, roundings inside the next product) pass on the tensor that they read.
class ChainTensors {
 public:
  explicit ChainTensors(const Predictor& predictor);

  /// True if `reader` reads a result of `op`; false if that is not known.
  bool reads(trace::DeviceOpId reader, trace::DeviceOpId op) const;

  /// True if a product can do the op's work in its epilogue: add a much smaller tensor (a bias) to
  /// its result, or, with `sums_columns`, sum up the columns of an operand (the gradient of a
  /// bias).
  bool rides_on_product(trace::DeviceOpId op, bool sums_columns) const;

  /// True if the op sums up or averages each row of its input (the last extent of its result is 1).
  /// Such a kernel can continue with its row, so several can be fused. Nothing if that is not
  /// known.
  std::optional<bool> is_of_rows(trace::DeviceOpId op) const;

  /// A chain fused into one kernel.
  struct Joined {
    double share =
        1;  ///< of its bytes that still move: each input once, no result that only the chain reads
    std::size_t inner = 0;  ///< number of results that only the chain reads
  };
  /// Nothing if an op or its bytes are not known.
  std::optional<Joined> joined(std::span<const trace::DeviceOpId> chain) const;

 private:
  using Key = std::pair<std::uint32_t, std::int64_t>;  // process, op
  void find_kernels();
  bool takes_what_was_kept(const trace::GraphOp& reader, std::int64_t input) const;
  Key tensor(const trace::GraphOp& reader, std::int64_t input) const;
  const trace::GraphOp* graph_of(trace::DeviceOpId op) const;

  const Predictor& predictor_;
  std::map<Key, std::uint32_t> producer_;
  std::map<Key, int> readers_;
  std::set<Key> with_kernels_;
  std::set<Key> products_;
  std::set<Key> readers_of_product_;  ///< tensors that a product reads
};

}  // namespace headway::analyzer
