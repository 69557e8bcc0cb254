// SPDX-License-Identifier: MIT
// One kernel computes all time steps of a recurrent layer, and another one its backward pass.
// The recurrent weights are read once, and nothing is launched between time steps.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/kernel_rates.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

constexpr int kFewCells = 4;
/// As in rule rnn-not-persistent: largest number of kernels between two cells of one layer, and the
/// length above which a product does not belong to a time step.
constexpr std::size_t kReach = 6;
constexpr DurationNs kLargeProduct{100'000};

using Ops = std::vector<DeviceOpId>;

/// Kernels of one layer in one direction.
struct Layer {
  Ops kernels;
  int cells = 0;
  std::size_t end = 0;  ///< of the kernels up to the last cell
};

class Finder {
 public:
  explicit Finder(const Predictor& predictor) : predictor_(predictor) {}

  template <class Visit>
  void for_each_layer(Visit visit) const {
    const Trace& trace = predictor_.trace();
    for (std::uint32_t s = 0; s < trace.streams.size(); ++s) {
      Layer layer;
      auto close = [&] {
        layer.kernels.resize(layer.end);
        if (layer.cells >= kFewCells) visit(layer);
        layer = {};
      };
      for (DeviceOpId op : trace.ops_of_stream[StreamId{s}]) {
        if (trace.device_ops.kind[op.value] == DeviceOpKind::kMemset) continue;
        if (!layer.kernels.empty() && !belongs(layer, op)) close();
        const bool cell = is_cell(op);
        if (layer.kernels.empty() && !cell && !is_product(op)) continue;
        // Only the last product before the first cell can belong to the layer.
        if (layer.cells == 0 && !cell) layer.kernels.clear();
        layer.kernels.push_back(op);
        if (!cell) continue;
        ++layer.cells;
        layer.end = layer.kernels.size();
      }
      close();
    }
  }

 private:
  OpId model_op(DeviceOpId op) const { return predictor_.analysis().attribution.op_of[op.value]; }
  bool is_cell(DeviceOpId op) const {
    const KernelTraits traits = predictor_.kernels().of(op);
    return traits.family == KernelFamily::kRecurrent && !traits.persistent;
  }
  bool is_product(DeviceOpId op) const {
    return predictor_.kernels().of(op).family == KernelFamily::kGemm &&
           predictor_.trace().device_ops.interval(op).length() <= kLargeProduct;
  }
  Phase phase(DeviceOpId op) const { return predictor_.analysis().attribution.phase_of[op.value]; }
  bool belongs(const Layer& layer, DeviceOpId op) const {
    if (!is_cell(op) && !is_product(op) && !is_fusible(predictor_.kernels().of(op).family))
      return false;
    const DeviceOpId first = layer.kernels.front();
    return model_op(first) == model_op(op) && phase(first) == phase(op) &&
           layer.kernels.size() <= layer.end + kReach;
  }

  const Predictor& predictor_;
};

/// Least time of a layer beyond a kernel's start and end, from the op graph and the device's rates:
/// its arithmetic, or moving each tensor and the weights once. Nothing if one of them is not known.
class Needs {
 public:
  explicit Needs(const Predictor& predictor) : predictor_(predictor), rates_(predictor) {
    for (const GraphOp& op : predictor.trace().graph_ops)
      output_bytes_[{op.process.value, op.op}] = op.output_bytes;
  }

  std::optional<DurationNs> of(const Ops& kernels) const {
    const Trace& trace = predictor_.trace();
    const Attribution& attribution = predictor_.analysis().attribution;
    const ModelOp& model = attribution.ops[attribution.op_of[kernels.front().value].value];
    if (!model.graph_op.valid()) return std::nullopt;
    const GraphOp& graph = trace.graph_ops[model.graph_op.value];
    const StreamId stream = trace.device_ops.stream[kernels.front().value];
    const double memory = memory_bytes_per_ns(predictor_, trace.streams[stream.value].device);
    const double products = rates_.of(product_of(kernels));
    if (graph.flops <= 0 || memory <= 0 || products <= 0) return std::nullopt;
    // The largest bytes of one time step's kernel stand for the weights: it reads little else.
    std::int64_t bytes = graph.output_bytes;
    std::int64_t step = 0;
    for (DeviceOpId op : kernels) step = std::max(step, trace.device_ops.bytes[op.value]);
    for (std::int64_t input : graph.inputs) {
      const auto made = output_bytes_.find({graph.process.value, input});
      if (made != output_bytes_.end()) bytes += made->second;
    }
    const double done = share_done(kernels, graph.flops);
    return DurationNs{std::llround(done * std::max(static_cast<double>(graph.flops) / products,
                                                   static_cast<double>(bytes + step) / memory))};
  }

 private:
  /// The computed share of the graph's op: the layer ends with the longest sample of its batch; the
  /// rest is padding.
  double share_done(const Ops& kernels, std::int64_t flops) const {
    std::int64_t done = 0;
    for (DeviceOpId op : kernels) done += predictor_.trace().device_ops.flops[op.value];
    return done > 0 ? std::min(1.0, static_cast<double>(done) / static_cast<double>(flops)) : 1;
  }
  DeviceOpId product_of(const Ops& kernels) const {
    const auto product = std::ranges::find_if(kernels, [&](DeviceOpId op) {
      return predictor_.kernels().of(op).family == KernelFamily::kGemm;
    });
    return product != kernels.end() ? *product : kernels.front();
  }

  const Predictor& predictor_;
  const ProductRates rates_;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::int64_t> output_bytes_;  ///< by process, op
};

Proposal propose(const Predictor& predictor) {
  const DeviceOps& ops = predictor.trace().device_ops;
  const DurationNs least = shortest_kernel(ops);
  const Needs needs(predictor);
  Editor editor(predictor);
  std::int64_t layers = 0;
  std::size_t kernels = 0;
  DurationNs before;
  DurationNs after;
  bool modelled = true;
  Finder(predictor).for_each_layer([&](const Layer& layer) {
    DurationNs sum;
    DurationNs shortest{INT64_MAX};
    for (DeviceOpId op : layer.kernels) {
      sum += ops.interval(op).length();
      shortest = std::min(shortest, ops.interval(op).length());
    }
    DurationNs data = sum - least * static_cast<std::int64_t>(layer.kernels.size());
    if (const auto known = needs.of(layer.kernels)) {
      data = std::min(data, *known);
    } else {
      modelled = false;
    }
    // All time steps together take at least as long as the layer's shortest kernel.
    const DurationNs one = std::max(shortest, least + data);
    editor.join(layer.kernels);
    for (DeviceOpId op : layer.kernels) {
      const double own = static_cast<double>(ops.interval(op).length().ns);
      editor.set_op(op, {std::llround(own * ratio(one, sum))}, true);
    }
    ++layers;
    kernels += layer.kernels.size();
    before += sum;
    after += one;
  });
  if (layers == 0) return not_here("no recurrent layer runs one time step at a time");
  return {true,
          fmt::format("{} runs of {} kernels each become one kernel: {} → {} ({})", layers,
                      kernels / static_cast<std::size_t>(layers), format_duration(before / layers),
                      format_duration(after / layers),
                      modelled ? "by the op graph's flops and bytes"
                               : "by each kernel's time beyond the shortest kernel's"),
          editor.take()};
}

}  // namespace

const Fix kPersistentRnn{
    "persistent-rnn",
    "Run each recurrent layer as one kernel",
    "rnn-not-persistent",
    FixKind::kModelled,
    0.4,
    "--rnn persistent",
    "A recurrent layer's time-step kernels become one per direction: its arithmetic, or its "
    "tensors and weights read once. Without an op graph, it keeps their time beyond the shortest "
    "kernel.",
    "whether such a kernel exists for these sizes, and the wait between its time steps",
    propose};

}  // namespace headway::analyzer
