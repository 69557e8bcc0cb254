// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/stream_op/op.h"
#include "reference_trainer/comm/communicator.h"
#include "reference_trainer/devices/device.h"
#include "reference_trainer/switches/choices.h"

namespace headway::trainer {

using kernels::GradientTensor;

struct ExchangeOptions {
  Compression compression = Compression::kNone;
  Topology topology = Topology::kFlat;  ///< one ring, or rings inside nodes and across them
  double density = 0.01;                ///< kDgc: share of the values that is sent, after warm-up
  std::int64_t warm_up = 20;            ///< kDgc: exchanges at higher density, in four stages
  float momentum = 0;                   ///< kDgc: applied locally; the optimizer then has none
  int rank = 2;                         ///< kPowerSgd: rank of the approximation
  float clip = 0;          ///< kDgc: largest norm of a bucket's gradients on one rank; 0: no limit
  float average_over = 1;  ///< sums are divided by this
  std::uint64_t seed = 1;  ///< of the random numbers of compression; the same on all ranks
  /// Arrays that get the result, too, rounded to `copy_format`: one for each tensor, or none.
  std::vector<GradientTensor> copies = {};
  kernels::NumberFormat copy_format = kernels::NumberFormat::kFloat32;
};

/// Gradients that are exchanged with the other ranks together, and the stages of the exchange. The
/// stages are kernels and collectives that run in order on one stream; the last one leaves the mean
/// in the gradients.
class Bucket {
 public:
  /// `stream`: where the stages are enqueued.
  Bucket(Device& device, Communicator& communicator, StreamId stream,
         std::vector<GradientTensor> tensors, int number, const ExchangeOptions& options);

  /// Waits for the device, because enqueued work uses these kernels.
  ~Bucket() { buffers_.clear(); }
  Bucket(const Bucket&) = delete;
  Bucket& operator=(const Bucket&) = delete;

  /// Enqueues one exchange on the stream and returns before it is done. `batch` is for traces.
  void enqueue(std::int64_t batch);
  /// Bytes of the gradients as they lie in memory.
  std::int64_t bytes() const { return bytes_; }
  /// Bytes that this rank's collectives carry in one exchange after warm-up, all collectives
  /// together.
  std::int64_t sent_bytes() const { return ways_.back().sent_bytes; }

  // ---- for the files of comm/exchange/ ----
  const ExchangeOptions& options() const { return options_; }
  std::span<const GradientTensor> tensors() const { return tensors_; }
  /// Values in the fusion buffer: those of all tensors, and zeros up to a multiple of places().
  std::int64_t count() const { return count_; }
  int rank() const { return communicator_.rank(); }
  int size() const { return communicator_.size(); }
  /// The number of ranks that a hierarchical exchange reduces among first.
  int places() const;
  /// The fusion buffer, count() values; null where the device does not compute.
  float* flat() const { return flat_; }
  /// Device memory that lives as long as the bucket, zero at first.
  template <class T>
  T* buffer(std::int64_t count) {
    buffers_.push_back(
        device_.allocate(count * static_cast<std::int64_t>(sizeof(T)), MemoryKind::kDevice));
    return buffers_.back().template as<T>();
  }
  /// `array` + `offset`; null where the device does not compute.
  template <class T>
  static T* at(T* array, std::int64_t offset) {
    return array ? array + offset : nullptr;
  }
  /// Writes host values to device memory, once.
  void upload(float* to, std::span<const float> values);
  /// Keeps `values`, which ops point to, as long as the bucket lives.
  template <class T>
  std::span<const T> keep(std::vector<T> values) {
    auto kept = std::make_shared<const std::vector<T>>(std::move(values));
    kept_.push_back(kept);
    return *kept;
  }
  /// Starts a new list of stages: from exchange `number` on, they replace the stages that were
  /// added before.
  void from_exchange(std::int64_t number) { ways_.push_back({number, 0, {}}); }
  /// Adds the next stage. `part` names it in traces; what the op points to must live as long as the
  /// bucket.
  void add_kernel(const std::string& part, const kernels::StreamOp& op);
  /// Adds the next stage, in place on `count` values of device memory.
  void add_collective(CollectiveKind kind, Scope scope, ElementType type, void* data,
                      std::int64_t count);
  /// Sums `count()` values over all ranks: in one ring, or, in a hierarchy, inside the nodes,
  /// across them, and back.
  template <class T>
  void add_sum(ElementType type, T* values) {
    if (options_.topology != Topology::kHierarchical)
      return add_collective(CollectiveKind::kAllReduce, Scope::kWorld, type, values, count_);
    const std::int64_t part = count_ / places();
    add_collective(CollectiveKind::kReduceScatter, Scope::kNode, type, values, count_);
    add_collective(CollectiveKind::kAllReduce, Scope::kAcross, type,
                   at(values, part * (rank() % places())), part);
    add_collective(CollectiveKind::kAllGather, Scope::kNode, type, values, count_);
  }
  /// tensors -> flat, and flat · factor -> tensors.
  void add_pack();
  void add_unpack(float factor);

 private:
  /// Exactly one of the two is set.
  struct Stage {
    std::unique_ptr<Kernel> kernel;
    std::unique_ptr<PreparedCollective> collective;
  };
  /// The stages that apply from one exchange on: compression may change after its warm-up.
  struct Way {
    std::int64_t first_exchange = 0;  ///< counted from 0
    std::int64_t sent_bytes = 0;
    std::vector<Stage> stages;
  };

  Device& device_;
  Communicator& communicator_;
  const StreamId stream_;
  const std::vector<GradientTensor> tensors_;
  const int number_;  ///< of the bucket, in names
  const ExchangeOptions options_;
  std::int64_t bytes_ = 0;
  std::int64_t count_ = 0;
  float* flat_ = nullptr;
  std::vector<Memory> buffers_;
  std::vector<std::shared_ptr<const void>> kept_;
  std::vector<Way> ways_;  ///< by first exchange
  std::size_t way_ = 0;
  std::int64_t exchanges_ = 0;
};

/// Each function adds the stages of one kind of exchange; each has its own file in comm/exchange/.
namespace exchange {
void add_plain(Bucket& bucket);
void add_parameter_server(Bucket& bucket);
void add_half(Bucket& bucket);
void add_int8(Bucket& bucket);
void add_one_bit(Bucket& bucket);
void add_dgc(Bucket& bucket);
void add_power_sgd(Bucket& bucket);
}  // namespace exchange

}  // namespace headway::trainer
