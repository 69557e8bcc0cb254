// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reference_trainer/devices/device.h"
#include "reference_trainer/nvtx/emitter.h"

/// Everything that a simulated rank did, with its times: what a profiler would have recorded, and
/// more, which no profiler can know. Times are nanoseconds of the virtual clock, which starts at 0.
namespace headway::trainer::sim {

using conventions::DeviceCallKind;
using conventions::DeviceOpKind;
using conventions::MathUnit;

/// What the start of an op waited for last.
enum class Binding : std::uint8_t { kStream, kLaunch, kEvent, kEngine };

/// A call of the host thread. `correlation` is unique among the calls of the rank.
struct Call {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t waited = 0;  ///< its last part, in which the host waited for the device
  std::int64_t bytes = 0;
  std::uint64_t correlation = 0;
  std::uint64_t sync_id = 0;
  DeviceCallKind kind = DeviceCallKind::kOther;
  StreamId stream;  ///< none: the whole device
};

struct Op {
  std::int64_t start = 0;  ///< on the device
  std::int64_t end = 0;
  std::int64_t last_arrival = 0;  ///< collectives: arrival of the last member; 0 for other ops
  std::int64_t bytes = 0;
  std::int64_t flops = 0;
  std::uint64_t correlation =
      0;  ///< unique among the rank's ops; equal to its call's, except for nodes of a graph
  std::uint64_t graph_call =
      0;                   ///< nodes of a CUDA graph: correlation of the launch call; 0: not a node
  std::int64_t graph = 0;  ///< likewise: the graph's number, from 1
  std::int64_t node = 0;   ///< likewise: its position in the graph, from 1
  std::int64_t op = conventions::kAbsent;
  std::int64_t batch = conventions::kAbsent;
  nvtx::Name name = nullptr;
  StreamId stream;          ///< the stream that it ran on
  std::int32_t blocks = 0;  ///< of the grid; 0: not a kernel
  std::int32_t block_threads = 0;
  std::int32_t collective = -1;  ///< index into Recording::collectives
  DeviceOpKind kind = DeviceOpKind::kKernel;
  Phase phase = Phase::kNone;
  MathUnit unit = MathUnit::kGeneral;
  MemoryKind from = MemoryKind::kUnknown;
  MemoryKind to = MemoryKind::kUnknown;
  Binding binding = Binding::kStream;
  std::uint64_t bound_by = 0;  ///< correlation of the op whose end it waited for; 0: its own call

  std::uint64_t call() const { return graph_call != 0 ? graph_call : correlation; }
};

struct CollectiveRecord {
  std::string communicator;
  std::string kind;           ///< "allreduce"
  std::string dtype;          ///< "f32"
  std::int64_t bytes = 0;     ///< the full message
  std::int64_t sequence = 0;  ///< in its communicator, from 0
  int ranks = 0;              ///< of the communicator
  std::size_t range = 0;      ///< index into Recording::ranges of the host's range around it
  int peer = -1;              ///< for a message: the rank at its other end
};

/// An NVTX range of the training thread (worker -1) or of a loader worker.
struct RangeRecord {
  std::int64_t start = 0;
  std::int64_t end = -1;  ///< -1: still open
  nvtx::Name name = nullptr;
  conventions::RangePayload payload;
  std::int32_t worker = -1;
  bool nccl = false;  ///< in the domain NCCL instead of headway
};

/// File calls of a loader worker, summed as the recorder sums short calls: the opens of a batch, or
/// its reads.
struct FileRecord {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t calls = 0;
  std::int64_t bytes = 0;
  std::int32_t worker = -1;
  bool read = false;  ///< false: opens
};

/// A dependency: "`to` starts (or ends) no earlier than `from` plus `lag`". `from` and `to` are
/// correlations of ops or calls, as the kind says; batches have their number.
enum class EdgeKind : std::uint8_t {
  kStream,      ///< end of an op -> start of the next on its stream
  kLaunch,      ///< start of the call -> start of its op
  kEvent,       ///< end of the awaited op -> start of the first op after the wait
  kQueue,       ///< end of an op -> end of the launch 1024 later
  kSync,        ///< end of the awaited op -> end of the blocking call
  kEngine,      ///< end of a copy -> start of the next on the same engine
  kCollective,  ///< start on `rank` of number `from` of the communicator -> end on this one
  kBatch,       ///< batch made -> end of the wait for it
  kSlot,        ///< wait for batch b - prefetch ends -> batch b begins
  kWorker,      ///< batch made -> next batch of the same worker begins
};
struct Edge {
  EdgeKind kind = EdgeKind::kStream;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::int64_t lag = 0;    ///< ns
  std::int32_t rank = -1;  ///< the rank of `from`, where it is another rank
};

struct Recording {
  int rank = 0;
  std::vector<std::string> streams;  ///< names, by StreamId
  int workers = 0;                   ///< of the loader; 0: the training thread makes batches
  std::vector<Call> calls;
  std::vector<Op> ops;  ///< in the order in which their times became known; sort by start to read
  std::vector<CollectiveRecord> collectives;
  std::vector<RangeRecord> ranges;
  std::vector<FileRecord> files;
  std::vector<conventions::GraphOpPayload> graph;
  std::vector<Edge> edges;        ///< empty unless requested
  std::int64_t end = 0;           ///< of the run
  std::int64_t memory_bytes = 0;  ///< peak of the device memory that the rank held
};

}  // namespace headway::trainer::sim
