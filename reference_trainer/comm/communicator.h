// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "reference_trainer/comm/link_model.h"
#include "reference_trainer/devices/device.h"

namespace headway::trainer {

class CommBackend;

enum class ElementType : std::uint8_t { kFloat, kHalf, kByte };

/// One exchange between ranks, the same on all of them, in place in device memory: sums where anything is reduced. An
/// all-gather or reduce-scatter has an equal part for each member, in their order.
struct Collective {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Scope scope = Scope::kWorld;
  ElementType type = ElementType::kFloat;
  void* data = nullptr;    ///< null where the device does not compute
  std::int64_t count = 0;  ///< elements of the full message, the parts of all members together
  std::string text;        ///< "bucket 3": for errors and traces
  int peer = -1;           ///< of a message: the rank at its other end
  /// Among ranks that share the model's layers, not of gradients: a communicator of its own where there are streams for it.
  bool of_model = false;
  /// Of a simulated all-to-all whose parts are as large as the batch has it: what the rank with most sends or gets, as a share
  /// of `count`. Empty: all have the same.
  std::function<double(std::int64_t batch)> most = {};

  std::int64_t bytes() const {
    return count * (type == ElementType::kFloat ? 4 : type == ElementType::kHalf ? 2 : 1);
  }
  /// As NCCL's kernels name it.
  std::string_view dtype() const {
    return type == ElementType::kFloat ? "f32" : type == ElementType::kHalf ? "f16" : "u8";
  }
};

/// What NCCL calls it: "ncclAllReduce"; a parameter server's is "ncclReduce".
const char* nccl_function_of(CollectiveKind kind);
/// For people: "allreduce bucket 3".
std::string name_of(const Collective& collective);
/// Bytes as NCCL counts them: per member for an all-gather and a reduce-scatter.
std::int64_t bytes_as_called(const Collective& collective, int members);

/// Does it in host memory at `data`, blocking.
void carry_out(const Collective& collective, CommBackend& backend, void* data);

class PreparedCollective {
 public:
  virtual ~PreparedCollective() = default;
};

/// The ranks of a run as one of them sees them. Collectives are enqueued on streams like kernels and
/// carried out in order; all ranks must enqueue the same ones in the same order. One host thread.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual const LinkModel& links() const = 0;
  /// Ranks must stop before the same step. Proposes one, or with the largest number only asks; returns
  /// the earliest that any rank has proposed. A proposal must lie ahead of every rank.
  virtual std::int64_t stop_before(std::int64_t step) = 0;
  /// Must outlive the work that was enqueued with it.
  virtual std::unique_ptr<PreparedCollective> prepare(Collective collective) = 0;
  virtual void enqueue(StreamId stream, const PreparedCollective& collective,
                       std::int64_t batch) = 0;
};

}  // namespace headway::trainer
