// SPDX-License-Identifier: MIT
#include "reference_trainer/train/parameters.h"

#include "common/error.h"
#include "kernels/cast/op.h"
#include "kernels/number_format.h"
#include "reference_trainer/data/random.h"

namespace headway::trainer {
namespace {

bool is_kept(const Value& value) {
  return value.role == Role::kParameter || value.role == Role::kState;
}

}  // namespace

ParameterSet read_parameters(const Graph& graph, const CompiledGraph& compiled, const Graph& wanted,
                             ParameterSet known) {
  for (const Value& value : wanted.values())
    if (is_kept(value) && !known.contains(value.name))
      known[value.name] = compiled.read(graph.find(value.name));
  return known;
}

void write_parameters(const ParameterSet& parameters, const Graph& graph, CompiledGraph& compiled) {
  for (std::size_t i = 0; i < graph.value_count(); ++i) {
    const Value& value = graph.values()[i];
    const auto found = parameters.find(value.name);
    if (!is_kept(value) || found == parameters.end()) continue;
    if (static_cast<std::int64_t>(found->second.size()) != value.shape.elements())
      fail_input("Parameter '{}' has {} numbers, and this model needs {} ({}).", value.name,
                 found->second.size(), value.shape.elements(), value.shape.text());
    std::vector<float> rounded = found->second;
    kernels::round_to(value.stored, value.shape.elements(), rounded.data(), rounded.data());
    compiled.write(ValueId::from(i), rounded);
  }
}

ParameterSet initial_parameters(const Graph& graph, std::uint64_t seed) {
  ParameterSet set;
  std::uint64_t number = 0;
  for (const Value& value : graph.values()) {
    if (!is_kept(value)) continue;
    std::vector<float>& start = set[value.name];
    start.assign(static_cast<std::size_t>(value.shape.elements()), value.initial.value);
    if (value.role == Role::kParameter) ++number;
    if (value.initial.kind != Initial::Kind::kNormal) continue;
    Random random(seed, 0x1417, number);
    for (float& element : start)
      element = static_cast<float>(random.normal()) * value.initial.value;
  }
  return set;
}

}  // namespace headway::trainer
