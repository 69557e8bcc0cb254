// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/host/unit_memory.h"

#include <algorithm>

#include "reference_trainer/passes/plan_memory.h"

namespace headway::trainer {
namespace {

constexpr std::int64_t kLine = 16;  // floats of a cache line

std::int64_t in_lines(std::int64_t count, std::int64_t parts = 1) {
  return (count + kLine * parts - 1) / (kLine * parts) * (kLine * parts);
}

std::int64_t floats_of(std::int64_t bytes) {
  return bytes / static_cast<std::int64_t>(sizeof(float));
}

constexpr std::int64_t in_bytes(std::int64_t floats) {
  return floats * static_cast<std::int64_t>(sizeof(float));
}

/// The root's parameters stay for the step.
std::vector<NeededBlock> parameter_blocks(const UnitPlan& plan,
                                          const std::vector<std::int64_t>& counts) {
  std::vector<NeededBlock> blocks;
  for (std::int64_t count : counts) blocks.push_back({in_bytes(count), {}});
  for (const UnitVisit& visit : plan.visits)
    blocks[visit.unit].needed.emplace_back(visit.asked, visit.last);
  blocks[UnitPlan::kRoot].needed = {{NodeId{0}, NodeId::none()}};
  return blocks;
}

/// A unit's gradients stay until compute has waited for a gather that was asked for after their
/// reduce-scatter: all collectives use one stream, so the reduce-scatter is over by then.
std::vector<NeededBlock> gradient_blocks(const UnitPlan& plan,
                                         const std::vector<std::int64_t>& counts) {
  std::vector<NeededBlock> blocks;
  for (std::size_t i = 0; i < plan.units.size(); ++i) {
    const ParameterUnit& unit = plan.units[i];
    NodeId until = NodeId::none();
    for (const UnitVisit& visit : plan.visits)
      if (visit.gathers && visit.asked > unit.last_gradient)
        until = std::min(until, NodeId{visit.first.value - 1});
    blocks.push_back({in_bytes(counts[i]), {{unit.first_gradient, until}}});
  }
  blocks[UnitPlan::kRoot].needed = {{NodeId{0}, NodeId::none()}};
  return blocks;
}

}  // namespace

UnitMemory::UnitMemory(Device& device, const Graph& graph, const UnitPlan& plan,
                       const std::function<std::int64_t(ValueId)>& bytes_of)
    : device_(&device) {
  std::vector<std::int64_t> counts;
  for (const ParameterUnit& unit : plan.units) {
    std::int64_t count = 0;
    for (ValueId parameter : unit.parameters) count += in_lines(floats_of(bytes_of(parameter)));
    counts.push_back(in_lines(count, plan.ranks));
  }
  place_units(plan, counts);
  for (std::size_t i = 0; i < plan.units.size(); ++i) {
    const ParameterUnit& unit = plan.units[i];
    const UnitBuffers& buffers = buffers_[i];
    const std::int64_t part = buffers.count / plan.ranks;
    const std::int64_t first = part * plan.rank;
    std::int64_t at = 0;
    for (std::size_t j = 0; j < unit.parameters.size(); ++j) {
      const std::int64_t count = floats_of(bytes_of(unit.parameters[j]));
      const std::int64_t begin = std::clamp(first - at, std::int64_t{0}, count);
      const std::int64_t end = std::clamp(first + part - at, std::int64_t{0}, count);
      const std::int64_t from = end > begin ? at + begin - first : 0;  // in the own part
      const auto size = static_cast<std::size_t>(end - begin);
      places_[unit.parameters[j]] = {
          buffers.parameters + at, true, {buffers.own_parameters + from, size}, begin};
      places_[unit.gradients[j]] = {
          buffers.gradients + at, true, {buffers.own_gradients + from, size}, begin};
      at += in_lines(count);
    }
  }
  place_state(graph);
}

float* UnitMemory::allocate(std::int64_t bytes) {
  owned_.push_back(device_->allocate(bytes, MemoryKind::kDevice));
  return owned_.back().as<float>();
}

void UnitMemory::place_units(const UnitPlan& plan, const std::vector<std::int64_t>& counts) {
  const BlockPlan parameters = place_blocks(parameter_blocks(plan, counts));
  const BlockPlan gradients = place_blocks(gradient_blocks(plan, counts));
  float* const all_parameters = allocate(parameters.total_bytes);
  float* const all_gradients = allocate(gradients.total_bytes);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::int64_t own_bytes = in_bytes(counts[i] / plan.ranks);
    buffers_.push_back({all_parameters + floats_of(parameters.offset[i]), allocate(own_bytes),
                        all_gradients + floats_of(gradients.offset[i]), allocate(own_bytes),
                        counts[i]});
  }
}

/// State like a parameter: a momentum, a master copy.
void UnitMemory::place_state(const Graph& graph) {
  for (std::size_t i = 0; i < graph.value_count(); ++i) {
    const ValueId id = ValueId::from(i);
    const auto like = places_.find(graph.owner(id));
    if (graph.value(id).role != Role::kState || like == places_.end()) continue;
    const std::size_t size = like->second.own.size();
    float* const own = allocate(in_bytes(static_cast<std::int64_t>(size)));
    places_[id] = {own, false, {own, size}, like->second.own_begin};
  }
}

void UnitMemory::write_own(ValueId value, const float* whole) const {
  const Place& place = places_.at(value);
  std::copy_n(whole + place.own_begin, place.own.size(), place.own.data());
}

std::int64_t UnitMemory::bytes() const {
  std::int64_t sum = 0;
  for (const Memory& memory : owned_) sum += memory.bytes();
  return sum;
}

}  // namespace headway::trainer
