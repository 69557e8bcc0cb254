// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>

#include "common/error.h"
#include "reference_trainer/ops/autodiff.h"
#include "reference_trainer/ops/op.h"

namespace headway::trainer::ops {

/// Bytes of all operands of a node, each counted once.
inline std::int64_t operand_bytes(const Graph& graph, const Node& node) {
  std::int64_t bytes = 0;
  for (ValueId id : node.inputs) bytes += graph.value(id).bytes();
  for (ValueId id : node.outputs) bytes += graph.value(id).bytes();
  return bytes;
}

inline std::int64_t elements(const Graph& graph, ValueId id) {
  return graph.value(id).shape.elements();
}

inline ValueId add_output(Graph& graph, const std::string& name, Shape shape,
                          DataType type = DataType::kFloat32) {
  Value value;
  value.name = name;
  value.shape = std::move(shape);
  value.type = type;
  return graph.add_value(std::move(value));
}

inline ValueId add_parameter(Graph& graph, const std::string& name, Shape shape, Initial initial) {
  Value value;
  value.name = name;
  value.shape = std::move(shape);
  value.role = Role::kParameter;
  value.initial = initial;
  return graph.add_value(std::move(value));
}

inline ValueId add_state(Graph& graph, const std::string& name, Shape shape, float initial) {
  Value value;
  value.name = name;
  value.shape = std::move(shape);
  value.role = Role::kState;
  value.initial = {Initial::Kind::kConstant, initial};
  return graph.add_value(std::move(value));
}

/// Appends a forward node with one result.
inline ValueId add_forward(Graph& graph, const OpDefinition& op, const std::string& name,
                           std::vector<ValueId> inputs, Shape shape, Attributes attributes = {}) {
  const ValueId output = add_output(graph, name, std::move(shape));
  graph.add_node({&op,
                  name,
                  Phase::kForward,
                  NodeId::none(),
                  std::move(inputs),
                  {output},
                  std::move(attributes)});
  return output;
}

inline void require(bool holds, const OpDefinition& op, const std::string& name,
                    std::string_view expectation, const Shape& got) {
  if (!holds)
    fail_internal("Op '{}' ({}) needs {}, got {}.", name, op.type, expectation, got.text());
}

}  // namespace headway::trainer::ops
