// SPDX-License-Identifier: MIT
// Memory of a graph on the CUDA device, and copies of values between it and the host: converted to
// their format, with filters transposed.
#include <cstdint>

#include "common/error.h"
#include "kernels/cuda/driver/memory.h"
#include "kernels/half.h"
#include "reference_trainer/devices/cuda/compile.h"
#include "reference_trainer/devices/cuda/cuda_device.h"
#include "reference_trainer/ops/op.h"
#include "reference_trainer/passes/plan_memory.h"

namespace headway::trainer {
namespace {

/// Transposes [outer][rows][columns] to [outer][columns][rows].
std::vector<float> turned(const std::vector<float>& from, std::int64_t rows, std::int64_t columns) {
  std::vector<float> to(from.size());
  const std::int64_t each = rows * columns;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i);
    const std::int64_t in_matrix = place % each;
    const std::int64_t target =
        place - in_matrix + in_matrix % columns * rows + in_matrix / columns;
    to[static_cast<std::size_t>(target)] = from[i];
  }
  return to;
}

}  // namespace

bool CudaGraph::lies_turned(ValueId value) const {
  const Value& owner = graph_.value(graph_.owner(value));
  return owner.is_filter && !owner.channels_first;
}

std::int64_t CudaGraph::memory_size(ValueId id) const {
  const Value& value = graph_.value(id);
  if (value.type != DataType::kFloat32) return value.bytes();
  return value.shape.elements() * kernels::bits_of(format(id)) / 8;
}

void CudaGraph::allocate_persistent(ValueId id) {
  const Value& value = graph_.value(id);
  if (shared_ && (value.role == Role::kParameter || value.role == Role::kState)) {
    views_[id.value] = shared_->views_[shared_->graph_.find(value.name).value];
    return;
  }
  const int count = value.role == Role::kInput ? options_.input_slots : 1;
  for (int slot = 0; slot < count; ++slot) {
    owned_.push_back(device_.allocate(memory_size(id), MemoryKind::kDevice));
    memory_bytes_ += owned_.back().bytes();
    views_[id.value].push_back(owned_.back().view());
  }
}

/// The bytes of the value within a step. A value that is only rounded to TF32 is never written or
/// read.
std::int64_t CudaGraph::step_size(ValueId id) const {
  const NodeId producer = graph_.value(id).producer;
  return producer.valid() && node(producer).op == &ops::kTf32Round ? 0 : memory_size(id);
}

void CudaGraph::allocate() {
  views_.resize(graph_.value_count());
  if (!step_memory_.raw()) allocate_planned();
  for (std::size_t i = 0; i < graph_.value_count(); ++i) {
    const ValueId id = ValueId::from(i);
    if (step_memory_.comes_and_goes(id))
      views_[i] = {{nullptr, MemoryKind::kDevice}};
    else if (views_[i].empty())
      allocate_persistent(id);
  }
}

/// Activations share one block, and nodes share scratch memory, because all kernels of a graph run
/// on one stream.
void CudaGraph::allocate_planned() {
  const MemoryPlan plan = plan_memory(graph_, [&](ValueId id) { return step_size(id); });
  auto block = [&](std::int64_t bytes) {
    owned_.push_back(device_.allocate(bytes, MemoryKind::kDevice));
    memory_bytes_ += bytes;
    return owned_.back().as<std::byte>();
  };
  if (!options_.keep_activations) {
    std::byte* const arena = block(plan.total_bytes);
    for (std::size_t i = 0; i < graph_.value_count(); ++i)
      if (plan.offset[i] >= 0) views_[i] = {{arena + plan.offset[i], MemoryKind::kDevice}};
  }
  scratch_ = block(scratch_of_node_.empty() ? 0 : std::ranges::max(scratch_of_node_));
}

void CudaGraph::allocate_for(NodeId node) {
  if (!step_memory_.raw()) return;
  auto get = [this](std::int64_t bytes) -> void* {
    if (bytes == 0) return nullptr;
    const CUdeviceptr address = device_.take(bytes);
    memory_bytes_ += bytes;
    return reinterpret_cast<void*>(address);
  };
  step_memory_.begin(
      node, [&](ValueId value) { views_[value.value][0].address = get(step_size(value)); },
      [&] { scratch_ = get(scratch_of_node_[node.value]); });
  bind_again(node);
}

void CudaGraph::free_after(NodeId node) {
  if (!step_memory_.raw()) return;
  give_back(scratch_, scratch_of_node_[node.value]);
  step_memory_.end(
      node, [this](ValueId value) { give_back(views_[value.value][0].address, step_size(value)); });
}

/// Frees what a failed step has left.
CudaGraph::~CudaGraph() {
  if (!step_memory_.raw()) return;
  give_back(scratch_, 0);
  step_memory_.end_all([this](ValueId value) { give_back(views_[value.value][0].address, 0); });
}

void CudaGraph::give_back(void*& address, std::int64_t bytes) {
  if (!address) return;
  device_.give_back(reinterpret_cast<CUdeviceptr>(std::exchange(address, nullptr)));
  memory_bytes_ -= bytes;
}

/// The driver may give a step the same addresses as the step before; the launches then stay valid.
void CudaGraph::bind_again(NodeId node) {
  std::vector<const void*> addresses = {scratch_};
  for (const auto* values : {&graph_.node(node).inputs, &graph_.node(node).outputs})
    for (ValueId value : *values) addresses.push_back(address(value));
  if (addresses == bound_to_[node.value]) return;
  bind(node);
  bound_to_[node.value] = std::move(addresses);
}

MemoryView CudaGraph::memory(ValueId value, int slot) const {
  const auto& views = views_[value.value];
  return views[views.size() > 1 ? static_cast<std::size_t>(slot) : 0];
}

void CudaGraph::write(ValueId id, std::span<const float> values) {
  const Shape& s = shape(id);
  HEADWAY_INVARIANT(static_cast<std::int64_t>(values.size()) == s.elements());
  std::vector<float> ordered(values.begin(), values.end());
  if (lies_turned(id)) ordered = turned(ordered, s[1], s[2] * s[3]);
  const auto to = reinterpret_cast<CUdeviceptr>(address(id));
  device_.synchronize();
  if (graph_.value(id).type == DataType::kInt8) {
    const std::vector<std::int8_t> whole(ordered.begin(), ordered.end());
    cuda::upload(device_.driver(), to, whole.data(), whole.size());
    return;
  }
  if (format(id) == NumberFormat::kFloat32) {
    cuda::upload(device_.driver(), to, ordered.data(), ordered.size() * sizeof(float));
    return;
  }
  std::vector<std::uint16_t> bits;
  bits.reserve(ordered.size());
  for (float value : ordered) bits.push_back(kernels::to_16_bits(format(id), value));
  cuda::upload(device_.driver(), to, bits.data(), bits.size() * sizeof bits[0]);
}

std::vector<float> CudaGraph::read(ValueId id) const {
  const Shape& s = shape(id);
  std::vector<float> values(static_cast<std::size_t>(s.elements()));
  const auto from = reinterpret_cast<CUdeviceptr>(address(id));
  device_.synchronize();
  if (graph_.value(id).type == DataType::kInt8) {
    std::vector<std::int8_t> whole(values.size());
    HEADWAY_CU(device_.driver(), cuMemcpyDtoH, whole.data(), from, whole.size());
    values.assign(whole.begin(), whole.end());
  } else if (format(id) == NumberFormat::kFloat32) {
    HEADWAY_CU(device_.driver(), cuMemcpyDtoH, values.data(), from, values.size() * sizeof(float));
  } else {
    std::vector<std::uint16_t> bits(values.size());
    HEADWAY_CU(device_.driver(), cuMemcpyDtoH, bits.data(), from, bits.size() * sizeof bits[0]);
    for (std::size_t i = 0; i < bits.size(); ++i)
      values[i] = kernels::from_16_bits(format(id), bits[i]);
  }
  return lies_turned(id) ? turned(values, s[2] * s[3], s[1]) : values;
}

}  // namespace headway::trainer
