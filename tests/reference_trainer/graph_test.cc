// SPDX-License-Identifier: MIT
#include "reference_trainer/graph/graph.h"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <set>

#include "reference_trainer/devices/host/compile.h"
#include "reference_trainer/models/resnet.h"
#include "reference_trainer/ops/autodiff.h"
#include "reference_trainer/ops/op.h"
#include "reference_trainer/ops/optimizer.h"
#include "reference_trainer/passes/apply_precision.h"
#include "reference_trainer/passes/assign_layout.h"
#include "reference_trainer/passes/fuse_bn_relu.h"
#include "reference_trainer/passes/plan_memory.h"

namespace headway::trainer {
namespace {

Model training_graph(bool fused, OptimizerFusion fusion = OptimizerFusion::kMultiTensor) {
  Model model = build_resnet({});
  if (fused) {
    fuse_bn_add_relu(model.graph);
    fuse_bn_relu(model.graph);
  }
  Gradients gradients(model.graph);
  gradients.run(model.figures);
  OptimizerAttributes optimizer;
  optimizer.fusion = fusion;
  add_optimizer(model.graph, gradients, optimizer);
  return model;
}

int count(const Graph& graph, std::string_view type) {
  int n = 0;
  for (const Node& node : graph.nodes()) n += node.op->type == type;
  return n;
}

}  // namespace

TEST_CASE("ResNet-20 has the layers and parameters of the paper's CIFAR form") {
  const Model model = build_resnet({});
  CHECK(count(model.graph, "conv2d") == 21);  // 19 and two projections
  CHECK(count(model.graph, "add") == 9);
  std::int64_t parameters = 0;
  for (ValueId id : model.graph.parameters()) parameters += model.graph.value(id).shape.elements();
  CHECK(parameters == 272186);
  CHECK(model.graph.value(model.graph.find("layer3.2.relu2")).shape.text() == "32x7x7x64");
}

TEST_CASE("ops come after what they read, and backward ops name their forward op") {
  for (bool fused : {false, true}) {
    const Model model = training_graph(fused);
    for (std::size_t i = 0; i < model.graph.node_count(); ++i) {
      const Node& node = model.graph.nodes()[i];
      for (ValueId input : node.inputs) {
        const NodeId producer = model.graph.value(input).producer;
        if (producer.valid()) CHECK(producer.value < i);
      }
      if (node.phase != Phase::kBackward) continue;
      REQUIRE(node.forward.valid());
      CHECK(model.graph.node(node.forward).phase == Phase::kForward);
    }
  }
}

TEST_CASE("the passes fuse every batch norm that a relu follows and nothing else") {
  const Model fused = training_graph(true);
  CHECK(count(fused.graph, "bn_add_relu") == 9);
  CHECK(count(fused.graph, "bn_relu") == 10);
  CHECK(count(fused.graph, "batch_norm") == 2);  // of the projection shortcuts
  CHECK(count(fused.graph, "relu") == 0);
  CHECK(count(fused.graph, "bn_add_relu_backward") == 9);
  const Model unfused = training_graph(false);
  CHECK(count(unfused.graph, "relu") == 19);
  CHECK(count(unfused.graph, "batch_norm_backward") == 21);
}

TEST_CASE("a batch norm with a second reader is left alone") {
  Graph graph;
  Value image;
  image.name = "x";
  image.shape = {2, 4, 4, 8};
  image.role = Role::kInput;
  const ValueId norm = ops::batch_norm(graph, "bn", graph.add_value(image), true);
  const ValueId relu = ops::relu(graph, "relu", norm);
  ops::add(graph, "add", norm, relu);
  CHECK(fuse_bn_relu(graph) == 0);
  CHECK(fuse_bn_add_relu(graph) == 0);
}

TEST_CASE("images are transposed around convolutions, once for all readers, and not between two") {
  Graph graph;
  Value image;
  image.name = "x";
  image.shape = {2, 4, 6, 8};
  image.role = Role::kInput;
  const ValueId x = graph.add_value(image);
  const ValueId a = ops::conv2d(graph, "a", x, 16, 3, 1);
  const ValueId b = ops::conv2d(graph, "b", a, 16, 1, 1);  // reads a's result as it is
  const ValueId c = ops::conv2d(graph, "c", x, 16, 1, 1);  // reads what a reads
  const ValueId sum = ops::add(graph, "sum", ops::relu(graph, "relu", b), c);
  ops::conv2d(graph, "d", ops::add(graph, "twice", sum, b), 4, 1, 2);
  CHECK(assign_channels_first(graph) == 4);
  std::vector<std::string> lines;
  for (const Node& node : graph.nodes())
    lines.push_back(fmt::format("{} {} -> {}", node.op->type, graph.value(node.inputs[0]).name,
                                graph.value(node.outputs[0]).shape.text()));
  CHECK(lines == std::vector<std::string>{"nhwc_to_nchw x -> 2x8x4x6", "conv2d x.nchw -> 2x16x4x6",
                                          "conv2d a -> 2x16x4x6", "conv2d x.nchw -> 2x16x4x6",
                                          "nchw_to_nhwc b -> 2x4x6x16", "relu b.nhwc -> 2x4x6x16",
                                          "nchw_to_nhwc c -> 2x4x6x16", "add relu -> 2x4x6x16",
                                          "add sum -> 2x4x6x16", "nhwc_to_nchw twice -> 2x16x4x6",
                                          "conv2d twice.nchw -> 2x4x2x3"});
}

TEST_CASE(
    "a network on NCHW has a transpose each way for every transpose, and the same arithmetic") {
  Model model = build_resnet({});
  fuse_bn_add_relu(model.graph);
  fuse_bn_relu(model.graph);
  const Graph plain = model.graph;
  // 21 results of convolutions, and 19 inputs, as a shortcut reads what the block reads.
  CHECK(assign_channels_first(model.graph) == 40);
  auto flops = [](const Graph& graph) {
    std::int64_t sum = 0;
    for (const Node& node : graph.nodes()) sum += node.op->work(graph, node).flops;
    return sum;
  };
  CHECK(flops(model.graph) == flops(plain));
  Gradients gradients(model.graph);
  gradients.run(model.figures);
  // The images have no gradient.
  CHECK(count(model.graph, "nhwc_to_nchw") == 19 + 21);
  CHECK(count(model.graph, "nchw_to_nhwc") == 21 + 18);
  for (const Node& node : model.graph.nodes()) {
    if (!node.op->type.starts_with("conv2d")) continue;
    CAPTURE(node.name);
    CHECK(std::get<ConvolutionAttributes>(node.attributes).channels_first);
    auto both = node.inputs;
    both.insert(both.end(), node.outputs.begin(), node.outputs.end());
    for (ValueId id : both) CHECK(model.graph.value(model.graph.owner(id)).channels_first);
  }
}

TEST_CASE("changes of layout keep the number format of what they move") {
  for (Precision precision : {Precision::kFp32, Precision::kAmpO1, Precision::kAmpO2}) {
    CAPTURE(static_cast<int>(precision));
    Model model = build_resnet({});
    assign_channels_first(model.graph);
    Gradients gradients(model.graph);
    gradients.run(model.figures);
    const ValueId state =
        needs_loss_scale(precision) ? add_optimizer_state(model.graph) : ValueId::none();
    apply_precision(model.graph, precision, state);
    auto format = [&](ValueId id) {
      const Node& made = model.graph.node(model.graph.value(id).producer);
      return made.op == &ops::kCast ? std::get<RowAttributes>(made.attributes).format
                                    : made.results;
    };
    for (const Node& node : model.graph.nodes()) {
      if (node.op != &ops::kNhwcToNchw && node.op != &ops::kNchwToNhwc) continue;
      CAPTURE(node.name);
      const bool is_input = !model.graph.value(node.inputs[0]).producer.valid();
      CHECK(node.results == (is_input ? kernels::NumberFormat::kFloat32 : format(node.inputs[0])));
    }
  }
}

TEST_CASE("the optimizer has one op for all parameters or one for each") {
  const std::size_t parameters = build_resnet({}).graph.parameters().size();
  CHECK(count(training_graph(true).graph, "sgd_momentum_multi_tensor") == 1);
  const Model each = training_graph(true, OptimizerFusion::kOff);
  CHECK(count(each.graph, "sgd_momentum") == static_cast<int>(parameters));
  for (const Node& node : each.graph.nodes())
    if (node.phase == Phase::kUpdate) CHECK(node.forward.valid());
}

TEST_CASE("fusing saves bytes and keeps the arithmetic") {
  auto total = [](const Graph& graph, Phase phase) {
    Work sum;
    for (const Node& node : graph.nodes())
      if (node.phase == phase) sum = sum + node.op->work(graph, node);
    return sum;
  };
  const Model fused = training_graph(true);
  const Model unfused = training_graph(false);
  CHECK(total(fused.graph, Phase::kForward).bytes < total(unfused.graph, Phase::kForward).bytes);
  CHECK(total(fused.graph, Phase::kBackward).bytes < total(unfused.graph, Phase::kBackward).bytes);
  // 31 M multiply-adds per image forward, in 2 flops each, and little besides.
  const double forward = static_cast<double>(total(fused.graph, Phase::kForward).flops) / 32;
  CHECK(forward > 2 * 31e6);
  CHECK(forward < 2 * 34e6);
}

TEST_CASE("values that are alive together never share memory, and the plan saves some") {
  const Model model = training_graph(true);
  const Graph& graph = model.graph;
  auto bytes = [&](ValueId id) { return graph.value(id).bytes(); };
  const MemoryPlan plan = plan_memory(graph, bytes);
  std::vector<std::size_t> last(graph.value_count());
  std::vector<std::size_t> first(graph.value_count());
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < graph.node_count(); ++i) {
    for (ValueId id : graph.nodes()[i].inputs) last[id.value] = i;
    for (ValueId id : graph.nodes()[i].outputs) first[id.value] = last[id.value] = i;
  }
  for (std::size_t a = 0; a < graph.value_count(); ++a) {
    if (plan.offset[a] < 0) continue;
    sum += bytes(ValueId::from(a));
    CHECK(plan.offset[a] + bytes(ValueId::from(a)) <= plan.total_bytes);
    for (std::size_t b = 0; b < a; ++b) {
      if (plan.offset[b] < 0 || first[a] > last[b] || first[b] > last[a]) continue;
      const bool apart = plan.offset[a] + bytes(ValueId::from(a)) <= plan.offset[b] ||
                         plan.offset[b] + bytes(ValueId::from(b)) <= plan.offset[a];
      REQUIRE(apart);
    }
  }
  CHECK(plan.total_bytes < sum * 3 / 4);
}

TEST_CASE("every op has a name, a cost and a host implementation") {
  std::set<std::string_view> types;
  for (const OpDefinition* op : all_ops()) {
    CHECK(types.insert(op->type).second);
    CHECK((op->work != nullptr));
    CHECK(!op->doc.empty());
    CHECK(std::ranges::find(host_ops(), op, &HostOp::op) != host_ops().end());
  }
  CHECK(types.size() == host_ops().size());
}

TEST_CASE("a graph prints one line per op") {
  const Model model = training_graph(true);
  const std::string text = describe(model.graph);
  CHECK(static_cast<std::size_t>(std::ranges::count(text, '\n')) == model.graph.node_count());
  CHECK(text.find("bn_add_relu_backward") != std::string::npos);
}

}  // namespace headway::trainer
