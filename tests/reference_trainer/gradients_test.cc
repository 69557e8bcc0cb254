// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "reference_trainer/models/resnet.h"
#include "reference_trainer/ops/op.h"
#include "reference_trainer/passes/assign_layout.h"
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

TEST_CASE("the gradients of changes of layout agree with finite differences at odd shapes") {
  for (const Shape& shape : {Shape{2, 5, 7, 3}, Shape{3, 4, 4, 1}, Shape{1, 1, 6, 16}})
    check_op(shape, [](Graph& g, ValueId x) {
      return ops::nchw_to_nhwc(g, "back", ops::nhwc_to_nchw(g, "there", x));
    });
}

TEST_CASE("the gradients of convolutions on NCHW agree with finite differences at odd shapes") {
  auto on_nchw = [](int transposes) {
    return [=](Graph& g) { REQUIRE(assign_channels_first(g) == transposes); };
  };
  auto conv = [](std::int64_t filters, int kernel, int stride) {
    return [=](Graph& g, ValueId x) { return ops::conv2d(g, "c", x, filters, kernel, stride); };
  };
  // The convolution behind `c` reads its result as it is.
  check_op({2, 5, 7, 3}, conv(5, 3, 1), on_nchw(2));
  check_op({3, 7, 5, 1}, conv(8, 3, 2), on_nchw(2));
  check_op({2, 6, 6, 8}, conv(16, 1, 2), on_nchw(2));
  check_op({2, 9, 9, 16}, conv(8, 3, 1), on_nchw(2));
  check_op(
      {2, 5, 3, 5},
      [](Graph& g, ValueId x) {
        return ops::add(g, "add", ops::conv2d(g, "a", x, 5, 3, 1), ops::conv2d(g, "b", x, 5, 1, 1));
      },
      on_nchw(5));
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
  check_same_gradients(build(true), build(false));
}

TEST_CASE("a network with its convolutions on NCHW has the same loss and gradients") {
  auto build = [](bool channels_first) {
    ResnetOptions options;
    options.batch = 4;
    options.depth = 8;
    options.width = 8;
    Model model = build_resnet(options);
    fuse_bn_add_relu(model.graph);
    fuse_bn_relu(model.graph);
    // The convolutions and shortcuts of the network have nine results and seven inputs.
    if (channels_first) CHECK(assign_channels_first(model.graph) == 16);
    return model;
  };
  check_same_gradients(build(true), build(false));
}

}  // namespace headway::trainer
