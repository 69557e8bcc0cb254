// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

/// Parameters that ranks gather together: a block of the model.
struct ParameterUnit {
  std::string name;                 ///< "block3"; "root": the parameters that belong to no block
  std::vector<ValueId> parameters;  ///< in order of creation
  std::vector<ValueId> gradients;   ///< one for each parameter
  NodeId first_gradient = {};       ///< the op that makes the first of its gradients
  NodeId last_gradient = {};        ///< the op that makes the last of its gradients
};

/// The ops of one pass that use a unit's parameters.
struct UnitVisit {
  std::size_t unit = 0;
  NodeId first;
  NodeId last;
  bool gathers = false;  ///< the unit is gathered before `first`; the root only once a step
  /// The op before which the gather is asked for. Not later than `first`.
  NodeId asked = {};
};

/// The units of a training graph, and when a step needs them.
struct UnitPlan {
  static constexpr std::size_t kRoot = 0;

  int rank = 0;  ///< of `ranks` that share each unit in equal parts, in rank order
  int ranks = 1;
  std::vector<ParameterUnit> units;  ///< the root first; it may be empty
  std::vector<UnitVisit> visits;     ///< in the order of their first ops
};

struct UnitPlanOptions {
  int rank = 0;
  int ranks = 1;
  bool prefetch = true;  ///< ask for a unit when the unit before it begins, not at its own begin
  /// A gathered unit has one place in memory: it is not gathered again while the ops of its last
  /// visit still read it there.
  bool has_place = false;
};

/// Plans the units of all parameters that have gradients. A unit is gathered before each pass; it is
/// given up after the last op of the pass that uses it, because where activations are recomputed,
/// ops of two units alternate. `gradients`: (parameter, gradient) of the graph.
UnitPlan plan_units(const Graph& graph, const std::vector<std::pair<ValueId, ValueId>>& gradients,
                    const UnitPlanOptions& options);

}  // namespace headway::trainer
