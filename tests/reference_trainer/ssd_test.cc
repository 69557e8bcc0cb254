// SPDX-License-Identifier: MIT
// The detector: its maps, its loss and their gradients, and that no switch changes what it learns.
#include "reference_trainer/models/ssd.h"

#include <doctest/doctest.h>

#include "common/error.h"
#include "reference_trainer/passes/fuse_bn_relu.h"
#include "reference_trainer/passes/fuse_elementwise.h"
#include "tests/reference_trainer/checked_graph.h"
#include "tests/reference_trainer/recorded_curve.h"
#include "tests/reference_trainer/tiny_detector.h"
#include "tests/support/temporary_folder.h"

namespace headway::trainer {
namespace {

SsdOptions tiny_options() {
  SsdOptions options;
  options.batch = 3;
  options.size = 32;
  options.classes = 2;
  options.depth = 8;
  options.width = 8;
  return options;
}

/// Its images are parameters, which get values and gradients.
Model tiny_model() {
  Model model = build_ssd(tiny_options());
  model.graph.value(model.images).role = Role::kParameter;
  return model;
}

std::vector<float> losses(const Settings& settings) {
  std::vector<float> all;
  for (const StepRecord& step : test::train(settings).steps) all.push_back(*step.loss);
  return all;
}

void check_close(const std::vector<float>& a, const std::vector<float>& b, double tolerance) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(a[i] - b[i]) < tolerance);
  }
}

}  // namespace

TEST_CASE("the gradients of joined maps and of the detector's loss agree with differences") {
  for (bool on_processor : {false, true}) {
    Graph graph;
    // Two maps of a batch of three with 2 and 1 anchors a cell: 12 + 2 anchors an image.
    auto joined = [&](const std::string& name, std::int64_t columns) {
      return ops::join_maps(graph, name,
                            {parameter(graph, name + "0", {3, 3, 2, 2 * columns}),
                             parameter(graph, name + "1", {3, 1, 2, columns})},
                            columns);
    };
    const ValueId logarithms = ops::log_softmax(graph, "loss.log_softmax", joined("scores", 3));
    const ValueId offsets = joined("offsets", 4);
    const ValueId labels = labels_of(graph, 42);
    const ValueId targets = ops::add_state(graph, "targets", {42, 4}, 0.2F);
    const ValueId figures =
        ops::multibox_loss(graph, "loss", logarithms, offsets, {labels, targets}, 3, on_processor);
    Checked checked(std::move(graph), figures, labels, 3);
    CHECK(checked.loss() > 0.5);
    checked.check();
  }
}

TEST_CASE("a whole detector's gradients agree with differences along them") {
  Model model = tiny_model();
  CHECK(fuse_bn_add_relu(model.graph) == 3);
  CHECK(fuse_bn_relu(model.graph) == 6);
  Checked(std::move(model.graph), model.figures, model.labels, 5).check_along_gradients();
}

TEST_CASE("a fused detector, a compiled one and one in parts have the same loss and gradients") {
  auto checked = [](bool fused, bool compiled) {
    Model model = tiny_model();
    if (fused) {
      fuse_bn_add_relu(model.graph);
      fuse_bn_relu(model.graph);
    }
    return std::make_unique<Checked>(model.graph, model.figures, model.labels, 3,
                                     [compiled](Graph& graph) {
                                       if (compiled) CHECK(fuse_elementwise(graph) > 0);
                                     });
  };
  const auto plain = checked(false, false);
  for (const auto& other : {checked(true, false), checked(false, true)}) {
    CHECK(other->loss() == doctest::Approx(plain->loss()).epsilon(1e-4));
    for (ValueId id : plain->graph().parameters()) {
      CAPTURE(plain->graph().value(id).name);
      const std::vector<float> x = plain->gradient(id);
      const std::vector<float> y = other->gradient(id);
      double largest = 1e-6;
      double difference = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        largest = std::max<double>(largest, std::abs(x[i]));
        difference = std::max<double>(difference, std::abs(x[i] - y[i]));
      }
      CHECK(difference < 2e-3 * largest);
    }
  }
}

TEST_CASE(
    "300 pixels have the paper's 8732 anchors, and every size that can be asked for has maps") {
  for (auto [size, anchors] :
       {std::pair{32, 116}, {64, 500}, {96, 1120}, {128, 2036}, {224, 4722}, {300, 8732}}) {
    for (int depth : {8, 50}) {
      SsdOptions options = tiny_options();
      options.size = size;
      options.depth = depth;
      const Model model = build_ssd(options);
      CAPTURE(size);
      const Shape rows = model.graph.value(model.graph.find("classes")).shape;
      CHECK(rows[0] == 3 * anchors);
      CHECK(rows[1] == 3);
      CHECK(model.graph.value(model.labels).shape[0] == 3 * anchors);
    }
  }
}

TEST_CASE("who matches boxes, and where anchors are picked, changes no result") {
  test::TemporaryFolder cache;
  Settings settings = test::tiny_detector(cache.path());
  const std::vector<float> usual = losses(settings);
  for (Assign assign : {Assign::kBatched, Assign::kPerSample}) {
    settings.assign = assign;
    CHECK(losses(settings) == usual);
  }
  settings.coords_on_processor = true;
  CHECK(losses(settings) == usual);
  settings.workers = 0;
  settings.h2d = CopyMode::kBlocking;
  settings.pinned = false;
  CHECK(losses(settings) == usual);
}

TEST_CASE("SimOTA for the whole batch and image by image trains alike, to the bit") {
  test::TemporaryFolder cache;
  Settings settings = test::tiny_detector(cache.path());
  const std::vector<float> by_overlap = losses(settings);
  settings.matching = Matching::kSimota;
  settings.assign = Assign::kBatched;
  const std::vector<float> batched = losses(settings);
  CHECK(batched != by_overlap);
  settings.assign = Assign::kPerSample;
  CHECK(losses(settings) == batched);
  settings.coords_on_processor = true;
  CHECK(losses(settings) == batched);
}

TEST_CASE("no gradient passes through SimOTA, and its predictions get those of the loss alone") {
  SsdOptions options = tiny_options();
  options.matching = Matching::kSimota;
  options.assign = Assign::kBatched;
  options.boxes = 2;
  Model model = build_ssd(options);
  Graph& graph = model.graph;
  Gradients gradients(graph);
  gradients.run(model.figures);
  int assignments = 0;
  for (const Node& node : graph.nodes()) {
    if (node.op != &ops::kAssignSimota) continue;
    ++assignments;
    for (ValueId output : node.outputs) CHECK_FALSE(gradients.of(output).valid());
    // The predictions have gradients, from the loss alone.
    for (ValueId prediction : {node.inputs[2], node.inputs[3]}) {
      REQUIRE(gradients.of(prediction).valid());
      CHECK(graph.node(graph.value(gradients.of(prediction)).producer).op ==
            &ops::kMultiboxLossBackward);
    }
  }
  CHECK(assignments == 1);
}

TEST_CASE("fused and unfused detectors train to the same losses") {
  test::TemporaryFolder cache;
  Settings settings = test::tiny_detector(cache.path());
  const std::vector<float> usual = losses(settings);
  settings.graph_compiler = GraphCompiler::kOff;
  check_close(losses(settings), usual, 5e-2);
  settings.fused_bn = false;
  settings.fused_optimizer = OptimizerFusion::kOff;
  check_close(losses(settings), usual, 5e-2);
}

TEST_CASE("a detector with its convolutions on NCHW trains to the same losses") {
  test::TemporaryFolder cache;
  Settings settings = test::tiny_detector(cache.path());
  const std::vector<float> usual = losses(settings);
  settings.channels_first = true;
  check_close(losses(settings), usual, 5e-2);
}

TEST_CASE(
    "a detector per image has each kernel of its matching for each image, a batched one once") {
  HostDevice device({1, 0, 0});
  for (auto [per_sample, matching] : {std::pair{false, Matching::kOverlap},
                                      {true, Matching::kOverlap},
                                      {false, Matching::kSimota},
                                      {true, Matching::kSimota}}) {
    SsdOptions options = tiny_options();
    options.matching = matching;
    options.assign = per_sample ? Assign::kPerSample : Assign::kBatched;
    options.boxes = 2;
    options.pick_on_processor = per_sample;
    const Model model = build_ssd(options);
    const auto compiled = device.compile(model.graph, {});
    for (std::size_t i = 0; i < model.graph.node_count(); ++i) {
      const Node& node = model.graph.nodes()[i];
      const std::size_t kernels = compiled->kernels(NodeId::from(i)).size();
      if (node.op == &ops::kAssignBoxes) CHECK(kernels == (per_sample ? 9U : 3U));
      if (node.op == &ops::kAssignSimota) CHECK(kernels == (per_sample ? 15U : 5U));
      if (node.op == &ops::kPickAnchors) CHECK(kernels == (per_sample ? 0U : 2U));
    }
  }
}

TEST_CASE("the detector's loss curve on generated pictures is the recorded one, and it falls") {
  test::TemporaryFolder cache;
  Settings settings = test::tiny_detector(cache.path());
  settings.samples = 1000;
  settings.batch = 16;
  settings.steps = 120;
  settings.eval = true;
  settings.eval_samples = 64;
  const RunResult result = test::train(settings);
  test::check_curve(result, "ssd");
  CHECK(*result.final_loss() < 0.8 * *result.steps.front().loss);
  REQUIRE(result.evaluation);
  CHECK(result.evaluation->images == 64);
  CHECK(std::abs(result.evaluation->loss - *result.final_loss()) < 1.5);
}

TEST_CASE("a detector with SimOTA learns: its loss curve is the recorded one, and it falls") {
  test::TemporaryFolder cache;
  Settings settings = test::tiny_detector(cache.path());
  settings.samples = 1000;
  settings.batch = 16;
  settings.steps = 120;
  settings.matching = Matching::kSimota;
  settings.assign = Assign::kBatched;
  settings.eval = true;
  settings.eval_samples = 64;
  const RunResult result = test::train(settings);
  test::check_curve(result, "ssd_simota");
  CHECK(*result.final_loss() < 0.8 * *result.steps.front().loss);
  REQUIRE(result.evaluation);
  CHECK(std::abs(result.evaluation->loss - *result.final_loss()) < 1.5);
}

TEST_CASE("a detector in half precision ends near the one in full precision") {
  test::TemporaryFolder cache;
  Settings settings = test::tiny_detector(cache.path());
  settings.steps = 30;
  const std::vector<float> full = losses(settings);
  for (Precision precision : {Precision::kAmpO1, Precision::kAmpO2, Precision::kBf16}) {
    settings.precision = precision;
    const std::vector<float> half = losses(settings);
    CAPTURE(static_cast<int>(precision));
    CHECK(std::abs(half.back() - full.back()) < 0.1 * full.back());
    CHECK(half[3] != full[3]);
  }
}

}  // namespace headway::trainer
