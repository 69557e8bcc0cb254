// SPDX-License-Identifier: MIT
// Gradients of the transformer's ops, and that each fusion computes what its parts compute.
#include <doctest/doctest.h>

#include "reference_trainer/models/transformer.h"
#include "reference_trainer/passes/fuse_attention.h"
#include "reference_trainer/passes/fuse_bias.h"
#include "reference_trainer/passes/fuse_elementwise.h"
#include "reference_trainer/passes/fuse_layer_norm.h"
#include "reference_trainer/passes/fuse_loss.h"
#include "tests/reference_trainer/checked_graph.h"

namespace headway::trainer {
namespace {

using Body = std::function<ValueId(Graph&, ValueId)>;
using Pass = std::function<void(Graph&)>;
const Pass kNothing = [](Graph&) {};

/// Checks the gradient of `body`: x [rows, columns] -> any rank-2 value, which is then scored with
/// random weights, so that every element matters.
void check_op(Shape x, const Body& body, const Pass& before = kNothing,
              const Pass& after = kNothing) {
  Graph graph;
  const ValueId y = body(graph, parameter(graph, "x", x));
  const ValueId labels = labels_of(graph, graph.value(y).shape[0]);
  const ValueId figures = ops::cross_entropy(graph, "loss", ops::matmul(graph, "fc", y, 3), labels);
  before(graph);
  Checked(std::move(graph), figures, labels, 12, after).check();
}

TransformerOptions tiny_options(std::int64_t window) {
  TransformerOptions options;
  options.batch = 2;
  options.length = 8;
  options.features = 16;
  options.heads = 2;
  options.layers = 2;
  options.window = window;
  options.vocabulary = 5;
  return options;
}

void fuse_all(Graph& graph) {
  CHECK(fuse_bias_gelu(graph) == 2);
  CHECK(fuse_linear_bias(graph) == 6);
  CHECK(fuse_layer_norm(graph) == 5);
  CHECK(fuse_add_layer_norm(graph) == 4);
  CHECK(fuse_attention(graph) == 2);
  CHECK(fuse_loss(graph) == 1);
}

int count(const Graph& graph, std::string_view type) {
  int n = 0;
  for (const Node& node : graph.nodes()) n += node.op->type == type;
  return n;
}

}  // namespace

TEST_CASE("the gradients of a layer of experts agree with differences, dropped tokens included") {
  for (const std::int64_t capacity : {6, 2})
    for (const std::int64_t choices : {1, 2}) {
      CAPTURE(capacity);
      CAPTURE(choices);
      RouteAttributes by;
      by.shape = {6, 3, choices, capacity};
      by.favour = std::make_shared<const std::vector<float>>(std::vector<float>{1, 3, 1});
      check_op({6, 5}, [&](Graph& g, ValueId x) {
        const ValueId p = ops::softmax(g, "softmax", ops::matmul(g, "router", x, 3));
        const ops::Routed routed = ops::route(g, "route", p, by);
        ValueId y = ops::dispatch(g, "dispatch", x, routed);
        y = ops::gelu(g, "gelu", y);
        return ops::combine(g, "combine", y, routed);
      });
    }
}

TEST_CASE("the gradients of elementwise ops with every kind of operand agree with differences") {
  check_op({5, 7}, [](Graph& g, ValueId x) { return ops::gelu(g, "gelu", x); });
  check_op({5, 7}, [](Graph& g, ValueId x) { return ops::scale(g, "scale", x, -1.5F); });
  check_op({6, 5}, [](Graph& g, ValueId x) { return ops::mul(g, "mul", x, x); });
  check_op({6, 5},
           [](Graph& g, ValueId x) { return ops::mul(g, "mul", x, parameter(g, "gamma", {5})); });
  check_op({6, 5},
           [](Graph& g, ValueId x) { return ops::mul(g, "mul", x, ops::row_mean(g, "mean", x)); });
  check_op({6, 5},
           [](Graph& g, ValueId x) { return ops::sub(g, "sub", x, ops::row_mean(g, "mean", x)); });
  check_op({6, 5}, [](Graph& g, ValueId x) {
    const ValueId squares = ops::mul(g, "squares", x, x);
    return ops::mul(g, "mul", x, ops::rsqrt(g, "rsqrt", ops::row_mean(g, "mean", squares), 0.1F));
  });
  check_op({6, 5}, [](Graph& g, ValueId x) {
    return ops::bias_add(g, "add", x, parameter(g, "bias", {5}));
  });
  check_op({20, 16}, [](Graph& g, ValueId x) { return ops::dropout(g, "dropout", x, 0.3F); });
}

TEST_CASE("the gradients of layer norm agree with differences, in parts and fused") {
  const Body body = [](Graph& g, ValueId x) {
    const ValueId y = ops::layer_norm(g, "ln", ops::add(g, "add", x, ops::gelu(g, "gelu", x)));
    return ops::add(g, "on", y, x);
  };
  check_op({6, 9}, body);
  check_op({6, 9}, body, [](Graph& g) { CHECK(fuse_layer_norm(g) == 1); });
  check_op({6, 9}, body, [](Graph& g) {
    CHECK(fuse_layer_norm(g) == 1);
    CHECK(fuse_add_layer_norm(g) == 1);
  });
  check_op({6, 9}, body, kNothing, [](Graph& g) { CHECK(fuse_elementwise(g) > 0); });
}

TEST_CASE("the gradients of a projection with gelu agree with differences, in parts and fused") {
  const Body body = [](Graph& g, ValueId x) {
    return ops::projection(g, "p2", ops::gelu(g, "gelu", ops::projection(g, "p1", x, 9)), 4);
  };
  check_op({5, 7}, body);
  check_op({5, 7}, body, [](Graph& g) {
    CHECK(fuse_bias_gelu(g) == 1);
    CHECK(fuse_linear_bias(g) == 1);
  });
}

TEST_CASE("the gradients of attention agree with differences, in parts and fused, in windows too") {
  for (const auto& [window, shift] :
       {std::pair<std::int64_t, std::int64_t>{6, 0}, {3, 0}, {3, 1}}) {
    const kernels::AttentionShape shape{2, 6, 2, 4, window, shift};
    const Body body = [shape](Graph& g, ValueId x) { return ops::attention(g, "a", x, shape); };
    check_op({12, 24}, body);
    check_op({12, 24}, body, [](Graph& g) {
      CHECK(fuse_attention(g) == 1);
      CHECK(count(g, "softmax") == 0);
      CHECK(count(g, "window_shift") == 0);
    });
  }
}

TEST_CASE("the gradients of the fused loss agree with those of its parts and with differences") {
  check_op(
      {5, 7}, [](Graph&, ValueId x) { return x; }, [](Graph& g) { CHECK(fuse_loss(g) == 1); });
}

TEST_CASE("a whole transformer's gradients agree with differences along them") {
  for (std::int64_t window : {0, 4}) {
    Model model = build_transformer(tiny_options(window));
    fuse_all(model.graph);
    Checked(std::move(model.graph), model.figures, model.labels, 5).check_along_gradients();
  }
}

TEST_CASE("a fused transformer, a compiled one and one in parts have the same loss and gradients") {
  for (std::int64_t window : {0, 4}) {
    Model fused = build_transformer(tiny_options(window));
    fuse_all(fused.graph);
    const Model parts = build_transformer(tiny_options(window));
    check_same_gradients(fused, parts, kNothing, kNothing);
    check_same_gradients(
        parts, parts, [](Graph& g) { CHECK(fuse_elementwise(g) > 10); }, kNothing);
  }
}

TEST_CASE("the graph compiler leaves no chain of two elementwise ops and keeps what is read") {
  Model model = build_transformer(tiny_options(0));
  Gradients gradients(model.graph);
  gradients.run(model.figures);
  for (ValueId id : model.graph.parameters())
    model.graph.value(gradients.of(id)).role = Role::kResult;
  const std::size_t before = model.graph.node_count();
  const int clusters = fuse_elementwise(model.graph);
  CHECK(clusters > 10);
  CHECK(model.graph.node_count() < before - 2 * static_cast<std::size_t>(clusters));
  for (std::size_t i = 0; i < model.graph.node_count(); ++i) {
    const Node& node = model.graph.nodes()[i];
    for (ValueId input : node.inputs) {
      const Value& value = model.graph.value(input);
      const bool made = value.role != Role::kActivation || value.producer.valid();
      CAPTURE(value.name);
      REQUIRE(made);
      if (value.producer.valid()) CHECK(value.producer.value < i);
    }
    if (node.forward.valid()) CHECK(model.graph.node(node.forward).phase == Phase::kForward);
  }
}

}  // namespace headway::trainer
