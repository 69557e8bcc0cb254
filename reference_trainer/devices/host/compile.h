// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string>
#include <vector>

#include "reference_trainer/devices/device.h"
#include "reference_trainer/devices/host/reserved_memory.h"
#include "reference_trainer/devices/host/stream.h"
#include "reference_trainer/devices/host/unit_memory.h"
#include "reference_trainer/devices/step_memory.h"

namespace headway::trainer {

class HostDevice;

/// A graph on the host device: the memory and the layout of each value, and the kernels of each
/// node. The functions of devices/host/ops/ add the ops in order and may fix the layout of a
/// weight. When all ops are known, memory is laid out, and each op's `when_bound` runs once. All
/// kernels run on one stream: addresses of kept activations are those of the running kernel's copy.
class HostGraph final : public CompiledGraph {
 public:
  HostGraph(HostDevice& device, const Graph& graph, const CompileOptions& options);
  ~HostGraph() override;

  // ---- for devices/host/ops/ ----
  const Graph& graph() const { return graph_; }
  const dnnl::engine& engine() const { return engine_; }
  dnnl::stream& stream() const { return stream_; }
  int slots() const { return options_.input_slots; }
  /// Copies of kept activations. `use_copy` selects the one that addresses are of.
  int copies() const { return options_.kept_copies; }
  int copy() const { return copy_; }
  void use_copy(int copy) { copy_ = copy; }

  /// The layout of a value: dense NHWC (or row-major) unless an op has set another.
  dnnl::memory::desc layout(ValueId value) const;
  /// Whether an op has set a layout.
  bool has_layout(ValueId value) const;
  /// Fixes the layout of a parameter and of all values that are like it.
  void set_layout(ValueId value, const dnnl::memory::desc& layout);
  /// Requests at least `bytes` of scratch memory for the node that is being added; the kernels of
  /// one node share it.
  void need_scratch(std::size_t bytes);
  /// Scratch memory of the node that runs; null before memory is bound.
  void* scratch() const { return scratch_address_; }
  /// Adds a kernel to a node. `part` distinguishes several kernels of one node.
  void add_kernel(NodeId node, HostKernel::Body body, const std::string& part = {},
                  std::optional<Work> work = {});
  /// `action` runs once, when the graph's memory is allocated: it makes objects that hold
  /// addresses.
  void when_bound(std::function<void()> action) { when_bound_.push_back(std::move(action)); }

  template <class T = float>
  T* address(ValueId value, int slot = 0) const {
    return static_cast<T*>(memory(value, slot).address);
  }

  /// What this rank updates of a parameter, with its gradient and state: all of it, or its part
  /// where ranks share parameters. Valid when memory is bound.
  std::span<float> own_part(ValueId value) const;

  // ---- CompiledGraph ----
  std::span<const std::unique_ptr<Kernel>> kernels(NodeId node) const override {
    return kernels_[node.value];
  }
  MemoryView memory(ValueId value, int slot = 0) const override;
  MemoryView kept_memory(ValueId value, int copy) const override;
  std::int64_t memory_size(ValueId value) const override { return bytes_of(value); }
  void write(ValueId value, std::span<const float> values) override;
  std::vector<float> read(ValueId value) const override;
  UnitBuffers unit(std::size_t unit) const override { return units_.buffers(unit); }
  std::int64_t memory_bytes() const override { return memory_bytes_; }
  void allocate_for(NodeId node) override;
  void free_after(NodeId node) override;

 private:
  std::int64_t bytes_of(ValueId value) const;
  bool runs(NodeId node) const { return options_.runs.empty() || options_.runs[node.value]; }
  void find_used_values();
  bool is_used(ValueId value) const { return used_.empty() || used_[value.value]; }
  bool is_kept(ValueId value) const { return !kept_.empty() && kept_[value.value]; }
  HostKernel::Body rounding(const Node& node, HostKernel::Body body);
  /// Values of a graph that shares parameters with another graph get the layouts that they have
  /// there.
  void share_layouts();
  void add_ops();
  void allocate();
  void allocate_persistent(ValueId id);
  void allocate_planned();
  /// Lays out the activations for which `wanted` holds in one block of `copies` times their size;
  /// returns that size.
  std::int64_t allocate_block(const std::function<bool(ValueId)>& wanted, int copies);
  void allocate_units();
  void reserve();
  std::int64_t scratch_bytes() const;

  HostDevice& device_;
  Graph graph_;
  CompileOptions options_;
  const HostGraph* shared_;  // owns parameters and state of the same names
  dnnl::engine engine_;
  mutable dnnl::stream stream_;
  std::map<ValueId, dnnl::memory::desc> layouts_;
  std::vector<std::vector<std::unique_ptr<Kernel>>> kernels_;
  std::vector<std::function<void()>> when_bound_;
  std::vector<bool> used_;       // by value: some node that runs uses it; empty: all
  std::vector<bool> kept_;       // by value: an activation that has copies; empty: none has
  std::int64_t kept_bytes_ = 0;  // distance of two copies
  int copy_ = 0;
  std::vector<std::vector<MemoryView>> views_;  // by value, then slot
  std::vector<Memory> owned_;
  UnitMemory units_;  // of parameters that ranks share
  StepMemory step_memory_;
  ReservedMemory reserved_;  // for values allocated during a step, and scratch memory
  std::vector<std::int64_t> scratch_of_node_;
  void* scratch_address_ = nullptr;
  std::int64_t memory_bytes_ = 0;
};

std::unique_ptr<CompiledGraph> compile_for_host(HostDevice& device, const Graph& graph,
                                                const CompileOptions& options);

/// How the host runs an op: a function that adds the node's kernels. ops/op_list.h lists all ops.
struct HostOp {
  const OpDefinition* op;
  void (*add)(HostGraph& graph, NodeId node);
};
std::span<const HostOp> host_ops();

}  // namespace headway::trainer
