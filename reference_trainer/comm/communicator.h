// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
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

/// One exchange between ranks, the same on all of them, in place in device memory. Every reduction
/// is a sum, except with `own_part`. An all-gather or reduce-scatter has an equal part for each
/// member, in member order.
struct Collective {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Scope scope = Scope::kWorld;
  ElementType type = ElementType::kFloat;
  void* data = nullptr;    ///< null where the device does not compute
  std::int64_t count = 0;  ///< elements of the full message, the parts of all members together
  std::string text;        ///< "bucket 3": for errors and traces
  int peer = -1;           ///< for a message: the rank at its other end
  /// This rank's part, outside of `data`, as in NCCL's exchanges that are not in place: an
  /// all-gather of floats reads it, a reduce-scatter of floats writes the members' mean to it. Null:
  /// the part lies in `data`. Only on the host device.
  float* own_part = nullptr;
  /// True for exchanges among ranks that share the model's layers, false for gradients. A simulated
  /// run gives them their own communicator.
  bool of_model = false;
  /// For a simulated all-to-all whose parts differ from batch to batch: the largest amount that a
  /// rank sends or gets, as a share of `count`. Empty: all parts are equal.
  std::function<double(std::int64_t batch)> most = {};

  std::int64_t bytes() const {
    return count * (type == ElementType::kFloat ? 4 : type == ElementType::kHalf ? 2 : 1);
  }
  /// The name of the type in NCCL's kernel names.
  std::string_view dtype() const {
    return type == ElementType::kFloat ? "f32" : type == ElementType::kHalf ? "f16" : "u8";
  }
};

/// NCCL's name of the call, such as "ncclAllReduce"; for a parameter server "ncclReduce".
const char* nccl_function_of(CollectiveKind kind);
/// Text for messages to the user: "allreduce bucket 3".
std::string name_of(const Collective& collective);
/// Bytes as NCCL counts them: per member for an all-gather and a reduce-scatter.
std::int64_t bytes_as_called(const Collective& collective, int members);

/// Carries out the collective, which is no message, in host memory at `data`; blocks.
void carry_out(const Collective& collective, CommBackend& backend, void* data);
/// Sends or receives the message in host memory at `data`; blocks. Returns when both ends had come.
std::chrono::steady_clock::time_point pass_message(const Collective& message, CommBackend& backend,
                                                   void* data);

class PreparedCollective {
 public:
  virtual ~PreparedCollective() = default;
};

/// The ranks of a run as seen by one of them. Collectives are enqueued on streams like kernels and
/// carried out in order; all ranks must enqueue the same ones in the same order. For messages only
/// the order between their two ranks counts, and those to one rank must be on one stream, those
/// from it on one stream, and those to and from other ranks on other streams where they overlap.
/// One host thread.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual const LinkModel& links() const = 0;
  /// Makes all ranks stop before the same step. Proposes `step`, or only asks when `step` is the
  /// largest number; returns the earliest step that any rank has proposed. A proposal must lie
  /// ahead of every rank.
  virtual std::int64_t stop_before(std::int64_t step) = 0;
  /// The result must outlive the work that was enqueued with it.
  virtual std::unique_ptr<PreparedCollective> prepare(Collective collective) = 0;
  virtual void enqueue(StreamId stream, const PreparedCollective& collective,
                       std::int64_t batch) = 0;
};

}  // namespace headway::trainer
