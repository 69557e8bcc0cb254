// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "analyzer/whatif/editor.h"

namespace headway::analyzer {

/// What the op graph says of the tensors of kernels that follow one another. Ops without a kernel of their own (views,
/// roundings inside the next product) hand on the tensor that they read.
class ChainTensors {
 public:
  explicit ChainTensors(const Predictor& predictor);

  /// Whether `reader` reads what `op` writes; false where that is not known.
  bool reads(trace::DeviceOpId reader, trace::DeviceOpId op) const;

  /// Whether a product can do it while it has the numbers at hand: add to its result what is much smaller (a bias), or
  /// sum up the columns of what it reads (the bias' gradient). Libraries call it an epilogue.
  bool rides_on_product(trace::DeviceOpId op, bool sums_columns) const;

  /// Whether the op sums up or averages each row of its input (shapes end with the row's length, here 1):
  /// such a kernel can go on with its row, so several fit into one. Nothing where that is not known.
  std::optional<bool> is_of_rows(trace::DeviceOpId op) const;

  /// A chain as one kernel.
  struct Joined {
    double share =
        1;  ///< of its bytes that still move: each input once, and no result that only the chain itself reads
    std::size_t inner = 0;  ///< results that only the chain reads
  };
  /// Nothing where an op or its bytes are not known.
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
