// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/sim/sim_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "common/error.h"
#include "reference_trainer/devices/sim/kernel_names.h"
#include "reference_trainer/devices/sim/kernel_parts.h"
#include "reference_trainer/devices/sim/sim_device.h"
#include "reference_trainer/devices/step_memory.h"
#include "reference_trainer/ops/op.h"
#include "reference_trainer/passes/plan_memory.h"

namespace headway::trainer::sim {
namespace {

/// Name of a kernel that is not an op of a graph: "resize images" -> "sim::resize".
std::string plain_name(const Kernel::Tag& tag) {
  return fmt::format("sim::{}", tag.text.substr(0, tag.text.find(' ')));
}

std::uint64_t hash(std::string_view text) {
  std::uint64_t value = 0xCBF29CE484222325;  // FNV-1a
  for (char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return value;
}

bool is_product(const Node& node) {
  static constexpr std::array kProducts = {
      &ops::kLinear,     &ops::kLinearBackwardData,    &ops::kLinearBackwardWeights,
      &ops::kMatmul,     &ops::kMatmulBackwardWeights, &ops::kBatchedMatmul,
      &ops::kLinearFused};
  return std::ranges::find(kProducts, node.op) != kProducts.end();
}

/// The choice of an autotuner that measures the library's kernels: the number of parts with which
/// the product takes least time. Each part has at least four steps of a tile that is 32 deep; a
/// partial result is written and read as a float.
SplitSums best_split(const CostModel& costs, const Kernel::Tag& tag, double divided, int access,
                     double outputs) {
  constexpr double kLeastTerms = 128;
  constexpr double kBytesOfPartial = 8;
  constexpr int kMostParts = 16;
  SplitSums best;
  if (outputs <= 0) return best;
  const double terms = static_cast<double>(tag.work.flops) / 2 / outputs;
  std::int64_t least = costs.kernel(tag, divided, access).ns;
  for (int parts = 2; parts <= kMostParts && terms / parts >= kLeastTerms; parts *= 2) {
    const SplitSums split{parts, kBytesOfPartial * outputs * parts};
    const std::int64_t ns = costs.kernel(tag, divided, access, split).ns;
    if (ns >= least) continue;
    least = ns;
    best = split;
  }
  return best;
}

/// Bytes that a product can read and write at once: rows begin at multiples of a row's bytes, so it
/// is the largest power of two that divides these. Convolutions are left out, because cuDNN pads
/// channels itself.
int access_bytes(const Graph& graph, const Node& node) {
  if (!is_product(node)) return 16;
  const bool half = arithmetic(graph, node).half_operands;
  std::int64_t bytes = 16;
  auto add = [&](ValueId id) {
    const Value& value = graph.value(id);
    const std::int64_t each = half ? 2 : size_of(value.type);
    if (value.shape.rank() > 1) bytes = std::gcd(bytes, value.shape.last() * each);
  };
  std::ranges::for_each(node.inputs, add);
  std::ranges::for_each(node.outputs, add);
  return static_cast<int>(bytes);
}

double outputs_of(const Graph& graph, const Node& node) {
  return node.outputs.empty()
             ? 0
             : static_cast<double>(graph.value(node.outputs.front()).shape.elements());
}

class SimGraph final : public CompiledGraph {
 public:
  SimGraph(SimDevice& device, const Graph& graph, const CompileOptions& options)
      : device_(device),
        graph_(graph),
        options_(options),
        kernels_(graph.node_count()),
        step_memory_(graph_, options) {
    for (std::size_t i = 0; i < graph.node_count(); ++i) add(graph, NodeId::from(i));
    for (std::size_t i = 0; i < graph.value_count(); ++i)
      if (graph.values()[i].role != Role::kActivation && !is_shared(graph.values()[i]))
        memory_bytes_ += kept_bytes(ValueId::from(i));
    if (!step_memory_.raw())
      memory_bytes_ += plan_memory(graph, [&](ValueId id) {
                         return is_stored(id) ? kept_bytes(id) : 0;
                       }).total_bytes;
    device_.occupy(memory_bytes_);
  }

  std::span<const std::unique_ptr<Kernel>> kernels(NodeId node) const override {
    return kernels_[node.value];
  }
  MemoryView memory(ValueId, int) const override { return {nullptr, MemoryKind::kDevice}; }
  std::int64_t memory_size(ValueId value) const override { return graph_.value(value).bytes(); }
  void write(ValueId, std::span<const float>) override {}
  std::vector<float> read(ValueId value) const override {
    return std::vector<float>(static_cast<std::size_t>(memory_size(value)) / sizeof(float));
  }
  std::int64_t memory_bytes() const override { return memory_bytes_; }
  void allocate_for(NodeId node) override {
    if (!step_memory_.raw()) return;
    auto get = [this](ValueId value) {
      if (!is_stored(value)) return;
      device_.allocate_call(memory_size(value));
      device_.occupy(memory_size(value));
      memory_bytes_ += memory_size(value);
    };
    step_memory_.begin(node, get, [] {});  // kernels here have no scratch memory
  }
  void free_after(NodeId node) override {
    if (!step_memory_.raw()) return;
    step_memory_.end(node, [this](ValueId value) {
      if (!is_stored(value)) return;
      device_.free_call(memory_size(value));
      device_.occupy(-memory_size(value));
      memory_bytes_ -= memory_size(value);
    });
  }

 private:
  bool is_shared(const Value& value) const {
    return options_.share_with && (value.role == Role::kParameter || value.role == Role::kState);
  }

  /// Matrix units themselves round operands to TF32, so rounded values are not stored.
  bool is_stored(ValueId value) const {
    const NodeId producer = graph_.value(value).producer;
    return !producer.valid() || graph_.node(producer).op != &ops::kTf32Round;
  }

  std::int64_t kept_bytes(ValueId value) const {
    const std::int64_t whole = memory_size(value);
    if (!options_.share.memory) return whole;
    return std::llround(static_cast<double>(whole) * options_.share.memory(value));
  }

  /// If the matrix units do not support the number type, general units compute the product; without
  /// TF32 it is in FP32.
  Arithmetic on_gpu(Arithmetic by) const {
    const GpuModel& gpu = *device_.costs().gpu().model;
    if (by.operands == "tf32" && gpu.tf32_flops <= 0)
      return {MathUnit::kGeneral, false, false, "f32"};
    if (by.operands == "bf16" && !gpu.bf16) by.unit = MathUnit::kGeneral;
    if (by.int8_operands && gpu.int8_ops <= 0) by.unit = MathUnit::kGeneral;
    return by;
  }

  void add(const Graph& graph, NodeId id) {
    const Node& node = graph.node(id);
    const Arithmetic by = on_gpu(arithmetic(graph, node));
    const int access = by.unit == MathUnit::kTensor ? access_bytes(graph, node) : 16;
    const double share = stored_share(graph, node);
    const double divided = divided_share(graph, node);
    for (const KernelPart& part : kernel_parts(graph, node)) {
      Kernel::Tag tag;
      tag.text = fmt::format("{}{}{} {}", node.op->type, part.name.empty() ? "" : "/", part.name,
                             node.name);
      tag.name = nvtx::intern(tag.text);
      tag.op = options_.first_op_id + id.value;
      tag.phase = node.phase;
      tag.work = part.work;
      tag.work.bytes = std::llround(static_cast<double>(part.work.bytes) * share);
      if (options_.share.work) {
        const double work = options_.share.work(id);
        tag.work.bytes = std::llround(static_cast<double>(tag.work.bytes) * work);
        tag.work.flops = std::llround(static_cast<double>(tag.work.flops) * work);
      }
      tag.math_unit = by.unit;
      tag.half_operands = by.half_operands;
      tag.int8_operands = by.int8_operands;
      const SplitSums split =
          device_.splits_products() && is_product(node)
              ? best_split(device_.costs(), tag, divided, access, outputs_of(graph, node))
              : SplitSums{};
      const std::int32_t blocks = device_.costs().kernel(tag, divided).blocks;
      const KernelName name{part.name, by.operands, by.unit == MathUnit::kTensor,
                            blocks >= device_.costs().gpu().model->multiprocessors, access};
      kernels_[id.value].push_back(std::make_unique<SimKernel>(
          std::move(tag), device_.costs(), divided,
          kernel_name(*device_.costs().gpu().model, node, name), access, split));
      auto& kernel = static_cast<SimKernel&>(*kernels_[id.value].back());
      if (options_.share.load)
        kernel.depends_on_batch(
            [load = options_.share.load, id](std::int64_t batch) { return load(id, batch); });
      if (part.time_step >= 0)
        kernel.is_of_step(part.time_step, part.time_steps);
      else if (std::holds_alternative<LstmAttributes>(node.attributes))
        kernel.repeats_by_step();
    }
  }

  SimDevice& device_;
  const Graph graph_;
  const CompileOptions options_;
  std::vector<std::vector<std::unique_ptr<Kernel>>> kernels_;
  StepMemory step_memory_;
  std::int64_t memory_bytes_ = 0;
};

}  // namespace

SimKernel::SimKernel(Tag tag, const CostModel& costs, double divided, const std::string& name,
                     int access_bytes, SplitSums split)
    : Kernel(std::move(tag)),
      costs_(costs),
      divided_(divided),
      access_bytes_(access_bytes),
      split_(split),
      cost_(costs.kernel(this->tag(), divided, access_bytes, split)),
      device_name_(nvtx::intern(name.empty() ? plain_name(this->tag()) : name)),
      number_(hash(this->tag().text)) {}

kernels::Work SimKernel::work(double filled) const {
  const kernels::Work& whole = tag().work;
  if (steps_ > 0) return whole;
  const double bytes = by_step_ ? filled : 1 - divided_ + divided_ * filled;
  return {std::llround(static_cast<double>(whole.flops) * filled),
          std::llround(static_cast<double>(whole.bytes) * bytes)};
}

CostModel::KernelCost SimKernel::cost(double filled) const {
  Tag shorter = tag();
  shorter.work = work(filled);
  return costs_.kernel(shorter, divided_, access_bytes_, split_);
}

std::unique_ptr<CompiledGraph> compile_for_simulation(SimDevice& device, const Graph& graph,
                                                      const CompileOptions& options) {
  return std::make_unique<SimGraph>(device, graph, options);
}

}  // namespace headway::trainer::sim
