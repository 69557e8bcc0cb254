// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "reference_trainer/models/resnet.h"
#include "reference_trainer/ops/op.h"
#include "reference_trainer/passes/fuse_bn_relu.h"
#include "tests/reference_trainer/checked_graph.h"

namespace headway::trainer {
namespace {

/// Checks the gradient of `body`: image parameter [n,h,w,c] -> any image value, which is then
/// pooled and scored, so that every element matters.
void check_op(
    Shape x, const std::function<ValueId(Graph&, ValueId)>& body,
    const std::function<void(Graph&)>& pass = [](Graph&) {}) {
  Graph graph;
  const ValueId image = parameter(graph, "x", x);
  ValueId y = body(graph, image);
  // A product with random weights per channel breaks the symmetry that batch norm's mean has.
  y = ops::global_average_pool(graph, "pool", ops::conv2d(graph, "mix", y, 4, 3, 1));
  const ValueId labels = labels_of(graph, x[0]);
  const ValueId figures =
      ops::softmax_cross_entropy(graph, "loss", ops::linear(graph, "fc", y, 3), labels);
  pass(graph);
  Checked(std::move(graph), figures, labels, 12).check();
}

}  // namespace

TEST_CASE("the gradients of convolutions agree with finite differences at odd shapes") {
  check_op({2, 5, 7, 3}, [](Graph& g, ValueId x) { return ops::conv2d(g, "c", x, 5, 3, 1); });
  check_op({3, 7, 5, 1}, [](Graph& g, ValueId x) { return ops::conv2d(g, "c", x, 8, 3, 2); });
  check_op({2, 6, 6, 8}, [](Graph& g, ValueId x) { return ops::conv2d(g, "c", x, 16, 1, 2); });
  check_op({2, 9, 9, 16}, [](Graph& g, ValueId x) { return ops::conv2d(g, "c", x, 8, 3, 1); });
}

TEST_CASE("the gradients of batch norm, relu and add agree with finite differences") {
  check_op({3, 5, 3, 6}, [](Graph& g, ValueId x) { return ops::batch_norm(g, "bn", x, true); });
  check_op({3, 5, 3, 7}, [](Graph& g, ValueId x) { return ops::relu(g, "relu", x); });
  check_op({2, 5, 3, 5}, [](Graph& g, ValueId x) {
    return ops::add(g, "add", ops::relu(g, "relu", x), ops::conv2d(g, "c", x, 5, 3, 1));
  });
}

TEST_CASE("the gradients of fused batch norms agree with finite differences") {
  check_op(
      {3, 5, 3, 6},
      [](Graph& g, ValueId x) { return ops::relu(g, "r", ops::batch_norm(g, "bn", x, true)); },
      [](Graph& g) { REQUIRE(fuse_bn_relu(g) == 1); });
  check_op(
      {3, 4, 3, 6},
      [](Graph& g, ValueId x) {
        const ValueId shortcut = ops::batch_norm(g, "s", ops::conv2d(g, "c", x, 6, 1, 1), true);
        const ValueId y = ops::add(g, "add", ops::batch_norm(g, "bn", x, true), shortcut);
        return ops::relu(g, "r", y);
      },
      [](Graph& g) { REQUIRE(fuse_bn_add_relu(g) == 1); });
}

TEST_CASE("the gradients of a whole residual network agree with finite differences") {
  ResnetOptions options;
  options.batch = 3;
  options.height = 9;
  options.width_pixels = 7;
  options.depth = 8;
  options.width = 8;
  options.classes = 3;
  Model model = build_resnet(options);
  // The images as a parameter: they get a gradient, too.
  model.graph.value(model.images).role = Role::kParameter;
  fuse_bn_add_relu(model.graph);
  fuse_bn_relu(model.graph);
  Checked(std::move(model.graph), model.figures, model.labels, 5).check_along_gradients();
}

TEST_CASE("fused and unfused graphs have the same loss and gradients") {
  auto build = [](bool fused) {
    ResnetOptions options;
    options.batch = 4;
    options.depth = 8;
    options.width = 8;
    Model model = build_resnet(options);
    model.graph.value(model.images).role = Role::kParameter;
    if (fused) {
      CHECK(fuse_bn_add_relu(model.graph) == 3);
      CHECK(fuse_bn_relu(model.graph) == 4);
    }
    return model;
  };
  Model a = build(true);
  Model b = build(false);
  Checked fused(a.graph, a.figures, a.labels, 3);
  Checked unfused(b.graph, b.figures, b.labels, 3);
  CHECK(fused.loss() == doctest::Approx(unfused.loss()).epsilon(1e-4));
  for (ValueId id : b.graph.parameters()) {
    const std::vector<float> x = fused.gradient(id);
    const std::vector<float> y = unfused.gradient(id);
    double largest = 1e-6;
    double difference = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      largest = std::max<double>(largest, std::abs(y[i]));
      difference = std::max<double>(difference, std::abs(x[i] - y[i]));
    }
    CAPTURE(b.graph.value(id).name);
    CHECK(difference < 2e-3 * largest);
  }
}

}  // namespace headway::trainer
