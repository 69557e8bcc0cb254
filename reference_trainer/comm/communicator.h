// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "reference_trainer/comm/link_model.h"
#include "reference_trainer/devices/device.h"

namespace headway::trainer {

class CommBackend;

/// One exchange between ranks, the same on all of them.
struct Collective {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Scope scope = Scope::kWorld;
  std::int64_t bytes = 0;  ///< the full message: of all members for an all-gather or reduce-scatter
  std::string dtype = "f32";  ///< as NCCL's kernels name it
  std::string text;           ///< "bucket 3": for errors and traces
  /// Does it, blocking; called on the stream's thread where the device computes.
  std::function<void(CommBackend&)> body;
};

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
