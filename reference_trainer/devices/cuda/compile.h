// SPDX-License-Identifier: MIT
#pragma once

#include <cuda.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reference_trainer/devices/cuda/cuda_kernel.h"
#include "reference_trainer/devices/device.h"
#include "reference_trainer/devices/step_memory.h"

namespace headway::trainer {

class CudaDevice;
class CudaGraph;
using kernels::NumberFormat;

/// Where a kernel finds an operand once memory is laid out: the value's own memory or scratch memory.
class Operand {
 public:
  Operand() = default;  ///< none: null
  Operand(const CudaGraph& graph, ValueId value) : graph_(&graph), value_(value) {}
  Operand(const CudaGraph& graph, std::int64_t scratch) : graph_(&graph), scratch_(scratch) {}
  /// For use when memory is bound: in `make` of add_launches, in `when_bound`, in Send.
  void* at(int slot = 0) const;
  template <class T>
  T* at(int slot = 0) const {
    return static_cast<T*>(at(slot));
  }

 private:
  const CudaGraph* graph_ = nullptr;
  ValueId value_;
  std::int64_t scratch_ = 0;
};

/// A graph on the CUDA device: in which number format each value lies, where, and the kernels of each node. Ops are
/// added in order by the functions of devices/cuda/ops/; memory is laid out when all are known; then launches are
/// made, one set per input slot, and each op's `when_bound` runs.
/// Under the raw allocator a node's launches are made when its memory is there, and again when it has come elsewhere.
///
/// How values lie: row-major in the order of Shape, filters of NHWC convolutions as O,H,W,I. Matrices
/// and what has more extents lie in the format that their producer writes (Node::results, casts) or that parameters
/// beside a master copy have; vectors, inputs and states are FP32.
class CudaGraph final : public CompiledGraph {
 public:
  CudaGraph(CudaDevice& device, const Graph& graph, const CompileOptions& options);
  ~CudaGraph() override;

  // ---- for devices/cuda/ops/ ----
  const Graph& graph() const { return graph_; }
  const Node& node(NodeId id) const { return graph_.node(id); }
  const Shape& shape(ValueId id) const { return graph_.value(id).shape; }
  /// Driver, context, kernels and libraries (cuda_device.h).
  CudaDevice& device() const { return device_; }
  /// Of the GPU, for launchers.
  const kernels::cuda::Limits& limits() const;
  int slots() const { return options_.input_slots; }

  /// How a float value lies in memory; never TF32.
  NumberFormat format(ValueId value) const override { return formats_[value.value]; }
  /// Whether a node's products may round their operands to TF32.
  bool tf32(NodeId node) const { return tf32_[node.value]; }

  /// The operand in `format`: the value itself, or, where it lies in another format, scratch memory that a cast
  /// kernel fills before the kernels that the op adds afterwards.
  Operand input(NodeId node, ValueId value, NumberFormat format);
  /// The result likewise: a cast kernel after all of the node's kernels takes it to where it belongs.
  Operand output(NodeId node, ValueId value, NumberFormat format);
  /// The value as it lies.
  Operand operand(ValueId value) const { return {*this, value}; }
  /// Scratch memory of this node alone, until the next node's kernels run. A multiple of 256 in address.
  Operand scratch(NodeId node, std::int64_t bytes);

  /// Adds a kernel of our own launches: `make(slot)` is called once per slot when memory is bound. `vary` changes
  /// the launches' parameters in place before they are sent. `part` tells apart several kernels of one
  /// node; `work`: the op's where none is given.
  using Make = std::function<Launches(int slot)>;
  void add_launches(NodeId node, Make make, const std::string& part = {},
                    std::optional<Work> work = {}, Vary vary = {});
  /// Adds a kernel that is sent in another way (libraries). What it needs is made in `when_bound`.
  void add_kernel(NodeId node, CudaKernel::Send send, const std::string& part = {},
                  std::optional<Work> work = {});
  /// `action` makes what holds addresses of the node's operands. It may run again: the last time counts.
  void when_bound(NodeId node, std::function<void()> action) {
    when_bound_[node.value].push_back(std::move(action));
  }
  /// Fails (usage error): the device cannot do this node, `why`; names the op and a device that can.
  [[noreturn]] void refuse(NodeId node, const std::string& why) const;

  /// Address of a value in a slot, when memory is bound.
  template <class T = void>
  T* address(ValueId value, int slot = 0) const {
    return static_cast<T*>(memory(value, slot).address);
  }

  // ---- CompiledGraph ----
  std::span<const std::unique_ptr<Kernel>> kernels(NodeId node) const override {
    return kernels_[node.value];
  }
  MemoryView memory(ValueId value, int slot = 0) const override;
  std::int64_t memory_size(ValueId value) const override;
  void write(ValueId value, std::span<const float> values) override;
  std::vector<float> read(ValueId value) const override;
  std::int64_t memory_bytes() const override { return memory_bytes_; }
  void allocate_for(NodeId node) override;
  void free_after(NodeId node) override;

 private:
  friend class Operand;
  /// A result that a cast takes to where the value lies, after the node's kernels.
  struct CastAfter {
    ValueId value;
    Operand from;
    NumberFormat format;
  };

  void skip_tf32_rounding();
  /// Number format of every value, before ops are added.
  void choose_formats();
  /// Outputs that stay FP32 in every precision: statistics of normalisation and attention, gradients of embeddings.
  static bool keeps_fp32(const OpDefinition& op, std::size_t output);
  bool lies_turned(ValueId value) const;
  void check_round_trip(NodeId node) const;
  void add_ops();
  template <class Work>
  void naming(NodeId node, const Work& work) const;
  void add_cast(NodeId node, NumberFormat from_format, Operand from, NumberFormat to_format,
                Operand to, std::int64_t count);
  Kernel::Tag tag(NodeId node, const std::string& part, std::optional<Work> work) const;
  /// Memory of all values; then every `when_bound` runs.
  void allocate();
  /// Activations share memory by the times in which they are needed.
  void allocate_planned();
  /// Parameters and state, which outlive a step.
  void allocate_persistent(ValueId id);
  /// Bytes that the value takes under the raw allocator.
  std::int64_t step_size(ValueId value) const;
  void bind(NodeId node);
  void bind_again(NodeId node);
  void give_back(void*& address, std::int64_t bytes);

  CudaDevice& device_;
  Graph graph_;
  CompileOptions options_;
  const CudaGraph* shared_;            // parameters and state of the same names are its
  std::vector<NumberFormat> formats_;  ///< by value
  std::vector<bool> tf32_;             ///< by node
  std::vector<std::vector<std::unique_ptr<Kernel>>> kernels_;
  std::vector<CastAfter> casts_after_;                          // of the node that is being added
  std::vector<std::vector<std::function<void()>>> when_bound_;  // by node
  std::vector<std::vector<MemoryView>> views_;                  // by value, then slot
  std::vector<Memory> owned_;
  StepMemory step_memory_;
  std::vector<std::vector<const void*>>
      bound_to_;  // under the raw allocator: what a node has made its launches with
  std::vector<std::int64_t> scratch_of_node_;  // bytes
  void* scratch_ = nullptr;                    // of the node that runs
  std::int64_t memory_bytes_ = 0;
};

/// How the device runs an op: adds the node's kernels. The list of all is ops/op_list.h.
struct CudaOp {
  const OpDefinition* op;
  void (*add)(CudaGraph& graph, NodeId node);
};
std::span<const CudaOp> cuda_ops();

}  // namespace headway::trainer
