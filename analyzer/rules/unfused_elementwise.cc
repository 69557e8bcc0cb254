// SPDX-License-Identifier: MIT
// unfused-elementwise: chains of memory-bound ops pass intermediate results through memory.
//
// Symptom: batch norm, add and ReLU (and their backward ops) as separate kernels in a row.
// Mechanism: each kernel reads and writes whole tensors and computes almost nothing, so its time
//   is memory traffic. Fused, intermediates stay in registers.
// Formula: chains = connected sets of memory-bound ops in the op graph, linked from producer to
//   consumer if the result goes only to such ops. Ideal fusion saves one write and one read of
//   every intermediate, so recoverable = time of the chain x (2 x intermediate bytes) / (bytes
//   moved by its separate ops). Without an op graph: runs of memory-bound kernels on a stream
//   (stream_chains.h), a rule of thumb.
// Falsified by: intermediates that stay in cache between kernels; fusing then gains less.
// Known false positives: an intermediate needed by the backward pass is still written once; for
//   this edge the formula is up to half too high.
// Source: fused BN-ReLU and BN-Add-ReLU (5-8 passes become 3, backward 7 become 4) in published libraries.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "analyzer/evidence/op_graph.h"
#include "analyzer/evidence/stream_chains.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

struct Chain {
  std::vector<std::size_t> ops;  ///< indexes into the measured graph
  DurationNs time;
  std::int64_t bytes = 0;               ///< moved by the ops one by one
  std::int64_t intermediate_bytes = 0;  ///< results handed from one op of the chain to the next
  DurationNs recoverable() const {
    double saved = bytes > 0 ? std::min(1.0, 2.0 * static_cast<double>(intermediate_bytes) /
                                                 static_cast<double>(bytes))
                             : 0.0;
    return {static_cast<std::int64_t>(static_cast<double>(time.ns) * saved)};
  }
};

/// Chains of at least two memory-bound ops that ran, by recoverable time. Two ops are linked if the
/// result of the first goes only to memory-bound ops of its phase: a result that a convolution also
/// reads must be written anyway.
std::vector<Chain> find_chains(const std::vector<MeasuredOp>& graph) {
  std::map<std::pair<trace::ProcessId, std::int64_t>, std::size_t> index;
  for (std::size_t i = 0; i < graph.size(); ++i) index[{graph[i].op->process, graph[i].op->op}] = i;
  auto takes_part = [&](std::size_t i) {
    return graph[i].kernels_per_step > 0 && is_memory_bound_type(graph[i].op->type);
  };
  std::vector<std::vector<std::size_t>> consumers(graph.size());  // of the same phase
  for (std::size_t i = 0; i < graph.size(); ++i) {
    for (std::int64_t input : graph[i].op->inputs) {
      auto producer = index.find({graph[i].op->process, input});
      // Forward results that the backward pass reads link the two phases, but no kernel can span both.
      if (producer == index.end() || graph[producer->second].op->phase != graph[i].op->phase)
        continue;
      consumers[producer->second].push_back(i);
    }
  }
  std::vector<std::size_t> root(graph.size());
  std::iota(root.begin(), root.end(), std::size_t{0});
  auto find = [&](std::size_t i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  };
  std::vector<std::int64_t> handed_on(graph.size(), 0);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    bool stays_inside = takes_part(i) && !consumers[i].empty() &&
                        std::all_of(consumers[i].begin(), consumers[i].end(), takes_part);
    if (!stays_inside) continue;
    for (std::size_t consumer : consumers[i]) root[find(consumer)] = find(i);
    handed_on[i] = graph[i].op->output_bytes;
  }
  std::map<std::size_t, Chain> by_root;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (!takes_part(i)) continue;
    Chain& chain = by_root[find(i)];
    chain.ops.push_back(i);
    chain.time += graph[i].time_per_step;
    chain.bytes += graph[i].op->bytes;
    chain.intermediate_bytes += handed_on[i];
  }
  std::vector<Chain> chains;
  for (auto& [unused, chain] : by_root) {
    if (chain.ops.size() >= 2) chains.push_back(std::move(chain));
  }
  std::stable_sort(chains.begin(), chains.end(), [](const Chain& a, const Chain& b) {
    return a.recoverable() > b.recoverable();
  });
  return chains;
}

std::string types_of(const Chain& chain, const std::vector<MeasuredOp>& graph) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(chain.ops.size(), 4); ++i)
    text += (i ? " → " : "") + graph[chain.ops[i]].op->type;
  return chain.ops.size() > 4 ? text + " …" : text;
}

/// The first device op of `graph_op` in a steady step: where to look in the timeline.
EventRef first_run(const RuleContext& context, const trace::GraphOp* graph_op) {
  for (std::size_t i = 0; i < context.trace.device_ops.size(); ++i) {
    const ModelOp& op = context.attribution.ops[context.attribution.op_of[i].value];
    if (!op.graph_op.valid() || &context.trace.graph_ops[op.graph_op.value] != graph_op) continue;
    TimeNs start = context.trace.device_ops.start[i];
    for (std::uint32_t s : context.steps.steady) {
      if (context.steps.all[s].host.begin <= start) return EventRef::of(trace::DeviceOpId::from(i));
    }
  }
  return {};
}

std::vector<Evidence> evidence(const RuleContext& context, const std::vector<Chain>& chains,
                               const std::vector<MeasuredOp>& graph) {
  constexpr std::size_t kShown = 8;
  std::vector<Evidence> list;
  for (std::size_t i = 0; i < std::min(kShown, chains.size()); ++i) {
    EventRef event = first_run(context, graph[chains[i].ops.front()].op);
    list.push_back(
        {interval_of(context.trace, event), event,
         fmt::format("{}: {}, {} per step, {} recoverable", graph[chains[i].ops.front()].op->name,
                     types_of(chains[i], graph), format_duration(chains[i].time),
                     format_duration(chains[i].recoverable()))});
  }
  return list;
}

std::vector<Advice> advice(const RuleContext& context) {
  return {{"headway-train", "Use fused operators, and the graph compiler for the rest.",
           "--fused-bn on --fused-ln on --fused-bias-act on --graph-compiler on",
           settings(context.trace, {"fused_bn", "fused_ln", "fused_bias_act", "graph_compiler"})},
          {"PyTorch",
           "Let a compiler fuse the chains, or use fused modules (channels-last, "
           "apex.contrib.groupbn for BN-Add-ReLU).",
           "torch.compile(model)", ""},
          {"TensorFlow/JAX", "Compile the step; XLA fuses elementwise chains.",
           "tf.function(jit_compile=True), jax.jit", ""}};
}

/// Without an op graph: by the order of kernels on their streams.
Finding check_streams(const Rule& rule, const RuleContext& context) {
  auto [device, chains] = worst_device(context, [&](const DevicePartition& d, const KernelWork&) {
    return stream_chains(context, d);
  });
  if (!device) return cannot_tell(rule, "No steady step has work on a device.");
  DurationNs all;
  DurationNs unknown;
  for (const KernelWork& work : context.work) {
    all += work.compute();
    unknown += work.of(KernelFamily::kUnknown);
  }
  if (ratio(chains.recoverable, context.step) < kFindingShare) {
    if (all.ns == 0 || ratio(unknown, all) > 0.5)
      return cannot_tell(rule,
                         "The trace has no op graph, and most kernel names are unknown. Record op "
                         "ranges and a graph.");
    return fine(rule,
                fmt::format("{:.0f} runs of memory-bound kernels: {}; fusing each would save {}.",
                            chains.chains, of_step(context, chains.time, context.step),
                            format_duration(chains.recoverable)));
  }
  Finding finding = found(rule, chains.recoverable, context);
  finding.sub_cause = chains.costliest;
  finding.claim = fmt::format(
      "{:.0f} memory-bound kernels {} run in {:.0f} chains (most: {}) and take {}. One kernel per "
      "chain, as long as its longest part, would save up to {}.",
      chains.kernels, per_step(context), chains.chains, chains.costliest,
      of_step(context, chains.time, context.step), format_duration(chains.recoverable));
  finding.confidence = 0.6;  // that neighbours on the stream pass data on is inferred
  finding.evidence = std::move(chains.evidence);
  finding.advice = advice(context);
  return finding;
}

Finding check(const Rule& rule, const RuleContext& context) {
  if (context.trace.graph_ops.empty()) return check_streams(rule, context);
  std::vector<MeasuredOp> graph = measure_graph(context);
  std::vector<Chain> chains = find_chains(graph);
  DurationNs recoverable;
  DurationNs time;
  std::size_t ops = 0;
  for (const Chain& chain : chains) {
    recoverable += chain.recoverable();
    time += chain.time;
    ops += chain.ops.size();
  }
  if (ratio(recoverable, context.step) < kFindingShare) {
    return fine(
        rule,
        fmt::format("{} chains of unfused memory-bound ops take {}; fusing them would save {}.",
                    chains.size(), of_step(context, time, context.step),
                    format_duration(recoverable)));
  }
  Finding finding = found(rule, recoverable, context);
  finding.sub_cause = types_of(chains.front(), graph);
  finding.claim = fmt::format(
      "{} memory-bound ops in {} chains (most: {}) take {} and pass {} of intermediate results "
      "through memory; fused they save up to {}.",
      ops, chains.size(), finding.sub_cause, of_step(context, time, context.step),
      format_bytes(std::accumulate(
          chains.begin(), chains.end(), std::int64_t{0},
          [](std::int64_t sum, const Chain& c) { return sum + c.intermediate_bytes; })),
      format_duration(recoverable));
  finding.confidence = 0.7;  // the saving is a traffic model, not a measurement
  finding.evidence = evidence(context, chains, graph);
  finding.advice = advice(context);
  return finding;
}

}  // namespace

extern const Rule kUnfusedElementwise = {
    "unfused-elementwise", "Unfused elementwise ops",
    "Fusing chains of memory-bound ops would save over 5 % of the step.", check};

}  // namespace headway::analyzer
