// SPDX-License-Identifier: MIT
#include "analyzer/whatif/fixes/chain_tensors.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace headway::analyzer {
namespace {

using namespace trace;

/// Reading a tensor costs nothing beside another one if it is smaller by this factor.
constexpr double kSmall = 0.1;
/// Largest number of consecutive ops without kernels that are followed back.
constexpr int kMostViews = 8;

/// True if the type of an op contains the word "add": "bias_add" and "aten::add", not
/// "padding_mask".
bool is_addition(std::string_view type) {
  constexpr std::string_view kAdd = "add";
  auto letter = [&](std::size_t at) {
    return at < type.size() && ((type[at] | 0x20) >= 'a' && (type[at] | 0x20) <= 'z');
  };
  for (std::size_t at = type.find(kAdd); at != std::string_view::npos; at = type.find(kAdd, at + 1))
    if ((at == 0 || !letter(at - 1)) && !letter(at + kAdd.size())) return true;
  return type == "BiasAdd";
}

}  // namespace

ChainTensors::ChainTensors(const Predictor& predictor) : predictor_(predictor) {
  const std::vector<GraphOp>& all = predictor.trace().graph_ops;
  if (all.empty()) return;
  for (std::uint32_t i = 0; i < all.size(); ++i) producer_[{all[i].process.value, all[i].op}] = i;
  find_kernels();
  for (const GraphOp& op : all) {
    const Key key{op.process.value, op.op};
    if (!with_kernels_.contains(key)) continue;
    for (std::int64_t input : op.inputs) {
      const Key read = tensor(op, input);
      if (takes_what_was_kept(op, input)) continue;
      ++readers_[read];
      if (products_.contains(key)) readers_of_product_.insert(read);
    }
  }
}

/// True if a backward op also reads an input of its forward op. Then it does not need the forward
/// op's result, but only the small tensors that the forward op kept (a normalisation's mean and
/// variance).
bool ChainTensors::takes_what_was_kept(const GraphOp& reader, std::int64_t input) const {
  if (reader.forward_op != input) return false;
  const auto made = producer_.find({reader.process.value, input});
  if (made == producer_.end()) return false;
  const std::vector<std::int64_t>& forward = predictor_.trace().graph_ops[made->second].inputs;
  return std::ranges::any_of(reader.inputs, [&](std::int64_t one) {
    return one != input && std::ranges::find(forward, one) != forward.end();
  });
}

void ChainTensors::find_kernels() {
  const Attribution& attribution = predictor_.analysis().attribution;
  std::vector<bool> known(attribution.ops.size());
  std::vector<bool> multiplies(attribution.ops.size());
  for (std::uint32_t i = 0; i < predictor_.trace().device_ops.size(); ++i) {
    const DeviceOpId op{i};
    const std::uint32_t model = attribution.op_of[i].value;
    const bool product =
        !multiplies[model] && predictor_.kernels().of(op).family == KernelFamily::kGemm;
    const GraphOp* graph = known[model] && !product ? nullptr : graph_of(op);
    known[model] = true;
    if (!graph) continue;
    with_kernels_.insert({graph->process.value, graph->op});
    if (!product) continue;
    multiplies[model] = true;
    products_.insert({graph->process.value, graph->op});
  }
}

ChainTensors::Key ChainTensors::tensor(const GraphOp& reader, std::int64_t input) const {
  Key key{reader.process.value, input};
  for (int i = 0; i < kMostViews && !with_kernels_.contains(key); ++i) {
    const auto made = producer_.find(key);
    if (made == producer_.end()) break;
    const GraphOp& op = predictor_.trace().graph_ops[made->second];
    if (op.inputs.size() != 1) break;
    key.second = op.inputs.front();
  }
  return key;
}

const GraphOp* ChainTensors::graph_of(DeviceOpId op) const {
  const Attribution& attribution = predictor_.analysis().attribution;
  const ModelOp& model = attribution.ops[attribution.op_of[op.value].value];
  return model.graph_op.valid() ? &predictor_.trace().graph_ops[model.graph_op.value] : nullptr;
}

bool ChainTensors::reads(DeviceOpId reader, DeviceOpId op) const {
  const GraphOp* a = graph_of(reader);
  const GraphOp* b = graph_of(op);
  return a && b && std::ranges::any_of(a->inputs, [&](std::int64_t input) {
           return tensor(*a, input) == Key{b->process.value, b->op};
         });
}

bool ChainTensors::rides_on_product(DeviceOpId op, bool sums_columns) const {
  const GraphOp* graph = graph_of(op);
  if (!graph || !(sums_columns || is_addition(graph->type))) return false;
  return std::ranges::any_of(graph->inputs, [&](std::int64_t input) {
    const Key key = tensor(*graph, input);
    const auto made = producer_.find(key);
    if (made == producer_.end()) return false;
    if (sums_columns) return readers_of_product_.contains(key);
    if (!products_.contains(key) || readers_.at(key) != 1) return false;
    const auto bytes = static_cast<double>(predictor_.trace().graph_ops[made->second].output_bytes);
    return static_cast<double>(graph->bytes - graph->output_bytes) <= (1 + kSmall) * bytes;
  });
}

std::optional<bool> ChainTensors::is_of_rows(DeviceOpId op) const {
  const GraphOp* graph = graph_of(op);
  if (!graph) return std::nullopt;
  return graph->shape.ends_with("x1");
}

std::optional<ChainTensors::Joined> ChainTensors::joined(std::span<const DeviceOpId> chain) const {
  std::map<Key, int> reads;  // by the chain, of each tensor
  std::set<Key> written;
  double all = 0;
  for (DeviceOpId op : chain) {
    const GraphOp* graph = graph_of(op);
    if (!graph || graph->bytes <= 0) return std::nullopt;
    all += static_cast<double>(graph->bytes);
    for (std::int64_t input : graph->inputs) ++reads[tensor(*graph, input)];
    written.insert({graph->process.value, graph->op});
  }
  double saved = 0;
  Joined result;
  for (const auto& [tensor, times] : reads) {
    const auto made = producer_.find(tensor);
    if (made == producer_.end()) continue;
    const auto bytes = static_cast<double>(predictor_.trace().graph_ops[made->second].output_bytes);
    const bool inner = written.contains(tensor);
    saved += bytes * (inner ? times : times - 1);
    if (!inner || readers_.at(tensor) != times) continue;
    saved += bytes;  // nor is it written
    ++result.inner;
  }
  result.share = std::max(0.0, 1 - saved / all);
  return result;
}

}  // namespace headway::analyzer
