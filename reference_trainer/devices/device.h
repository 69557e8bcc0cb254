// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/ids.h"
#include "common/nvtx_conventions.h"
#include "kernels/stream_op/op.h"
#include "reference_trainer/devices/host_clock.h"
#include "reference_trainer/graph/graph.h"
#include "reference_trainer/graph/parameter_units.h"
#include "reference_trainer/nvtx/emitter.h"

namespace headway::trainer {

using conventions::DeviceType;
using conventions::MemoryKind;
using StreamId = Id<struct StreamTag>;

struct DeviceInfo {
  std::uint32_t id = 0;  ///< ordinal in traces
  DeviceType type = DeviceType::kUnknown;
  int cores = 0;          ///< threads (host) or multiprocessors that share one op
  std::string name;       ///< for people
  std::string note = {};  ///< likewise: which features it lacks, and why; may be empty
  /// Largest weight of a product of 8-bit integers: 127, or 63 where the sum of two products is
  /// kept in 16 bits and would overflow.
  int most_int8_weight = 127;
};

/// An address that a copy can use. Host code may dereference `address` only where the kind is
/// pageable or pinned.
struct MemoryView {
  void* address = nullptr;
  MemoryKind kind = MemoryKind::kUnknown;
};

class Device;

/// Owns memory of a device, or pinned host memory for its copies. The destructor frees it, after
/// waiting for the device as cudaFree does. The device must outlive it. Contents start as zero.
class Memory {
 public:
  Memory() = default;
  Memory(Device* device, MemoryView view, std::int64_t bytes)
      : device_(device), view_(view), bytes_(bytes) {}
  Memory(Memory&& other) noexcept { swap(other); }
  Memory& operator=(Memory&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Memory();

  MemoryView view() const { return view_; }
  /// The size that was asked for; 0: it owns nothing.
  std::int64_t bytes() const { return bytes_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(view_.address);
  }

 private:
  void swap(Memory& other) {
    std::swap(device_, other.device_);
    std::swap(view_, other.view_);
    std::swap(bytes_, other.bytes_);
  }
  Device* device_ = nullptr;
  MemoryView view_;
  std::int64_t bytes_ = 0;
};

/// A point in a stream's work. It is a plain value: recording again makes a new point.
struct Event {
  StreamId stream;
  std::uint64_t sequence = 0;  ///< the device's own count of work on the stream
  std::uint64_t sync_id = 0;   ///< unique per record, in traces; 0: never recorded, always done
};

/// The arguments that may differ from one launch of a kernel to the next.
struct LaunchArguments {
  int slot = 0;             ///< which buffer of the graph's inputs
  float rate = 0;           ///< learning rate
  std::int64_t batch = -1;  ///< for traces
  double filled = 1;  ///< share of the graph's length that the batch fills, 0..1; the rest pads
  /// Where tokens are generated: position of the last known token in its sequence.
  std::int64_t position = -1;
  int kept = 0;  ///< which copy of kept activations (CompileOptions::kept_copies)
};

/// Work that a stream can run, made by Device::compile or make_kernel. Its tag gives its name in
/// traces.
class Kernel {
 public:
  struct Tag {
    nvtx::Name name = nullptr;               ///< its name in traces, registered once
    std::string text;                        ///< "conv2d layer1.0.conv1": for error messages
    std::int64_t op = conventions::kAbsent;  ///< number of the graph's op; kAbsent: no graph op
    Phase phase = Phase::kNone;
    Work work;  ///< of one launch with a full batch
    conventions::DeviceOpKind kind = conventions::DeviceOpKind::kKernel;  ///< or kCommunication
    conventions::MathUnit math_unit = conventions::MathUnit::kGeneral;
    bool half_operands = false;  ///< FP16 or BF16 on matrix units
    bool int8_operands = false;
  };
  explicit Kernel(Tag tag) : tag_(std::move(tag)) {}
  virtual ~Kernel() = default;
  const Tag& tag() const { return tag_; }

 private:
  Tag tag_;
};

/// Device memory of a unit of parameters that ranks share (graph/parameter_units.h). Null where the
/// device does not compute.
struct UnitBuffers {
  float* parameters = nullptr;      ///< the whole unit, [count], while it is gathered
  float* own_parameters = nullptr;  ///< this rank's part, [count / ranks]
  float* gradients = nullptr;       ///< of this rank's batch, [count], until they are reduced
  float* own_gradients = nullptr;   ///< this rank's part of their mean over ranks, [count / ranks]
  std::int64_t count = 0;           ///< floats, a multiple of the number of ranks
};

/// A graph compiled for a device: memory for every value, kernels for every node.
class CompiledGraph {
 public:
  virtual ~CompiledGraph() = default;
  /// The kernels of a node, in the order to launch them on one stream.
  virtual std::span<const std::unique_ptr<Kernel>> kernels(NodeId node) const = 0;
  /// Device memory of an input (in one of its slots) or a result, for copies. The address is null
  /// for a value that the graph does not use (CompileOptions::runs).
  virtual MemoryView memory(ValueId value, int slot = 0) const = 0;
  /// The same of an activation; `copy`: see CompileOptions::kept_copies.
  virtual MemoryView kept_memory(ValueId value, int /*copy*/) const { return memory(value); }
  /// The number format of a float value in that memory.
  virtual kernels::NumberFormat format(ValueId) const { return kernels::NumberFormat::kFloat32; }
  /// Bytes of that memory, including padding of the device's layout.
  virtual std::int64_t memory_size(ValueId value) const = 0;
  /// Writes or reads a float value in its logical order (weights OIHW, activations NHWC). Waits for
  /// the device first. An activation is valid only until a later op reuses its memory; under the
  /// raw allocator activations have no memory between steps.
  virtual void write(ValueId value, std::span<const float> values) = 0;
  virtual std::vector<float> read(ValueId value) const = 0;
  /// With CompileOptions::units: the memory of a unit. Then `write` keeps this rank's part of a
  /// parameter, and `read` finds a parameter only while its unit is gathered.
  virtual UnitBuffers unit(std::size_t) const { return {}; }
  /// Device memory that the graph holds, in bytes.
  virtual std::int64_t memory_bytes() const = 0;
  /// To be called before and after a node's kernels are launched. Under the raw allocator, the
  /// first call allocates the values that this node is the first to need, and the node's scratch
  /// memory, from the device's allocator. The second call frees the values that no later node
  /// needs, waiting for the device as cudaFree does. Otherwise both do nothing.
  virtual void allocate_for(NodeId node) = 0;
  virtual void free_after(NodeId node) = 0;
};

/// A rank's share of a model that several ranks share: share of a node's work, and (simulated
/// ranks) of a value's memory. Empty: all of it.
struct ModelShare {
  std::function<double(NodeId)> work = {};
  std::function<double(ValueId)> memory = {};
  /// Share of a node's operands that a batch fills, where that depends on the data (rows of
  /// experts).
  std::function<double(NodeId, std::int64_t batch)> load = {};
};

struct CompileOptions {
  int input_slots = 1;           ///< buffers of the graph's inputs, which are filled in turn
  std::int64_t first_op_id = 0;  ///< node i is op first_op_id + i in traces
  /// Parameters and state of the same names are taken from this graph instead of new ones. It must
  /// outlive the result.
  const CompiledGraph* share_with = nullptr;
  bool keep_activations = false;  ///< give every activation its own memory, for tests
  bool raw_allocator = false;     ///< activations have memory only while they are needed
  ModelShare share = {};
  /// By node, for one of several ranks that share the graph and compute: whether this rank runs it.
  /// The other nodes get no kernels, and values that only they use get no memory. Empty: all run.
  std::vector<bool> runs = {};
  /// The number of forward passes that may be under way before their backward passes: activations
  /// that a backward pass reads have this many copies. More than 1 only where the device computes,
  /// without `raw_allocator` and `keep_activations`.
  int kept_copies = 1;
  /// Parameters that ranks share by units: this rank keeps its part of them and updates it. Null:
  /// it has whole parameters. Only for devices that compute; must outlive the result.
  const UnitPlan* units = nullptr;
};

/// Runs a training program: streams of work in order, events between them, device memory, copies.
/// Calls return before the work is done unless documented otherwise. Every call may throw Error
/// when earlier work failed; the message names the op. One host thread drives a device; `record`
/// and `synchronize` may also be called from other threads.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;

  /// The stream lives as long as the device; `name` is for traces.
  virtual StreamId create_stream(const std::string& name) = 0;
  /// `kind` is kDevice, kPinned, or kPageable for plain host memory. Blocks. The memory is zeroed.
  virtual Memory allocate(std::int64_t bytes, MemoryKind kind) = 0;

  /// False where a kernel has nothing to do for this batch and is not launched: a time step beyond
  /// the batch's longest sample.
  virtual bool launches(const Kernel&, const LaunchArguments&) const { return true; }
  /// Blocks only while the stream's queue is full.
  virtual void launch(StreamId stream, const Kernel& kernel, const LaunchArguments& arguments) = 0;
  /// Like cudaMemcpyAsync: returns at once when the host side is pinned. From pageable memory it
  /// returns when the source has been read; to pageable memory, when the copy is done.
  virtual void copy(StreamId stream, MemoryView to, MemoryView from, std::int64_t bytes,
                    std::int64_t batch) = 0;
  /// Returns when the copy, and thus everything before it on the stream, is done.
  virtual void copy_blocking(StreamId stream, MemoryView to, MemoryView from, std::int64_t bytes,
                             std::int64_t batch) = 0;

  /// Records a point after all work enqueued on the stream so far.
  virtual Event record(StreamId stream) = 0;
  /// Later work on `stream` starts after the event.
  virtual void wait(StreamId stream, const Event& event) = 0;
  /// Whether the event has passed. Does not block.
  virtual bool done(const Event& event) = 0;
  /// Blocks until the event has passed; the overloads, until a stream or the whole device is idle.
  virtual void synchronize(const Event& event) = 0;
  virtual void synchronize(StreamId stream) = 0;
  virtual void synchronize() = 0;
  /// When a passed event took place, by `clock`; nothing where the device does not report it.
  virtual std::optional<std::chrono::nanoseconds> time_of(const Event& event) = 0;

  /// Allocates memory for every value and makes every kernel. Throws Error (usage) naming an op
  /// that the device cannot run. The device must outlive the result.
  virtual std::unique_ptr<CompiledGraph> compile(const Graph& graph,
                                                 const CompileOptions& options) = 0;
  /// A kernel that is not an op of a graph. The memory that `op` points to must outlive it.
  virtual std::unique_ptr<Kernel> make_kernel(Kernel::Tag tag, const kernels::StreamOp& op) = 0;

  /// One kernel that runs all of `kernels` in order with one call of the driver (a CUDA graph). It
  /// is only for launches with the slot of `sample`. The kernels must outlive it, and must have run
  /// before.
  virtual std::unique_ptr<Kernel> join(StreamId stream, Kernel::Tag tag,
                                       const std::vector<const Kernel*>& kernels,
                                       const LaunchArguments& sample) = 0;

  /// The clock of the host thread that drives the device.
  virtual HostClock& clock() = 0;
  /// False for a simulated device: kernels and copies take time but change no memory.
  virtual bool computes() const = 0;

 protected:
  friend class Memory;
  virtual void release(MemoryView memory, std::int64_t bytes) noexcept = 0;
};

inline Memory::~Memory() {
  if (device_ && view_.address) device_->release(view_, bytes_);
}

}  // namespace headway::trainer
