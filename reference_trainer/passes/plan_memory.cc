// SPDX-License-Identifier: MIT
#include "reference_trainer/passes/plan_memory.h"

#include <algorithm>

namespace headway::trainer {
namespace {

constexpr std::int64_t kAlignment = 64;

struct Placed {
  std::int64_t begin;
  std::int64_t end;
  ValueId value = {};
};

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// The lowest offset with `bytes` bytes free among the blocks still alive.
std::int64_t first_fit(std::vector<Placed>& alive, std::int64_t bytes) {
  std::ranges::sort(alive, {}, &Placed::begin);
  std::int64_t offset = 0;
  for (const Placed& block : alive) {
    if (block.begin - offset >= bytes) break;
    offset = std::max(offset, block.end);
  }
  return offset;
}

bool at_the_same_op(const NeededBlock& a, const NeededBlock& b) {
  return std::ranges::any_of(a.needed, [&](const auto& one) {
    return std::ranges::any_of(b.needed, [&](const auto& other) {
      return one.first <= other.second && other.first <= one.second;
    });
  });
}

}  // namespace

Lifetimes lifetimes(const Graph& graph) {
  std::vector<std::size_t> last_use(graph.value_count(), 0);
  for (std::size_t i = 0; i < graph.node_count(); ++i) {
    for (ValueId input : graph.nodes()[i].inputs) last_use[input.value] = i;
    for (ValueId output : graph.nodes()[i].outputs) last_use[output.value] = i;
  }
  Lifetimes result;
  result.first.resize(graph.node_count());
  result.last.resize(graph.node_count());
  for (std::size_t i = 0; i < graph.node_count(); ++i) {
    for (ValueId output : graph.nodes()[i].outputs) {
      if (graph.value(output).role != Role::kActivation) continue;
      result.first[i].push_back(output);
      result.last[last_use[output.value]].push_back(output);
    }
  }
  return result;
}

MemoryPlan plan_memory(const Graph& graph, const std::function<std::int64_t(ValueId)>& bytes_of) {
  const Lifetimes lives = lifetimes(graph);
  MemoryPlan plan;
  plan.offset.assign(graph.value_count(), -1);
  std::vector<Placed> alive;
  for (std::size_t i = 0; i < graph.node_count(); ++i) {
    for (ValueId value : lives.first[i]) {
      const std::int64_t bytes = aligned(bytes_of(value));
      const std::int64_t offset = first_fit(alive, bytes);
      plan.offset[value.value] = offset;
      plan.total_bytes = std::max(plan.total_bytes, offset + bytes);
      alive.push_back({offset, offset + bytes, value});
    }
    for (ValueId value : lives.last[i])
      std::erase_if(alive, [&](const Placed& block) { return block.value == value; });
  }
  return plan;
}

BlockPlan place_blocks(std::span<const NeededBlock> blocks) {
  BlockPlan plan;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    std::vector<Placed> alive;
    for (std::size_t other = 0; other < i; ++other)
      if (at_the_same_op(blocks[i], blocks[other]))
        alive.push_back({plan.offset[other], plan.offset[other] + aligned(blocks[other].bytes)});
    plan.offset.push_back(first_fit(alive, aligned(blocks[i].bytes)));
    plan.total_bytes = std::max(plan.total_bytes, plan.offset.back() + aligned(blocks[i].bytes));
  }
  return plan;
}

}  // namespace headway::trainer
