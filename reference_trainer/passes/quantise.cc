// SPDX-License-Identifier: MIT
#include "reference_trainer/passes/quantise.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "common/error.h"
#include "reference_trainer/ops/fused_products.h"
#include "reference_trainer/ops/op.h"
#include "reference_trainer/ops/support.h"

namespace headway::trainer {
namespace {

constexpr std::int64_t kChannels = 4;  // channels that a library reads at once
constexpr float kMost = 127;

std::int64_t padded(std::int64_t channels) {
  return (channels + kChannels - 1) / kChannels * kChannels;
}

bool fits(const Graph& graph, const Node& node) {
  return ops::is_fused_product(node) && graph.value(node.inputs[1]).shape[0] % kChannels == 0;
}

/// Integer weights and a scale for each row. The weights have `columns` input channels of `each`
/// numbers, padded with zeros to `wanted` channels.
struct Integers {
  std::vector<float> values;
  std::vector<float> scales;
};
Integers integers_of(const std::vector<float>& weights, std::int64_t rows, std::int64_t columns,
                     std::int64_t wanted, std::int64_t each, float most_weight) {
  Integers result{std::vector<float>(static_cast<std::size_t>(rows * wanted * each)), {}};
  for (std::int64_t row = 0; row < rows; ++row) {
    const float* from = weights.data() + row * columns * each;
    float most = 0;
    for (std::int64_t i = 0; i < columns * each; ++i) most = std::max(most, std::abs(from[i]));
    const float scale = most > 0 ? most / most_weight : 1;
    float* to = result.values.data() + row * wanted * each;
    for (std::int64_t i = 0; i < columns * each; ++i) to[i] = std::nearbyint(from[i] / scale);
    result.scales.push_back(scale);
  }
  return result;
}

class Quantiser {
 public:
  Quantiser(Graph& graph, const Ranges& ranges, ParameterSet& parameters, int most_weight)
      : graph_(graph),
        ranges_(ranges),
        parameters_(parameters),
        most_weight_(static_cast<float>(most_weight)) {
    for (const Node& node : graph_.nodes())
      if (fits(graph_, node)) products_.insert(node.outputs[0]);
    for (const ValueId value : products_)
      if (only_products_read(value)) integers_.insert(value);
  }

  int run() {
    const std::vector<Node> old = graph_.nodes();
    int count = 0;
    for (Node node : old) {
      if (fits(graph_, node)) {
        change(node);
        ++count;
      }
      nodes_.push_back(std::move(node));
    }
    for (const ValueId value : integers_) graph_.value(value).type = DataType::kInt8;
    graph_.replace_nodes(std::move(nodes_));
    return count;
  }

 private:
  bool only_products_read(ValueId value) const {
    const std::vector<NodeId> readers = graph_.consumers(value);
    return !readers.empty() &&
           std::ranges::all_of(readers, [&](NodeId id) { return fits(graph_, graph_.node(id)); });
  }

  float scale_of(ValueId value) const {
    const auto found = ranges_.find(value);
    return found == ranges_.end() || found->second <= 0 ? 1 : found->second / kMost;
  }

  void change(Node& node) {
    auto& by = std::get<FusedProductAttributes>(node.attributes);
    by.input_scale = scale_of(node.inputs[0]);
    if (integers_.contains(node.outputs[0])) by.output_scale = scale_of(node.outputs[0]);
    if (by.residual && integers_.contains(node.inputs[ops::kFusedResidual]))
      by.residual_scale = scale_of(node.inputs[ops::kFusedResidual]);
    if (!integers_.contains(node.inputs[0])) node.inputs[0] = integer_copy(node.inputs[0], node);
    node.inputs[1] = integer_weights(node, by);
  }

  /// Makes one integer copy per value.
  ValueId integer_copy(ValueId value, const Node& reader) {
    const auto [place, missing] = copies_.try_emplace(value);
    if (!missing) return place->second;
    Value copy;
    copy.name = graph_.value(value).name + ".int8";
    const Shape& shape = graph_.value(value).shape;
    copy.shape = shape.with_last(padded(shape.last()));
    copy.type = DataType::kInt8;
    place->second = graph_.add_value(std::move(copy));
    nodes_.push_back({&ops::kQuantise,
                      graph_.value(value).name,
                      reader.phase,
                      reader.forward,
                      {value},
                      {place->second},
                      QuantiseAttributes{scale_of(value)}});
    return place->second;
  }

  ValueId integer_weights(const Node& node, FusedProductAttributes& by) {
    const Value weights = graph_.value(node.inputs[1]);
    const Shape& s = weights.shape;
    const std::int64_t each = weights.is_filter ? s[2] * s[3] : 1;
    const std::int64_t wanted = padded(s[1]);
    const std::string name = weights.name + ".int8";
    by.weight_scales =
        std::make_shared<const std::vector<float>>(static_cast<std::size_t>(s[0]), 1.0F);
    if (const auto found = parameters_.find(weights.name); found != parameters_.end()) {
      Integers integers = integers_of(found->second, s[0], s[1], wanted, each, most_weight_);
      by.weight_scales = std::make_shared<const std::vector<float>>(std::move(integers.scales));
      parameters_[name] = std::move(integers.values);
    }
    const Shape shape = weights.is_filter ? Shape{s[0], wanted, s[2], s[3]} : Shape{s[0], wanted};
    const ValueId result = ops::add_parameter(graph_, name, shape, {});
    graph_.value(result).type = DataType::kInt8;
    graph_.value(result).is_filter = weights.is_filter;
    return result;
  }

  Graph& graph_;
  const Ranges& ranges_;
  ParameterSet& parameters_;
  const float most_weight_;
  std::set<ValueId> products_;  // results of products
  std::set<ValueId> integers_;  // results of products that are integers
  std::map<ValueId, ValueId> copies_;
  std::vector<Node> nodes_;
};

}  // namespace

void fuse_products(Graph& graph, ParameterSet& parameters) {
  std::vector<Node> nodes = graph.nodes();
  for (Node& node : nodes) {
    const bool convolution = node.op == &ops::kConv2d;
    if (!convolution && node.op != &ops::kLinear && node.op != &ops::kMatmul) continue;
    FusedProductAttributes by;
    if (convolution) by.convolution = std::get<ConvolutionAttributes>(node.attributes);
    if (node.op != &ops::kLinear) {
      const std::int64_t outputs = graph.value(node.inputs[1]).shape[0];
      const std::string name = node.name + ".bias.zero";
      node.inputs.push_back(ops::add_parameter(graph, name, {outputs}, {}));
      parameters[name].assign(static_cast<std::size_t>(outputs), 0.0F);
    }
    node.op = convolution ? &ops::kConv2dFused : &ops::kLinearFused;
    node.attributes = by;
  }
  graph.replace_nodes(std::move(nodes));
}

std::vector<ValueId> quantised_values(const Graph& graph) {
  std::set<ValueId> values;
  for (const Node& node : graph.nodes()) {
    if (!fits(graph, node)) continue;
    values.insert(node.inputs[0]);
    if (ops::fused_product(node).residual) values.insert(node.inputs[ops::kFusedResidual]);
  }
  return {values.begin(), values.end()};
}

int quantise(Graph& graph, const Ranges& ranges, ParameterSet& parameters, int most_weight) {
  return Quantiser(graph, ranges, parameters, most_weight).run();
}

}  // namespace headway::trainer
