// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "common/ids.h"
#include "common/nvtx_conventions.h"
#include "common/time.h"
#include "trace/loss_counters.h"
#include "trace/schema/column.h"

/// A trace in memory: the only data that analyses and the GUI read, independent of its source.
/// Columns are vectors of equal length (struct of arrays); a row's index is its identity. Event
/// tables are sorted by start, then longer first, then by file order. Immutable after loading, so any
/// number of threads may read it. At most 64 bytes per event.
namespace headway::trace {

using conventions::DeviceCallKind;
using conventions::DeviceOpKind;
using conventions::DeviceType;
using conventions::MathUnit;
using conventions::MemoryKind;
using conventions::Phase;
using conventions::RangeKind;

using ProcessId = Id<struct ProcessTag>;
using ThreadId = Id<struct ThreadTag>;
using DeviceId = Id<struct DeviceTag>;  ///< a device of the trace, not its CUDA ordinal
using StreamId = Id<struct StreamTag>;  ///< a stream of one device of one process
using DomainId = Id<struct DomainTag, std::uint16_t>;
using RangeId = Id<struct RangeTag>;
using DeviceOpId = Id<struct DeviceOpTag>;
using CallId = Id<struct CallTag>;
using RangeInfoId = Id<struct RangeInfoTag>;
using GraphOpId = Id<struct GraphOpTag>;
using CollectiveId = Id<struct CollectiveTag>;
using IoId = Id<struct IoTag>;

/// A pool of texts, each stored once. Views stay valid as long as the pool, also when it is moved; a
/// copy has its own texts.
class Strings {
 public:
  Strings() { add(""); }
  Strings(const Strings& other);
  Strings& operator=(const Strings& other);
  Strings(Strings&&) = default;
  Strings& operator=(Strings&&) = default;
  ~Strings() = default;
  StringId add(std::string_view text);
  std::string_view operator[](StringId id) const {
    return id.value < texts_.size() ? texts_[id.value] : "?";
  }
  std::optional<StringId> find(std::string_view text) const;
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> storage_;
  std::vector<std::string_view> texts_;
  std::unordered_map<std::string_view, StringId> index_;
};

struct Process {
  std::int64_t global_pid = 0;
  std::int32_t pid = 0;
  std::int32_t parent_pid = 0;
  std::int32_t rank = 0;  ///< in the distributed run; 0 when the run is not distributed
  std::string name;
  std::string command_line;
  TimeNs start;
  std::optional<TimeNs> end;
  std::optional<int> exit_code;
  std::optional<int> signal;  ///< set when a signal ended it: the trace of this process was cut
  bool injected = false;      ///< our library was loaded in it; false: seen only from outside
};

struct Thread {
  std::int64_t global_tid = 0;
  std::int32_t tid = 0;
  ProcessId process;
  std::string name;
};

struct Device {
  DeviceType type = DeviceType::kUnknown;
  std::int32_t ordinal = 0;  ///< the id the program uses
  ProcessId
      process;  ///< owner of a host or simulated device; for CUDA devices, the first process seen
  std::int32_t cores = 0;          ///< multiprocessors, or threads of a host device; 0 unknown
  std::int32_t compute_major = 0;  ///< CUDA compute capability; 0 unknown
  std::int32_t compute_minor = 0;
  std::int64_t memory_bytes = 0;             ///< 0 unknown
  std::int64_t memory_bytes_per_second = 0;  ///< peak bandwidth; 0 unknown
  std::int64_t max_clock_hz = 0;             ///< of the multiprocessors; 0 unknown
  std::string name;
};

struct Stream {
  DeviceId device;
  ProcessId process;
  std::int32_t ordinal = 0;
  std::string name;
};

/// NVTX ranges and marks.
struct Ranges {
  enum Flag : std::uint8_t {
    kMark = 1,        ///< a point: end == start
    kStartEnd = 2,    ///< nvtxRangeStart/End: not nested, may end on another thread
    kUnfinished = 4,  ///< never ended; `end` is the end of its process or of the recording
  };
  std::vector<TimeNs> start;
  std::vector<TimeNs> end;
  std::vector<StringId> name;
  std::vector<ThreadId> thread;
  std::vector<RangeId> parent;    ///< innermost enclosing range of the same thread; none for roots,
                                  ///< marks' hosts included
  std::vector<RangeInfoId> info;  ///< none when the range has no such payload
  std::vector<DomainId> domain;
  std::vector<std::uint16_t> depth;  ///< 0 for roots
  std::vector<std::uint8_t> flags;

  /// All columns, for code that treats them alike (appending, sorting).
  auto columns() { return std::tie(start, end, name, thread, parent, info, domain, depth, flags); }
  std::size_t size() const { return start.size(); }
  Interval interval(RangeId r) const { return {start[r.value], end[r.value]}; }
  bool is(RangeId r, Flag flag) const { return (flags[r.value] & flag) != 0; }
};

/// What a range says about itself (schema "headway.range", or a framework's profiler).
struct RangeInfo {
  RangeKind kind = RangeKind::kOther;
  Phase phase = Phase::kNone;
  std::int64_t op = conventions::kAbsent;
  std::int64_t batch = conventions::kAbsent;
  std::int64_t step = conventions::kAbsent;
  std::int64_t bytes = 0;
  std::int64_t flops = 0;
  /// Autograd's sequence number: a backward op has the number of its forward op.
  std::int64_t sequence = conventions::kAbsent;
  StringId shapes = {};  ///< of the inputs, as the framework wrote them: "[[32, 1024], [1024]]"
  StringId dtypes = {};  ///< of the inputs, as the framework wrote them: "[\"float\", \"Scalar\"]"
};

/// Work that ran on a device, CUDA or other: kernels, copies, memsets, communication.
struct DeviceOps {
  enum Flag : std::uint8_t { kUnfinished = 1 };
  std::vector<TimeNs> start;
  std::vector<TimeNs> end;
  std::vector<StringId> name;
  std::vector<StreamId> stream;
  std::vector<CallId> call;  ///< the call that enqueued it; none when it is not in the trace
  std::vector<std::int64_t> bytes;
  std::vector<std::int64_t> flops;
  std::vector<std::int32_t> op;     ///< graph op id, -1 unknown
  std::vector<std::int32_t> batch;  ///< -1 unknown
  std::vector<DeviceOpKind> kind;
  std::vector<Phase> phase;
  std::vector<MathUnit> math_unit;
  std::vector<MemoryKind> source_memory;
  std::vector<MemoryKind> destination_memory;
  std::vector<std::uint32_t> blocks;         ///< CUDA: blocks of the grid; 0 unknown
  std::vector<std::uint16_t> block_threads;  ///< CUDA: threads of a block; 0 unknown
  std::vector<std::uint8_t> flags;

  /// All columns, for code that treats them alike (appending, sorting).
  auto columns() {
    return std::tie(start, end, name, stream, call, bytes, flops, op, batch, kind, phase, math_unit,
                    source_memory, destination_memory, blocks, block_threads, flags);
  }
  std::size_t size() const { return start.size(); }
  Interval interval(DeviceOpId op_id) const { return {start[op_id.value], end[op_id.value]}; }
};

/// Host calls to a device's API.
struct Calls {
  std::vector<TimeNs> start;
  std::vector<TimeNs> end;
  std::vector<StringId> name;
  std::vector<ThreadId> thread;
  std::vector<StreamId> stream;            ///< none when the call has no stream
  std::vector<std::uint64_t> correlation;  ///< 0: enqueues nothing
  std::vector<std::uint64_t> sync_id;      ///< the event record that it makes or awaits; 0 none
  std::vector<std::int64_t> bytes;
  std::vector<DeviceCallKind> kind;
  std::vector<DeviceOpId> op;  ///< the first op it enqueued; none when it enqueued nothing

  /// All columns, for code that treats them alike (appending, sorting).
  auto columns() {
    return std::tie(start, end, name, thread, stream, correlation, sync_id, bytes, kind, op);
  }
  std::size_t size() const { return start.size(); }
  Interval interval(CallId c) const { return {start[c.value], end[c.value]}; }
};

/// True for calls that may keep the host waiting for the device.
bool is_blocking(DeviceCallKind kind);
/// True for calls that do nothing but wait.
bool only_waits(DeviceCallKind kind);

/// A collective or point-to-point communication, as seen on one rank: from NCCL's payloads, or from
/// what the framework's profiler says about its kernel.
struct Collective {
  DeviceOpId op;          ///< the kernel or copy that did it; none: only the host's side is known
  RangeId range;          ///< the host's range around it; may be none
  StringId kind;          ///< "allreduce", "allgather", "reducescatter", "broadcast", "reduce",
                          ///< "alltoall", "send", "recv", "barrier"; else as recorded, lower case
  StringId communicator;  ///< process group or communicator, as the program names it; may be empty
  StringId dtype;         ///< as recorded
  std::int64_t bytes = conventions::kAbsent;  ///< full message, as NCCL's bus bandwidth counts it
  std::int64_t sequence = conventions::kAbsent;  ///< in its communicator, as recorded
  std::int32_t ranks = 0;                        ///< members of the communicator; 0 unknown
  std::int32_t peer = -1;                        ///< root, or the other end; -1: none or unknown
};

/// Time that CUDA or a profiler itself took from the program.
struct Overhead {
  enum class Kind : std::uint8_t {
    kOther = 0,
    kModuleLoad = 1,  ///< loading or compiling device code: JIT, lazy or eager loading
    kProfiler = 2,    ///< the recording profiler: buffer flushes, instrumentation
    kQueueFull = 3,   ///< the launch queue (command buffer) was full
    kAllocation = 4,  ///< resources that the driver allocates on first use
  };
  Interval interval;
  ThreadId thread;  ///< none when the recording does not say
  StringId name;
  Kind kind = Kind::kOther;
};

/// What a call on a file did; stored in HEADWAY_IO.op.
enum class IoOp : std::uint8_t {
  kOpen = 1,
  kClose = 2,
  kRead = 3,
  kWrite = 4,
  kSync = 5,
  kMap = 6,
};

/// Calls on regular files and block devices. Short calls on one file may be summed in one row.
struct Io {
  std::vector<TimeNs> start;
  std::vector<TimeNs> end;
  std::vector<DurationNs> busy;  ///< inside the calls; at most end - start
  std::vector<std::int64_t> bytes;
  std::vector<std::int64_t> offset;  ///< in the file; -1: the descriptor's position
  std::vector<StringId> path;        ///< none: not known; "folder/*": some file of that folder
  std::vector<StringId> name;        ///< of the function
  std::vector<ThreadId> thread;
  std::vector<std::uint32_t> calls;  ///< at least 1
  std::vector<std::uint16_t> error;  ///< errno; 0: the call succeeded
  std::vector<IoOp> op;

  /// All columns, for code that treats them alike (appending, sorting).
  auto columns() {
    return std::tie(start, end, busy, bytes, offset, path, name, thread, calls, error, op);
  }
  std::size_t size() const { return start.size(); }
  Interval interval(IoId id) const { return {start[id.value], end[id.value]}; }
};

struct CounterSeries {
  std::string name;  ///< "process.cpu"
  std::string unit;
  std::string description;
  ProcessId process;  ///< none: a series of the machine or a device
  std::optional<std::int32_t> device;
  std::vector<TimeNs> time;
  std::vector<double> value;
};

struct GraphOp {
  ProcessId process;
  std::int64_t op = conventions::kAbsent;
  std::int64_t forward_op = conventions::kAbsent;
  Phase phase = Phase::kNone;
  std::string name;
  std::string type;
  std::string shape;
  std::vector<std::int64_t> inputs;
  std::int64_t flops = 0;
  std::int64_t bytes = 0;
  std::int64_t output_bytes = 0;
};

struct LossCount {
  std::string name;
  std::string severity;  ///< info, doubt, loss
  std::string text;
  std::int64_t count = 0;
};

/// Rows of one event table grouped by thread or stream: `rows[offset[k] .. offset[k+1])` are the rows
/// of key k, in the table's order (by start).
template <class RowId, class Key>
struct GroupIndex {
  std::vector<std::uint32_t> offset;
  std::vector<RowId> rows;

  std::span<const RowId> operator[](Key key) const {
    if (key.value + std::size_t{1} >= offset.size()) return {};
    return std::span<const RowId>(rows).subspan(offset[key.value],
                                                offset[key.value + 1] - offset[key.value]);
  }
};

struct Trace {
  std::string path;  ///< as given by the user, for messages
  std::map<std::string, std::string, std::less<>> meta;
  std::int64_t start_utc_ns = 0;  ///< wall clock at time zero
  TimeNs end;                     ///< end of the recording, at least the last event
  bool complete = false;          ///< the recorder finished normally
  std::int32_t world_size = 0;    ///< ranks of the distributed run; 0 unknown

  Strings strings;
  std::vector<Process> processes;
  std::vector<Thread> threads;
  std::vector<Device> devices;
  std::vector<Stream> streams;
  std::vector<std::string> domains;  ///< by DomainId; 0 is the default domain ""

  Ranges ranges;
  std::vector<RangeInfo> range_info;
  DeviceOps device_ops;
  Calls calls;
  std::vector<Collective> collectives;  ///< by start of their op, else of their range
  std::vector<Overhead> overheads;      ///< by start
  Io io;
  std::vector<CounterSeries> counters;
  std::vector<GraphOp> graph_ops;
  std::vector<std::pair<std::string, std::string>>
      settings;                   ///< of the recorded program, in its order
  std::vector<LossCount> losses;  ///< sorted by severity (worst first), then name

  GroupIndex<RangeId, ThreadId> ranges_of_thread;
  GroupIndex<CallId, ThreadId> calls_of_thread;
  GroupIndex<DeviceOpId, StreamId> ops_of_stream;
  GroupIndex<IoId, ThreadId> io_of_thread;

  const RangeInfo* info(RangeId range) const {
    RangeInfoId id = ranges.info[range.value];
    return id.valid() ? &range_info[id.value] : nullptr;
  }
  const GraphOp* graph_op(ProcessId process, std::int64_t op) const;
  std::string_view meta_value(std::string_view key) const;
  std::string_view setting(std::string_view name) const;
  /// The number of ranges, device ops and calls. I/O events are not counted: they lie inside these.
  std::size_t event_count() const { return ranges.size() + device_ops.size() + calls.size(); }

  /// Finds graph ops by (process, op id); filled by the loader.
  std::map<std::pair<ProcessId, std::int64_t>, GraphOpId> graph_op_index;
};

}  // namespace headway::trace
