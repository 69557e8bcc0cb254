// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/cuda/compile.h"

#include <algorithm>

#include "common/error.h"
#include "kernels/cast/launch.h"
#include "kernels/number_format.h"
#include "reference_trainer/devices/cuda/cuda_device.h"
#include "reference_trainer/ops/op.h"

namespace headway::trainer {
void* Operand::at(int slot) const {
  if (!graph_) return nullptr;
  if (value_.valid()) return graph_->address(value_, slot);
  return static_cast<std::byte*>(graph_->scratch_) + scratch_;
}

CudaGraph::CudaGraph(CudaDevice& device, const Graph& graph, const CompileOptions& options)
    : device_(device),
      graph_(graph),
      options_(options),
      shared_(static_cast<const CudaGraph*>(options.share_with)),
      kernels_(graph.node_count()),
      when_bound_(graph.node_count()),
      bound_to_(graph.node_count()),
      scratch_of_node_(graph.node_count()) {
  skip_tf32_rounding();
  choose_formats();
  add_ops();
  step_memory_ = StepMemory(graph_, options_);
  allocate();
  if (step_memory_.raw()) return;
  for (std::size_t i = 0; i < graph_.node_count(); ++i) bind(NodeId::from(i));
  when_bound_.clear();
}

void CudaGraph::bind(NodeId node) {
  for (const auto& action : when_bound_[node.value]) action();
}

const kernels::cuda::Limits& CudaGraph::limits() const {
  return device_.kernels().limits();
}

void CudaGraph::add_ops() {
  for (std::size_t i = 0; i < graph_.node_count(); ++i) {
    const NodeId id = NodeId::from(i);
    const Node& node = graph_.node(id);
    if (node.on_processor) {
      check_round_trip(id);
      continue;
    }
    const auto found = std::ranges::find(cuda_ops(), node.op, &CudaOp::op);
    if (found == cuda_ops().end()) refuse(id, "it has no kernel for this op yet");
    naming(id, [&] { found->add(*this, id); });
    for (const CastAfter& cast : std::exchange(casts_after_, {}))
      add_cast(id, cast.format, cast.from, format(cast.value), operand(cast.value),
               shape(cast.value).elements());
  }
}

/// Adds the op's name to errors of `work`.
template <class Work>
void CudaGraph::naming(NodeId id, const Work& work) const {
  try {
    work();
  } catch (const Error& error) {
    if (error.code() == ExitCode::kUsage) throw;  // from refuse(): it already gives the reason
    const Node& node = graph_.node(id);
    fail_internal("Op '{}' ({}) on the cuda device: {}", node.name, node.op->type, error.what());
  }
}

/// Values that the processor computes with are copied without conversion, and it reads FP32 only.
void CudaGraph::check_round_trip(NodeId id) const {
  auto narrow = [&](ValueId value) { return format(value) != NumberFormat::kFloat32; };
  const Node& node = graph_.node(id);
  if (std::ranges::any_of(node.inputs, narrow) || std::ranges::any_of(node.outputs, narrow))
    refuse(id, "it runs on the processor, which reads FP32 only; use --precision fp32");
}

void CudaGraph::refuse(NodeId id, const std::string& why) const {
  const Node& node = graph_.node(id);
  fail_usage(
      "Op '{}' ({}): the cuda device cannot run it: {}. The host device can (--device host).",
      node.name, node.op->type, why);
}

Operand CudaGraph::input(NodeId node, ValueId value, NumberFormat wanted) {
  if (format(value) == wanted) return operand(value);
  const std::int64_t count = shape(value).elements();
  const Operand copy = scratch(node, count * kernels::bits_of(wanted) / 8);
  add_cast(node, format(value), operand(value), wanted, copy, count);
  return copy;
}

Operand CudaGraph::output(NodeId node, ValueId value, NumberFormat made) {
  if (format(value) == made) return operand(value);
  const Operand from = scratch(node, shape(value).elements() * kernels::bits_of(made) / 8);
  casts_after_.push_back({value, from, made});
  return from;
}

Operand CudaGraph::scratch(NodeId node, std::int64_t bytes) {
  constexpr std::int64_t kAlignment = 256;
  const std::int64_t place = scratch_of_node_[node.value];
  scratch_of_node_[node.value] += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return {*this, place};
}

/// There is no kernel between the two half formats, and no pass needs one.
void CudaGraph::add_cast(NodeId node, NumberFormat from_format, Operand from,
                         NumberFormat to_format, Operand to, std::int64_t count) {
  if (from_format != NumberFormat::kFloat32 && to_format != NumberFormat::kFloat32)
    refuse(node, "it mixes FP16 and BF16");
  const Work work = {count,
                     count * (kernels::bits_of(from_format) + kernels::bits_of(to_format)) / 8};
  add_launches(
      node,
      [=, this](int slot) -> Launches {
        return {kernels::cuda::cast(limits(), from_format, to_format, count, from.at(slot),
                                    to.at(slot))};
      },
      "cast", work);
}

Kernel::Tag CudaGraph::tag(NodeId node, const std::string& part, std::optional<Work> work) const {
  const Node& of = graph_.node(node);
  Kernel::Tag tag;
  tag.text = fmt::format("{}{}{} {}", of.op->type, part.empty() ? "" : "/", part, of.name);
  tag.name = nvtx::intern(tag.text);
  tag.op = options_.first_op_id + node.value;
  tag.phase = of.phase;
  tag.work = work ? *work : of.op->work(graph_, of);
  return tag;
}

void CudaGraph::add_kernel(NodeId node, CudaKernel::Send send, const std::string& part,
                           std::optional<Work> work) {
  kernels_[node.value].push_back(
      std::make_unique<CudaKernel>(tag(node, part, work), std::move(send)));
}

void CudaGraph::add_launches(NodeId id, Make make, const std::string& part,
                             std::optional<Work> work, Vary vary) {
  auto kernel =
      std::make_unique<LaunchesKernel>(tag(id, part, work), device_.kernels(), std::move(vary));
  const bool reads_batch = std::ranges::any_of(graph_.node(id).inputs, [&](ValueId input) {
    return graph_.value(input).role == Role::kInput;
  });
  when_bound(
      id, [this, id, to = kernel.get(), make = std::move(make), sets = reads_batch ? slots() : 1] {
        to->clear();
        for (int slot = 0; slot < sets; ++slot) naming(id, [&] { to->add(make(slot)); });
      });
  kernels_[id.value].push_back(std::move(kernel));
}

}  // namespace headway::trainer
