// SPDX-License-Identifier: MIT
#include "reference_trainer/comm/parameter_shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/error.h"
#include "reference_trainer/graph/unit_name.h"

namespace headway::trainer {
namespace {

constexpr std::size_t kRoot = 0;
constexpr std::size_t kNone = SIZE_MAX;

/// The unit whose parameters an op uses or makes gradients of; kNone: none. A cast or gradient has
/// the unit of the value that it is like.
std::size_t unit_of_node(const Graph& graph, const Node& node,
                         const std::map<ValueId, std::size_t>& unit_of) {
  for (const std::vector<ValueId>* list : {&node.inputs, &node.outputs})
    for (ValueId value : *list)
      if (const auto found = unit_of.find(graph.owner(value)); found != unit_of.end())
        return found->second;
  return kNone;
}

}  // namespace

ParameterShards::ParameterShards(Device& device, StreamId compute, const Graph& graph,
                                 const Pairs& gradients, Communicator& communicator,
                                 const ShardOptions& options)
    : device_(device),
      compute_(compute),
      communicator_(communicator),
      options_(options),
      stream_(device.create_stream("communication")) {
  units_.push_back({"root"});
  std::map<ValueId, std::size_t> unit_of;
  for (const auto& [parameter, gradient] : gradients) {
    const std::string name = unit_of_name(graph.value(parameter).name);
    auto unit = std::ranges::find(units_, name, &Unit::name);
    if (name.empty()) unit = units_.begin();
    if (unit == units_.end()) unit = units_.insert(unit, {name});
    unit->elements += graph.value(parameter).shape.elements();
    const NodeId producer = graph.value(gradient).producer;
    if (!unit->last_gradient.valid() || unit->last_gradient < producer)
      unit->last_gradient = producer;
    unit_of[parameter] = static_cast<std::size_t>(unit - units_.begin());
  }
  std::int64_t largest = 0;
  const int ranks = communicator.size();
  for (std::size_t i = 0; i < units_.size(); ++i) {
    Unit& unit = units_[i];
    if (unit.elements == 0) continue;
    unit.elements = (unit.elements + ranks - 1) / ranks * ranks;  // equal parts
    gradient_at_[unit.last_gradient] = i;
    unit.gather_name = nvtx::intern(fmt::format("FSDP::all_gather ({})", unit.name));
    unit.reduce_name = nvtx::intern(fmt::format("FSDP::post_backward_reduce ({})", unit.name));
    unit.gather = communicator.prepare({CollectiveKind::kAllGather, Scope::kWorld, options.type,
                                        nullptr, unit.elements, unit.name});
    unit.reduce = communicator.prepare({CollectiveKind::kReduceScatter, Scope::kWorld, options.type,
                                        nullptr, unit.elements, unit.name});
    if (i != kRoot) largest = std::max(largest, bytes(unit));
  }
  if (units_[kRoot].elements > 0)
    buffers_.push_back(device.allocate(bytes(units_[kRoot]), MemoryKind::kDevice));
  for (int i = 0; i < 2 && largest > 0; ++i)
    buffers_.push_back(device.allocate(largest, MemoryKind::kDevice));
  find_visits(graph, unit_of);
  gathered_.resize(visits_.size());
}

void ParameterShards::find_visits(const Graph& graph,
                                  const std::map<ValueId, std::size_t>& unit_of) {
  Phase phase = Phase::kNone;
  std::set<std::size_t> held;  // units gathered in this phase
  bool has_root = false;
  for (std::size_t i = 0; i < graph.node_count(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.phase != Phase::kForward && node.phase != Phase::kBackward) continue;
    const std::size_t unit = unit_of_node(graph, node, unit_of);
    if (unit == kNone) continue;
    // A unit is freed after its forward pass, even if its backward pass comes next. It is kept
    // until the last op of the pass that needs it, because where activations are recomputed, ops of
    // two units alternate.
    if (phase != node.phase) held.clear();
    phase = node.phase;
    const bool goes_on = unit == kRoot ? !visits_.empty() && visits_.back().unit == kRoot
                                       : !held.insert(unit).second;
    if (goes_on) continue;
    visit_at_[NodeId::from(i)] = visits_.size();
    visits_.push_back({unit, NodeId::from(i), unit != kRoot || !has_root});
    has_root |= unit == kRoot;
  }
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

/// Gathers for all visits up to this one that need it and have not been gathered.
void ParameterShards::gather(std::size_t visit, std::int64_t batch) {
  for (; next_ <= visit && next_ < visits_.size(); ++next_) {
    if (!visits_[next_].gathers) continue;
    const Unit& unit = units_[visits_[next_].unit];
    enqueue(unit.gather_name, *unit.gather, bytes(unit), batch);
    gathered_[next_] = device_.record(stream_);
  }
}

void ParameterShards::before(NodeId node, std::int64_t batch) {
  const auto at = visit_at_.find(node);
  if (at == visit_at_.end()) return;
  const std::size_t visit = at->second;
  gather(visit, batch);
  if (options_.prefetch) {
    std::size_t ahead = visit + 1;
    while (ahead < visits_.size() && !visits_[ahead].gathers) ++ahead;
    gather(ahead, batch);
  }
  if (visits_[visit].gathers) device_.wait(compute_, gathered_[visit]);
}

void ParameterShards::after(NodeId node, std::int64_t batch) {
  const auto at = gradient_at_.find(node);
  if (at == gradient_at_.end()) return;
  const Unit& unit = units_[at->second];
  enqueue(unit.reduce_name, *unit.reduce, bytes(unit), batch);
}

void ParameterShards::backward_launched() {
  device_.wait(compute_, device_.record(stream_));
  next_ = 0;
}

}  // namespace headway::trainer
