// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "reference_trainer/comm/bucket.h"
#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

struct GradientSyncOptions {
  ExchangeOptions exchange;
  std::int64_t first_bucket_bytes = 1 << 20;
  std::int64_t bucket_bytes = std::int64_t{25} << 20;
  bool overlap = true;  ///< exchange a bucket as soon as it is full, not after the last gradient
  int micro_batches = 1;
  bool each_micro_batch = false;  ///< exchange the gradients of each, not their sums
  bool sums =
      false;  ///< ranks have parts of one batch: gradients become sums over ranks, not means
  std::optional<StreamId> stream = {};  ///< shared with other exchanges; none: its own stream
  /// By gradient: a value that gets the result, too, rounded to ExchangeOptions::copy_format.
  std::map<ValueId, ValueId> copies = {};
};

/// Takes the gradients of a step from the ops that make them to the optimizer. Adds up those of
/// several micro batches, and exchanges them between ranks in buckets, in the order in which the
/// backward pass makes them, on its own stream. Afterwards each gradient is the mean over ranks and
/// micro batches (GradientSyncOptions::sums: the sum over ranks). With local steps, parameters take
/// the place of gradients, and the caller exchanges them.
class GradientSync {
 public:
  /// (parameter, gradient) of the graph.
  using Pairs = std::vector<std::pair<ValueId, ValueId>>;

  /// `communicator` null: there is one rank, and only micro batches are added up.
  GradientSync(Device& device, StreamId compute, const Graph& graph, CompiledGraph& compiled,
               const Pairs& gradients, Communicator* communicator,
               const GradientSyncOptions& options);

  /// Waits for the device, because enqueued work uses these kernels.
  ~GradientSync() { sums_ = {}; }
  GradientSync(const GradientSync&) = delete;
  GradientSync& operator=(const GradientSync&) = delete;

  /// Whether buckets are exchanged between the ops of the backward pass: if so, the caller must
  /// call `op_launched`.
  bool follows_ops() const { return communicator_ && options_.overlap; }
  /// Whether the op makes the last gradient of a bucket. For any other op, `op_launched` does
  /// nothing.
  bool is_last_of_bucket(NodeId node) const;
  /// Whether the gradients of this micro batch, or the sums up to it, are exchanged.
  bool exchanges(int micro_batch) const {
    return options_.each_micro_batch || micro_batch + 1 == options_.micro_batches;
  }
  /// To be called after the launches of each backward op of a micro batch that is exchanged.
  void op_launched(NodeId node, std::int64_t batch);
  /// To be called after the backward pass of each micro batch. If it is exchanged, starts the
  /// exchanges that remain.
  void backward_launched(int micro_batch, std::int64_t batch);
  /// Starts the exchanges of the step that remain; later work on the compute stream waits for all.
  void exchange(std::int64_t batch);

  std::size_t buckets() const { return buckets_.size(); }
  /// Bytes that this rank's collectives of one step carry.
  std::int64_t sent_bytes() const;

 private:
  struct Planned {
    std::unique_ptr<Bucket> bucket;
    NodeId last;              ///< the op that makes the last of its gradients
    std::size_t tensors = 0;  ///< how many gradients it has
    /// Set where buckets of sums follow the ops: adds the last micro batch to the bucket's sums.
    std::unique_ptr<Kernel> add_up = nullptr;
  };
  void mask_padding(const Graph& graph, CompiledGraph& compiled, const Pairs& in_order);
  void plan_buckets(const Graph& graph, const CompiledGraph& compiled, const Pairs& in_order,
                    const GradientSyncOptions& options);
  enum class Part : std::uint8_t { kFirst, kMiddle, kLast };
  std::unique_ptr<Kernel> make_add_up(Part part, std::span<const GradientTensor> tensors,
                                      float* sums);
  void add_up(Part part, std::int64_t batch);
  void exchange_up_to(std::size_t count, std::int64_t batch);

  Device& device_;
  const StreamId compute_;
  Communicator* const communicator_;
  const GradientSyncOptions options_;
  StreamId stream_;
  std::vector<Planned> buckets_;
  std::size_t exchanged_ = 0;  ///< buckets exchanged in this step
  std::vector<GradientTensor> tensors_;
  std::vector<Memory> masks_;                    ///< of tensors with padding
  Memory sums_;                                  ///< over micro batches
  std::vector<std::unique_ptr<Kernel>> add_up_;  ///< by Part, of all gradients
};

}  // namespace headway::trainer
