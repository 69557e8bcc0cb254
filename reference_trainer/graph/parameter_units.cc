// SPDX-License-Identifier: MIT
#include "reference_trainer/graph/parameter_units.h"

#include <algorithm>
#include <map>

#include "reference_trainer/graph/unit_name.h"

namespace headway::trainer {
namespace {

using UnitOfValue = std::map<ValueId, std::size_t>;

UnitOfValue add_units(const Graph& graph, const std::vector<std::pair<ValueId, ValueId>>& gradients,
                      UnitPlan& plan) {
  std::vector<ParameterUnit>& units = plan.units;
  units.push_back({"root", {}, {}});
  UnitOfValue unit_of;
  for (const auto& [parameter, gradient] : gradients) {
    const std::string name = unit_of_name(graph.value(parameter).name);
    auto unit = std::ranges::find(units, name, &ParameterUnit::name);
    if (name.empty()) unit = units.begin();
    if (unit == units.end()) unit = units.insert(unit, {name, {}, {}});
    unit->parameters.push_back(parameter);
    unit->gradients.push_back(gradient);
    const NodeId producer = graph.value(gradient).producer;
    if (!unit->first_gradient.valid() || producer < unit->first_gradient)
      unit->first_gradient = producer;
    if (!unit->last_gradient.valid() || unit->last_gradient < producer)
      unit->last_gradient = producer;
    unit_of[parameter] = static_cast<std::size_t>(unit - units.begin());
  }
  return unit_of;
}

/// The units whose parameters an op uses or makes gradients of, in the order of its operands. A
/// cast or gradient has the unit of the value that it is like.
std::vector<std::size_t> units_of_node(const Graph& graph, const Node& node,
                                       const UnitOfValue& unit_of) {
  std::vector<std::size_t> units;
  for (const std::vector<ValueId>* list : {&node.inputs, &node.outputs})
    for (ValueId value : *list)
      if (const auto found = unit_of.find(graph.owner(value)); found != unit_of.end())
        if (std::ranges::find(units, found->second) == units.end()) units.push_back(found->second);
  return units;
}

void add_visits(const Graph& graph, const UnitOfValue& unit_of, UnitPlan& plan) {
  std::vector<UnitVisit>& visits = plan.visits;
  Phase phase = Phase::kNone;
  std::map<std::size_t, std::size_t> held;  // units gathered in this phase, with their visits
  bool has_root = false;
  for (std::size_t i = 0; i < graph.node_count(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.phase != Phase::kForward && node.phase != Phase::kBackward) continue;
    const NodeId id = NodeId::from(i);
    for (const std::size_t unit : units_of_node(graph, node, unit_of)) {
      if (phase != node.phase) held.clear();
      phase = node.phase;
      const bool is_root = unit == UnitPlan::kRoot;
      bool goes_on = is_root && !visits.empty() && visits.back().unit == unit;
      if (!is_root) goes_on = !held.try_emplace(unit, visits.size()).second;
      if (goes_on) {
        visits[is_root ? visits.size() - 1 : held.at(unit)].last = id;
        continue;
      }
      visits.push_back({unit, id, id, !is_root || !has_root, id});
      has_root |= is_root;
    }
  }
}

/// A request may not overtake that of an earlier visit: all gathers use one stream in order.
void choose_requests(const UnitPlanOptions& options, UnitPlan& plan) {
  const UnitVisit* before = nullptr;
  std::map<std::size_t, NodeId> last_op;  // of the unit's last visit
  for (UnitVisit& visit : plan.visits) {
    if (visit.gathers) {
      if (before && options.prefetch) visit.asked = before->first;
      if (const auto used = last_op.find(visit.unit); options.has_place && used != last_op.end())
        visit.asked = std::max(visit.asked, NodeId{used->second.value + 1});
      if (before) visit.asked = std::max(visit.asked, before->asked);
      before = &visit;
    }
    last_op[visit.unit] = visit.last;
  }
}

}  // namespace

UnitPlan plan_units(const Graph& graph, const std::vector<std::pair<ValueId, ValueId>>& gradients,
                    const UnitPlanOptions& options) {
  UnitPlan plan;
  plan.rank = options.rank;
  plan.ranks = options.ranks;
  add_visits(graph, add_units(graph, gradients, plan), plan);
  choose_requests(options, plan);
  return plan;
}

}  // namespace headway::trainer
