// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>

#include "reference_trainer/data/random.h"
#include "reference_trainer/devices/host/host_device.h"
#include "reference_trainer/graph/autodiff.h"
#include "reference_trainer/models/resnet.h"
#include "reference_trainer/ops/op.h"
#include "reference_trainer/ops/support.h"
#include "reference_trainer/passes/fuse_bn_relu.h"
#include "reference_trainer/train/executor.h"

namespace headway::trainer {
namespace {

/// A graph whose loss can be evaluated and differentiated on the host device. All its parameters
/// get random values; labels are 0, 1, 2, ...
class Checked {
 public:
  Checked(Graph graph, ValueId figures, ValueId labels, std::uint64_t seed)
      : graph_(std::move(graph)), figures_(figures), gradients_(graph_) {
    gradients_.run(figures_);
    compiled_ = device_.compile(graph_, {.keep_activations = true});
    executor_ =
        std::make_unique<Executor>(device_, stream_, graph_, *compiled_, 0, ExecutorOptions{});
    Random random(seed);
    for (std::size_t i = 0; i < graph_.value_count(); ++i) {
      const Value& value = graph_.values()[i];
      if (value.role == Role::kState) {
        compiled_->write(ValueId::from(i),
                         std::vector<float>(static_cast<std::size_t>(value.shape.elements()),
                                            value.initial.value));
      }
      if (value.role != Role::kParameter) continue;
      std::vector<float> values(static_cast<std::size_t>(value.shape.elements()));
      // Away from 0, so that finite differences do not step over ReLU's corner too often.
      for (float& element : values) element = static_cast<float>(random.normal()) * 0.7F;
      parameters_[ValueId::from(i)] = values;
      compiled_->write(ValueId::from(i), values);
    }
    const Value& value = graph_.value(labels);
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(value.shape.elements()));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i % 3);
    device_.copy_blocking(stream_, compiled_->memory(labels),
                          {numbers.data(), MemoryKind::kPageable}, value.bytes(), 0);
  }

  double loss() {
    executor_->run(Phase::kForward, {});
    return compiled_->read(figures_)[0];
  }

  std::vector<float> gradient(ValueId parameter) {
    executor_->run(Phase::kForward, {});
    executor_->run(Phase::kBackward, {});
    return compiled_->read(gradients_.of(parameter));
  }

  /// Compares up to `most` elements of each parameter's gradient with central differences.
  void check(std::size_t most = 40) {
    for (auto& [id, values] : parameters_) {
      const std::vector<float> analytic = gradient(id);
      const std::size_t step = std::max<std::size_t>(1, values.size() / most);
      double largest = 1e-3;
      for (float g : analytic) largest = std::max<double>(largest, std::abs(g));
      std::size_t wrong = 0;
      std::size_t checked = 0;
      for (std::size_t i = 0; i < values.size(); i += step, ++checked) {
        const double slope = central_difference(id, values, i);
        if (std::abs(analytic[i] - slope) > 0.03 * largest) ++wrong;
      }
      CAPTURE(graph_.value(id).name);
      // A difference that crosses a corner of ReLU is off; that happens to few elements.
      CHECK(wrong * 20 <= checked);
    }
  }

  /// Along its own gradient g, the loss must change at the rate |g|: a check of all elements at
  /// once that corners of ReLU hardly disturb, for deep graphs.
  void check_along_gradients() {
    for (auto& [id, values] : parameters_) {
      const std::vector<float> g = gradient(id);
      double squares = 0;
      for (float element : g) squares += double{element} * element;
      const double length = std::sqrt(squares);
      CAPTURE(graph_.value(id).name);
      REQUIRE(length > 1e-4);
      auto at = [&](double distance) {
        std::vector<float> moved = values;
        for (std::size_t i = 0; i < g.size(); ++i)
          moved[i] += static_cast<float>(distance * g[i] / length);
        compiled_->write(id, moved);
        return loss();
      };
      constexpr double kStep = 5e-3;
      const double slope = (at(kStep) - at(-kStep)) / (2 * kStep);
      at(0);
      CHECK(slope == doctest::Approx(length).epsilon(0.04));
    }
  }

  const Graph& graph() const { return graph_; }

 private:
  double central_difference(ValueId id, std::vector<float>& values, std::size_t i) {
    constexpr float kStep = 1.5e-3F;
    const float kept = values[i];
    auto at = [&](float value) {
      values[i] = value;
      compiled_->write(id, values);
      return loss();
    };
    const double up = at(kept + kStep);
    const double down = at(kept - kStep);
    at(kept);
    return (up - down) / (2 * double{kStep});
  }

  HostDevice device_{{1, 0, 0}};
  StreamId stream_ = device_.create_stream("compute");
  Graph graph_;
  ValueId figures_;
  Gradients gradients_;
  std::unique_ptr<CompiledGraph> compiled_;
  std::map<ValueId, std::vector<float>> parameters_;
  std::unique_ptr<Executor> executor_;
};

ValueId parameter(Graph& graph, const std::string& name, Shape shape) {
  return ops::add_parameter(graph, name, std::move(shape), {});
}

ValueId labels_of(Graph& graph, std::int64_t rows) {
  Value labels;
  labels.name = "labels";
  labels.shape = {rows};
  labels.type = DataType::kInt32;
  labels.role = Role::kInput;
  return graph.add_value(std::move(labels));
}

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
