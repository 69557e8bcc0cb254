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

/// Where a kernel finds an operand once memory is laid out: in the value's own memory or in scratch
/// memory.
class Operand {
 public:
  Operand() = default;  ///< none: null
  Operand(const CudaGraph& graph, ValueId value) : graph_(&graph), value_(value) {}
  Operand(const CudaGraph& graph, std::int64_t scratch) : graph_(&graph), scratch_(scratch) {}
  /// Valid only once memory is bound: in `make` of add_launches, in `when_bound`, in Send.
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

/// A graph on the CUDA device: the number format and the memory of each value, and the kernels of
/// each node. The functions of devices/cuda/ops/ add the ops in order. When all ops are known,
/// memory is laid out, one set of launches is made per input slot, and each op's `when_bound` runs.
/// Under the raw allocator, a node's launches are made when its memory is allocated, and again when
/// its address has changed.
///
/// Layout of values: row-major in the order of Shape; filters of NHWC convolutions as O,H,W,I.
/// Matrices and tensors with more extents have the number format that their producer writes
/// (Node::results, casts), or that of parameters beside a master copy. Vectors, inputs and states
/// are FP32.
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
  /// Limits of the GPU, for launchers.
  const kernels::cuda::Limits& limits() const;
  int slots() const { return options_.input_slots; }

  /// The number format of a float value in memory; never TF32.
  NumberFormat format(ValueId value) const override { return formats_[value.value]; }
  /// Whether a node's products may round their operands to TF32.
  bool tf32(NodeId node) const { return tf32_[node.value]; }

  /// The operand in `format`: the value itself or, where its own format differs, scratch memory. A
  /// cast kernel fills the scratch memory before the kernels that the op adds afterwards.
  Operand input(NodeId node, ValueId value, NumberFormat format);
  /// The result in `format`: where the value's own format differs, a cast kernel converts it after
  /// all of the node's kernels.
  Operand output(NodeId node, ValueId value, NumberFormat format);
  /// The value in its own format.
  Operand operand(ValueId value) const { return {*this, value}; }
  /// Scratch memory for this node only, until the next node's kernels run. The address is a
  /// multiple of 256.
  Operand scratch(NodeId node, std::int64_t bytes);

  /// Adds a kernel that launches our own kernels: `make(slot)` is called once per slot when memory
  /// is bound. `vary` changes the launches' parameters in place before they are sent. `part`
  /// distinguishes several kernels of one node. `work` defaults to the op's work.
  using Make = std::function<Launches(int slot)>;
  void add_launches(NodeId node, Make make, const std::string& part = {},
                    std::optional<Work> work = {}, Vary vary = {});
  /// Adds a kernel that `send` launches (libraries). Make what it needs in `when_bound`.
  void add_kernel(NodeId node, CudaKernel::Send send, const std::string& part = {},
                  std::optional<Work> work = {});
  /// `action` makes objects that hold addresses of the node's operands. It may run again; the last
  /// run counts.
  void when_bound(NodeId node, std::function<void()> action) {
    when_bound_[node.value].push_back(std::move(action));
  }
  /// Fails (usage error) because the device cannot run this node: gives the reason `why`, names the
  /// op and a device that can run it.
  [[noreturn]] void refuse(NodeId node, const std::string& why) const;

  /// Address of a value in a slot; valid once memory is bound.
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
  /// A result that a cast kernel converts into the value's own format, after the node's kernels.
  struct CastAfter {
    ValueId value;
    Operand from;
    NumberFormat format;
  };

  void skip_tf32_rounding();
  /// Chooses the number format of every value, before ops are added.
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
  /// Allocates memory for all values, then runs every `when_bound`.
  void allocate();
  /// Activations whose lifetimes do not overlap share memory.
  void allocate_planned();
  /// Allocates parameters and state, which outlive a step.
  void allocate_persistent(ValueId id);
  /// The bytes of the value under the raw allocator.
  std::int64_t step_size(ValueId value) const;
  void bind(NodeId node);
  void bind_again(NodeId node);
  void give_back(void*& address, std::int64_t bytes);

  CudaDevice& device_;
  Graph graph_;
  CompileOptions options_;
  const CudaGraph* shared_;            // owns parameters and state of the same names
  std::vector<NumberFormat> formats_;  ///< by value
  std::vector<bool> tf32_;             ///< by node
  std::vector<std::vector<std::unique_ptr<Kernel>>> kernels_;
  std::vector<CastAfter> casts_after_;                          // of the node that is being added
  std::vector<std::vector<std::function<void()>>> when_bound_;  // by node
  std::vector<std::vector<MemoryView>> views_;                  // by value, then slot
  std::vector<Memory> owned_;
  StepMemory step_memory_;
  std::vector<std::vector<const void*>>
      bound_to_;  // raw allocator: the addresses that a node's launches use
  std::vector<std::int64_t> scratch_of_node_;  // bytes
  void* scratch_ = nullptr;                    // of the node that runs
  std::int64_t memory_bytes_ = 0;
};

/// How the device runs an op: a function that adds the node's kernels. ops/op_list.h lists all ops.
struct CudaOp {
  const OpDefinition* op;
  void (*add)(CudaGraph& graph, NodeId node);
};
std::span<const CudaOp> cuda_ops();

}  // namespace headway::trainer
