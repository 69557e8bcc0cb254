// SPDX-License-Identifier: MIT
#include "reference_trainer/comm/parameter_shards.h"

#include <fmt/format.h>

#include <algorithm>

namespace headway::trainer {

ParameterShards::ParameterShards(Device& device, StreamId compute, const Graph& graph,
                                 const UnitPlan& plan, const CompiledGraph& compiled,
                                 Communicator& communicator, const ShardOptions& options)
    : device_(device),
      compute_(compute),
      communicator_(communicator),
      plan_(plan),
      options_(options),
      stream_(device.create_stream("communication")) {
  for (std::size_t i = 0; i < plan.units.size(); ++i) add_unit(graph, i, compiled);
  if (!device.computes()) add_buffers();
  for (std::size_t i = 0; i < plan.visits.size(); ++i) {
    visits_at_.emplace(plan.visits[i].first, i);
    if (plan.visits[i].gathers) requests_at_.emplace(plan.visits[i].asked, i);
  }
  gathered_.resize(plan.visits.size());
  if (!options.last_check.valid()) return;
  overflow_name_ = nvtx::intern("FSDP::sum_overflows");
  sum_overflows_ =
      communicator.prepare({CollectiveKind::kAllReduce, Scope::kWorld, ElementType::kFloat,
                            options.overflow, 1, "overflow flags"});
}

void ParameterShards::add_unit(const Graph& graph, std::size_t number,
                               const CompiledGraph& compiled) {
  const ParameterUnit& of = plan_.units[number];
  Unit& unit = units_.emplace_back();
  if (of.parameters.empty()) return;
  Collective gather{CollectiveKind::kAllGather, Scope::kWorld, options_.type, nullptr, 0, of.name};
  Collective reduce{
      CollectiveKind::kReduceScatter, Scope::kWorld, options_.type, nullptr, 0, of.name};
  if (device_.computes()) {
    const UnitBuffers memory = compiled.unit(number);
    unit.elements = memory.count;
    gather.data = memory.parameters;
    gather.own_part = memory.own_parameters;
    reduce.data = memory.gradients;
    reduce.own_part = memory.own_gradients;
  } else {
    for (ValueId parameter : of.parameters)
      unit.elements += graph.value(parameter).shape.elements();
    const int ranks = communicator_.size();
    unit.elements = (unit.elements + ranks - 1) / ranks * ranks;  // equal parts
  }
  gather.count = reduce.count = unit.elements;
  gradients_at_.emplace(of.last_gradient, number);
  unit.gather_name = nvtx::intern(fmt::format("FSDP::all_gather ({})", of.name));
  unit.reduce_name = nvtx::intern(fmt::format("FSDP::post_backward_reduce ({})", of.name));
  unit.gather = communicator_.prepare(std::move(gather));
  unit.reduce = communicator_.prepare(std::move(reduce));
}

void ParameterShards::add_buffers() {
  std::int64_t largest = 0;
  for (std::size_t i = UnitPlan::kRoot + 1; i < units_.size(); ++i)
    largest = std::max(largest, bytes(units_[i]));
  const Unit& root = units_[UnitPlan::kRoot];
  if (root.elements > 0) buffers_.push_back(device_.allocate(bytes(root), MemoryKind::kDevice));
  for (int i = 0; i < 2 && largest > 0; ++i)
    buffers_.push_back(device_.allocate(largest, MemoryKind::kDevice));
}

std::int64_t ParameterShards::bytes(const Unit& unit) const {
  return unit.elements * (options_.type == ElementType::kHalf ? 2 : 4);
}

void ParameterShards::enqueue(nvtx::Name name, const PreparedCollective& what, std::int64_t bytes,
                              std::int64_t batch) {
  conventions::RangePayload payload;
  payload.phase = static_cast<std::uint32_t>(Phase::kCommunication);
  payload.bytes = bytes;
  nvtx::Range range(name, payload);
  device_.wait(stream_, device_.record(compute_));
  communicator_.enqueue(stream_, what, batch);
}

void ParameterShards::gather(std::size_t number, std::int64_t batch) {
  const Unit& unit = units_[number];
  enqueue(unit.gather_name, *unit.gather, bytes(unit), batch);
}

void ParameterShards::before(NodeId node, std::int64_t batch) {
  for (auto [at, end] = requests_at_.equal_range(node); at != end; ++at) {
    gather(plan_.visits[at->second].unit, batch);
    gathered_[at->second] = device_.record(stream_);
  }
  for (auto [at, end] = visits_at_.equal_range(node); at != end; ++at)
    if (plan_.visits[at->second].gathers) device_.wait(compute_, gathered_[at->second]);
}

void ParameterShards::after(NodeId node, std::int64_t batch) {
  for (auto [at, end] = gradients_at_.equal_range(node); at != end; ++at) {
    const Unit& unit = units_[at->second];
    enqueue(unit.reduce_name, *unit.reduce, bytes(unit), batch);
  }
  if (!sum_overflows_ || node != options_.last_check) return;
  enqueue(overflow_name_, *sum_overflows_, sizeof(float), batch);
  device_.wait(compute_, device_.record(stream_));
}

bool ParameterShards::acts_before(NodeId node) const {
  return visits_at_.contains(node) || requests_at_.contains(node);
}

bool ParameterShards::acts_after(NodeId node) const {
  return gradients_at_.contains(node) || (sum_overflows_ && node == options_.last_check);
}

void ParameterShards::backward_launched() {
  device_.wait(compute_, device_.record(stream_));
}

void ParameterShards::gather_now(std::size_t unit) {
  if (!units_[unit].gather) return;
  gather(unit, conventions::kAbsent);
  device_.synchronize(stream_);
}

}  // namespace headway::trainer
