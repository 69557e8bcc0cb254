// SPDX-License-Identifier: MIT
// Attention runs in one kernel that keeps the scores on the chip. Its inputs, its result and the
// products remain.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/attentions.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/kernel_rates.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// A fused backward pass recomputes the scores: five products instead of four (Dao et al. 2022,
/// FlashAttention).
constexpr double kBackwardProducts = 5.0 / 4;
/// Under a causal mask, half of the scores count, and a fused kernel does not compute the others.
constexpr double kCausal = 0.5;
/// Largest number of consecutive ops without a kernel; the graph of a broken file may have cycles.
constexpr int kMostViews = 8;

/// The bytes that a fused kernel still moves, from the op graph; 0 without a graph.
class Bytes {
 public:
  Bytes(const Predictor& predictor, std::span<const Attention> all) : predictor_(predictor) {
    for (const GraphOp& op : predictor.trace().graph_ops) graph_[{op.process.value, op.op}] = &op;
    std::set<Key> ran;
    OpId last;
    for (OpId op : predictor.analysis().attribution.op_of) {
      if (std::exchange(last, op) == op) continue;
      if (const GraphOp* its = graph_of(op)) ran.insert({its->process.value, its->op});
    }
    for (const auto& [key, op] : graph_) {
      if (!ran.contains(key)) continue;
      for (std::int64_t input : op->inputs) {
        // An op without a kernel (a view, a rounding inside the product) passes on its input.
        Key from{key.first, input};
        for (int i = 0; i < kMostViews && !ran.contains(from); ++i) {
          const auto made = graph_.find(from);
          if (made == graph_.end() || made->second->inputs.size() != 1) break;
          from.second = made->second->inputs.front();
        }
        inputs_[key].insert(from.second);
        readers_[from].insert(key.second);
      }
    }
    // Each attention once: it is the same in every step.
    std::map<OpId, const Attention*> distinct;
    for (const Attention& one : all) distinct.emplace(first_op(one), &one);
    for (const auto& [op, one] : distinct)
      for (const Key& key : ops_of(*one)) inside_.insert(key);
    for (const auto& [op, one] : distinct) {
      if (one->backward) continue;
      const double bytes = own(*one);
      for (const Key& key : ops_of(*one)) forward_[key] = bytes;
    }
    for (const auto& [op, one] : distinct)
      of_[op] = stored_share(*one) * (own(*one) + (one->backward ? of_forward(*one) : 0));
  }

  /// Bytes of its inputs and results. The backward pass also reads those of the forward pass,
  /// instead of stored scores.
  double of(const Attention& attention) const { return of_.at(first_op(attention)); }

 private:
  using Key = std::pair<std::uint32_t, std::int64_t>;  // process, op

  OpId first_op(const Attention& attention) const {
    return predictor_.analysis().attribution.op_of[attention.kernels.front().value];
  }

  const GraphOp* graph_of(OpId op) const {
    const GraphOpId its = predictor_.analysis().attribution.ops[op.value].graph_op;
    return its.valid() ? &predictor_.trace().graph_ops[its.value] : nullptr;
  }

  const std::set<std::int64_t>& inputs_of(const Key& op) const {
    static const std::set<std::int64_t> kNone;
    const auto its = inputs_.find(op);
    return its != inputs_.end() ? its->second : kNone;
  }

  std::set<Key> ops_of(const Attention& attention) const {
    std::set<Key> ops;
    for (DeviceOpId op : attention.kernels)
      if (const GraphOp* its = graph_of(predictor_.analysis().attribution.op_of[op.value]))
        ops.insert({its->process.value, its->op});
    return ops;
  }

  /// True if the op reads a tensor from outside the attention, or its result is read outside.
  bool at_border(const Key& op) const {
    auto outside = [&](std::int64_t other) { return !inside_.contains({op.first, other}); };
    const auto readers = readers_.find(op);
    return std::ranges::any_of(inputs_of(op), outside) ||
           (readers != readers_.end() && std::ranges::any_of(readers->second, outside));
  }

  /// Recorded bytes as a share of the graph's bytes, because kernels may store shorter numbers than
  /// the graph has. Only kernels at the border count: scores and probabilities inside may be longer
  /// (a softmax of BF16 writes FP32), and a fused kernel does not store them.
  double stored_share(const Attention& attention) const {
    double recorded = 0;
    std::set<Key> border;
    for (DeviceOpId op : attention.kernels) {
      const GraphOp* its = graph_of(predictor_.analysis().attribution.op_of[op.value]);
      if (!its || !at_border({its->process.value, its->op})) continue;
      recorded += static_cast<double>(predictor_.trace().device_ops.bytes[op.value]);
      border.insert({its->process.value, its->op});
    }
    double in_graph = 0;
    for (const Key& op : border) in_graph += static_cast<double>(graph_.at(op)->bytes);
    return recorded > 0 && in_graph > 0 ? std::min(1.0, recorded / in_graph) : 1;
  }

  double of_forward(const Attention& backward) const {
    for (const Key& op : ops_of(backward)) {
      for (std::int64_t input : inputs_of(op)) {
        const auto forward = forward_.find({op.first, input});
        if (forward != forward_.end()) return forward->second;
      }
    }
    return 0;
  }

  double own(const Attention& attention) const {
    const std::set<Key> ops = ops_of(attention);
    std::set<Key> tensors;
    for (const Key& op : ops) {
      for (std::int64_t input : inputs_of(op))
        if (!inside_.contains({op.first, input})) tensors.insert({op.first, input});
      const auto readers = readers_.find(op);
      if (readers == readers_.end()) continue;
      for (std::int64_t reader : readers->second)
        if (!inside_.contains({op.first, reader})) tensors.insert(op);
    }
    double bytes = 0;
    for (const Key& tensor : tensors)
      if (const auto made = graph_.find(tensor); made != graph_.end())
        bytes += static_cast<double>(made->second->output_bytes);
    return bytes;
  }

  const Predictor& predictor_;
  std::map<Key, const GraphOp*> graph_;
  std::map<Key, std::set<std::int64_t>> inputs_;
  std::map<Key, std::set<std::int64_t>> readers_;
  std::set<Key> inside_;           ///< ops of any attention
  std::map<Key, double> forward_;  ///< by op of a forward attention: its bytes
  std::map<OpId, double> of_;      ///< by the op of the first kernel
};

/// Time of the products: as recorded, or less if flops and rate show it (a recorded product may be
/// limited by writing its scores).
double products_ns(const Predictor& predictor, const ProductRates& rates,
                   const Attention& attention, DurationNs least, bool causal) {
  const DeviceOps& ops = predictor.trace().device_ops;
  double sum = 0;
  for (DeviceOpId op : attention.kernels) {
    if (predictor.kernels().of(op).family != KernelFamily::kGemm) continue;
    double own = static_cast<double>((ops.interval(op).length() - least).ns);
    const double rate = rates.of(op);
    if (ops.flops[op.value] > 0 && rate > 0)
      own = std::min(own, static_cast<double>(ops.flops[op.value]) / rate);
    sum += own;
  }
  return sum * (attention.backward ? kBackwardProducts : 1) * (causal ? kCausal : 1);
}

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const DeviceOps& ops = trace.device_ops;
  const std::vector<Attention> all = find_attentions(predictor);
  if (all.empty()) return not_here("no softmax between two products: attention is fused or absent");
  // A backward pass has no mask kernel, so a mask anywhere makes all attentions causal.
  const bool causal = std::ranges::any_of(all, &Attention::masked);
  const Bytes bytes(predictor, all);
  const ProductRates rates(predictor);
  const DurationNs least = shortest_kernel(ops);
  Editor editor(predictor);
  DurationNs before;
  DurationNs after;
  std::size_t kernels = 0;
  for (const Attention& one : all) {
    const DeviceId device = trace.streams[ops.stream[one.kernels.front().value].value].device;
    const double rate = memory_bytes_per_ns(predictor, device);
    const double moving = rate > 0 ? bytes.of(one) / rate : 0;
    DurationNs sum;
    for (DeviceOpId op : one.kernels) sum += ops.interval(op).length();
    const DurationNs fused =
        std::min(sum, least + DurationNs{std::llround(std::max(
                                  moving, products_ns(predictor, rates, one, least, causal)))});
    editor.join(one.kernels);
    for (DeviceOpId op : one.kernels) {
      const double own = static_cast<double>(ops.interval(op).length().ns);
      editor.set_op(op, {std::llround(own * ratio(fused, sum))}, true);
    }
    before += sum;
    after += fused;
    kernels += one.kernels.size();
  }
  const auto count = static_cast<std::int64_t>(all.size());
  return {true,
          fmt::format("{} kernels in {} attentions become one each: {} → {}{}", kernels, count,
                      format_duration(before / count), format_duration(after / count),
                      causal ? "; assumes a causal mask" : ""),
          editor.take()};
}

}  // namespace

const Fix kFusedAttention{
    "fused-attention",
    "Run attention as one kernel",
    "unfused-attention",
    FixKind::kModelled,
    0.3,
    "--fused-attention on",
    "A softmax between products becomes one kernel, including data movement. It takes its "
    "products' time, with five instead of four in the backward pass, half of each under a mask, or "
    "the op graph's inputs and outputs at memory bandwidth.",
    "whether a mask is causal, and the fused kernel's rate compared to large products",
    propose};

}  // namespace headway::analyzer
