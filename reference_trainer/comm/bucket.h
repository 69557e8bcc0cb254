// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "reference_trainer/comm/backend.h"
#include "reference_trainer/comm/communicator.h"
#include "reference_trainer/devices/device.h"

namespace headway::trainer {

/// A gradient in device memory. `rows` > 1: a matrix, as PowerSGD sees it.
struct GradientTensor {
  float* values = nullptr;  ///< null where the device does not compute
  std::int64_t count = 0;   ///< the layout's padding included, which is zero everywhere
  std::int64_t rows = 1;
};

enum class Compression : std::uint8_t { kNone, kHalf, kInt8, kDgc, kPowerSgd };
enum class Topology : std::uint8_t { kFlat, kHierarchical, kParameterServer };

struct ExchangeOptions {
  Compression compression = Compression::kNone;
  Topology topology = Topology::kFlat;
  double density = 0.01;      ///< kDgc: share of the values that is sent, after warm-up
  std::int64_t warm_up = 20;  ///< kDgc: exchanges at higher density, in four stages
  float momentum = 0;         ///< kDgc: corrected locally, as the optimizer then has none
  int rank = 2;               ///< kPowerSgd: of the approximation
  float average_over = 1;     ///< what sums are divided by
  std::uint64_t seed = 1;
};

/// Gradients that go to the other ranks together, and how: stages that run in order on one stream,
/// kernels and collectives in turn, the last of which leaves the mean in the gradients.
class Bucket {
 public:
  Bucket(Device& device, Communicator& communicator, std::vector<GradientTensor> tensors,
         int number, const ExchangeOptions& options);

  /// Waits for the device: what is enqueued uses its kernels.
  ~Bucket() { flat_ = {}; }
  Bucket(const Bucket&) = delete;
  Bucket& operator=(const Bucket&) = delete;

  void enqueue(StreamId stream, std::int64_t batch) const;
  std::int64_t bytes() const { return count_ * std::int64_t{sizeof(float)}; }
  /// What this rank's collectives carry, all together.
  std::int64_t sent_bytes() const { return sent_bytes_; }

  // ---- for the files of comm/exchange/ ----
  const ExchangeOptions& options() const { return options_; }
  const std::vector<GradientTensor>& tensors() const { return tensors_; }
  std::int64_t count() const { return count_; }
  int rank() const { return communicator_.rank(); }
  int size() const { return communicator_.size(); }
  int ranks_per_node() const { return communicator_.links().ranks_per_node; }
  bool computes() const { return device_.computes(); }
  /// The fusion buffer, `count()` values; only where the device computes.
  float* flat() const { return flat_.as<float>(); }
  /// Host or device memory that lives as long as the bucket; empty where nothing is computed.
  std::vector<float>& buffer(std::int64_t count);
  std::vector<std::byte>& byte_buffer(std::int64_t count);
  void add_kernel(const std::string& part, Work work, std::function<void()> body);
  void add_collective(CollectiveKind kind, Scope scope, std::int64_t bytes,
                      const std::string& dtype, std::function<void(CommBackend&)> body);
  /// tensors -> flat, and flat · factor -> tensors.
  void add_pack();
  void add_unpack(float factor);

 private:
  struct Stage {
    std::unique_ptr<Kernel> kernel;
    std::unique_ptr<PreparedCollective> collective;
  };
  Device& device_;
  Communicator& communicator_;
  const std::vector<GradientTensor> tensors_;
  const int number_;
  const ExchangeOptions options_;
  std::int64_t count_ = 0;
  std::int64_t sent_bytes_ = 0;
  Memory flat_;
  std::vector<std::unique_ptr<std::vector<float>>> buffers_;
  std::vector<std::unique_ptr<std::vector<std::byte>>> byte_buffers_;
  std::vector<Stage> stages_;
};

/// Each adds the stages of one way to exchange; one file of comm/exchange/ each.
namespace exchange {
void add_plain(Bucket& bucket);
void add_hierarchical(Bucket& bucket);
void add_parameter_server(Bucket& bucket);
void add_half(Bucket& bucket);
void add_int8(Bucket& bucket);
void add_dgc(Bucket& bucket);
void add_power_sgd(Bucket& bucket);
}  // namespace exchange

}  // namespace headway::trainer
