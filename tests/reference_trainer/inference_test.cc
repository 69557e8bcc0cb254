// SPDX-License-Identifier: MIT
// Inference on the host: folded, fused and in narrow numbers it says what the plain graph says, within the rounding of the format.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "common/error.h"
#include "reference_trainer/data/random.h"
#include "reference_trainer/devices/host/processor.h"
#include "reference_trainer/ops/fused_products.h"
#include "reference_trainer/ops/op.h"
#include "reference_trainer/ops/support.h"
#include "reference_trainer/train/calibration.h"
#include "tests/reference_trainer/served.h"
#include "tests/support/temporary_folder.h"

namespace headway::trainer {
namespace {

using test::Served;
using test::tiny_inference;

int count(const Graph& graph, const OpDefinition& op) {
  return static_cast<int>(
      std::ranges::count(graph.nodes(), &op, [](const Node& node) { return node.op; }));
}

/// A value of a graph on the host after one pass over a batch of numbers and labels of zero.
std::vector<float> value_after_pass(const Model& model, const ParameterSet& parameters,
                                    ValueId wanted, bool tokens) {
  HostDevice device({1});
  const StreamId stream = device.create_stream("compute");
  const auto compiled = device.compile(model.graph, {.keep_activations = true});
  write_parameters(parameters, model.graph, *compiled);
  const std::int64_t elements = model.graph.value(model.images).shape.elements();
  if (tokens) {
    std::vector<std::int32_t> batch(static_cast<std::size_t>(elements));
    for (std::size_t i = 0; i < batch.size(); ++i) batch[i] = static_cast<std::int32_t>(i * 7 % 90);
    device.copy_blocking(stream, compiled->memory(model.images),
                         {batch.data(), MemoryKind::kPageable}, elements * 4, 0);
  } else {
    Random random(3);
    std::vector<float> batch(static_cast<std::size_t>(elements));
    for (float& pixel : batch) pixel = static_cast<float>(random.normal());
    device.copy_blocking(stream, compiled->memory(model.images),
                         {batch.data(), MemoryKind::kPageable}, elements * 4, 0);
  }
  Executor executor(device, stream, model.graph, *compiled, 0, {});
  executor.run(Phase::kForward, {});
  return compiled->read(wanted);
}

/// What the loss reads.
ValueId logits_of(const Model& model) {
  for (const Node& node : model.graph.nodes())
    if (node.op == &ops::kSoftmaxCrossEntropy) return node.inputs[0];
  return {};
}

std::vector<float> logits(const Settings& settings, const Served& served) {
  ParameterSet parameters = served.parameters;
  Model model = build_inference_model(settings, served.data.data(), parameters);
  Ranges ranges;
  if (settings.infer_precision == InferPrecision::kInt8)
    for (const ValueId value : quantised_values(model.graph))
      ranges[value] = largest_size(
          value_after_pass(model, parameters, value, settings.model != ModelKind::kResnet));
  lower_precision(model, settings, ranges, parameters, most_int8_weight());
  return value_after_pass(model, parameters, logits_of(model),
                          settings.model != ModelKind::kResnet);
}

/// Largest difference over the largest size.
double distance(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double size = 0;
  double difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    size = std::max<double>(size, std::abs(b[i]));
    difference = std::max<double>(difference, std::abs(a[i] - b[i]));
  }
  return difference / size;
}

Settings plain(Settings settings) {
  settings.fold_bn = settings.fused_epilogue = false;
  settings.infer_precision = InferPrecision::kFp32;
  return settings;
}

void check_outputs(ModelKind model) {
  Settings settings = tiny_inference(model);
  const Served served(settings);
  const std::vector<float> expected = logits(plain(settings), served);
  const std::pair<InferPrecision, double> kRounding[] = {{InferPrecision::kFp32, 1e-5},
                                                         {InferPrecision::kTf32, 0x1p-8},
                                                         {InferPrecision::kFp16, 0x1p-8},
                                                         {InferPrecision::kBf16, 0x1p-5},
                                                         {InferPrecision::kInt8, 0.08}};
  for (const auto& [precision, rounding] : kRounding) {
    CAPTURE(static_cast<int>(precision));
    settings.infer_precision = precision;
    const double off = distance(logits(settings, served), expected);
    CHECK(off < rounding);
    if (precision != InferPrecision::kFp32) CHECK(off > 1e-6);
  }
}

/// One product of integers with its epilogue, by the definition.
struct Integers {
  std::int64_t rows, inputs, outputs;
  std::vector<float> x, w, bias, residual;
  FusedProductAttributes by;

  float result(std::int64_t row, std::int64_t column) const {
    double sum = 0;
    for (std::int64_t k = 0; k < inputs; ++k)
      sum += static_cast<double>(x[static_cast<std::size_t>(row * inputs + k)]) *
             static_cast<double>(w[static_cast<std::size_t>(column * inputs + k)]);
    double v = sum * static_cast<double>(by.input_scale) *
                   static_cast<double>((*by.weight_scales)[static_cast<std::size_t>(column)]) +
               static_cast<double>(bias[static_cast<std::size_t>(column)]);
    if (by.residual) {
      const double scale = by.residual_scale > 0 ? static_cast<double>(by.residual_scale) : 1.0;
      v += scale * static_cast<double>(residual[static_cast<std::size_t>(row * outputs + column)]);
    }
    if (by.activation == Activation::kRelu) v = std::max(v, 0.0);
    if (by.activation == Activation::kGelu)
      v = v / (1 + std::exp(-v * (v * v * 0.0713548162726009 + 1.5957691216057308)));
    if (by.output_scale == 0) return static_cast<float>(v);
    return static_cast<float>(
        std::clamp(std::nearbyint(v / static_cast<double>(by.output_scale)), -127.0, 127.0));
  }
};

std::vector<float> random_integers(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = static_cast<float>(random.below(255)) - 127;
  return numbers;
}

void check_integers(FusedProductAttributes by) {
  Integers of{6, 12, 8, {}, {}, {}, {}, std::move(by)};
  of.x = random_integers(72, 1);
  of.w = random_integers(96, 2);
  const auto most = static_cast<float>(most_int8_weight());
  for (float& weight : of.w) weight = std::clamp(weight, -most, most);
  of.residual = random_integers(48, 3);
  for (int i = 0; i < 8; ++i) of.bias.push_back(static_cast<float>(i) * 0.1F - 0.3F);
  Graph graph;
  auto add = [&](const char* name, Shape shape, DataType type) {
    const ValueId id = ops::add_parameter(graph, name, std::move(shape), {});
    graph.value(id).type = type;
    return id;
  };
  const ValueId x = add("x", {of.rows, of.inputs}, DataType::kInt8);
  const ValueId w = add("w", {of.outputs, of.inputs}, DataType::kInt8);
  const ValueId bias = add("bias", {of.outputs}, DataType::kFloat32);
  std::vector<ValueId> inputs = {x, w, bias};
  ParameterSet set = {{"x", of.x}, {"w", of.w}, {"bias", of.bias}, {"residual", of.residual}};
  if (of.by.residual)
    inputs.push_back(add("residual", {of.rows, of.outputs},
                         of.by.residual_scale > 0 ? DataType::kInt8 : DataType::kFloat32));
  const ValueId y =
      ops::add_forward(graph, ops::kLinearFused, "product", inputs, {of.rows, of.outputs}, of.by);
  if (of.by.output_scale > 0) graph.value(y).type = DataType::kInt8;
  HostDevice device({1});
  const StreamId stream = device.create_stream("compute");
  const auto compiled = device.compile(graph, {.keep_activations = true});
  write_parameters(set, graph, *compiled);
  CHECK(compiled->read(w) == of.w);
  Executor executor(device, stream, graph, *compiled, 0, {});
  executor.run(Phase::kForward, {});
  const std::vector<float> got = compiled->read(y);
  for (std::int64_t row = 0; row < of.rows; ++row)
    for (std::int64_t column = 0; column < of.outputs; ++column) {
      const float expected = of.result(row, column);
      // Halves between two integers may go to either.
      const double within = of.by.output_scale > 0 ? 1 : 1e-4 * (1 + std::abs(expected));
      CHECK(std::abs(got[static_cast<std::size_t>(row * of.outputs + column)] - expected) <=
            within);
    }
}

}  // namespace

TEST_CASE(
    "batch norms become part of convolutions, sums and activations of the products before them") {
  const Settings settings = tiny_inference();
  const Served served(settings);
  ParameterSet parameters = served.parameters;
  const Model model = build_inference_model(settings, served.data.data(), parameters);
  for (const OpDefinition* gone : {&ops::kConv2d, &ops::kBatchNorm, &ops::kBnRelu, &ops::kBnAddRelu,
                                   &ops::kRelu, &ops::kAdd}) {
    CAPTURE(std::string(gone->type));
    CHECK(count(model.graph, *gone) == 0);
  }
  CHECK(count(model.graph, ops::kConv2dFused) == 9);
  int residuals = 0;
  for (const Node& node : model.graph.nodes())
    if (ops::is_fused_product(node)) residuals += ops::fused_product(node).residual;
  CHECK(residuals == 3);
}

TEST_CASE(
    "outputs of a residual network are those of the plain graph within the format's rounding") {
  check_outputs(ModelKind::kResnet);
}

TEST_CASE("so are those of a transformer") {
  check_outputs(ModelKind::kTransformer);
}

TEST_CASE("products of integers are exact up to the rounding of what they write") {
  FusedProductAttributes by;
  by.input_scale = 0.02F;
  by.weight_scales = std::make_shared<const std::vector<float>>(
      std::vector<float>{0.01F, 0.02F, 0.005F, 0.01F, 0.03F, 0.001F, 0.01F, 0.02F});
  SUBCASE("into floating point") {}
  SUBCASE("into integers after a ReLU") {
    by.activation = Activation::kRelu;
    by.output_scale = 0.25F;
  }
  SUBCASE("with a residual of integers") {
    by.residual = true;
    by.residual_scale = 0.1F;
    by.output_scale = 0.3F;
    by.activation = Activation::kRelu;
  }
  SUBCASE("with a residual in floating point") {
    by.residual = true;
    by.output_scale = 2;
  }
  SUBCASE("with a residual of integers into floating point, after a GELU") {
    by.residual = true;
    by.residual_scale = 0.1F;
    by.activation = Activation::kGelu;
  }
  SUBCASE("into integers after a GELU") {
    by.activation = Activation::kGelu;
    by.output_scale = 0.25F;
  }
  check_integers(by);
}

TEST_CASE(
    "values between products stay integers, and the first operand is padded to four channels") {
  Settings settings = tiny_inference();
  settings.infer_precision = InferPrecision::kInt8;
  const Served served(settings);
  HostDevice device({1});
  const Inference inference(settings, device, served.data.data(), served.parameters);
  const Graph& graph = inference.graph();
  CHECK(count(graph, ops::kQuantise) == 1);
  CHECK(graph.value(graph.find("images.int8")).shape.last() == 4);
  int integers = 0;
  for (const Node& node : graph.nodes())
    if (ops::is_fused_product(node))
      integers += graph.value(node.outputs[0]).type == DataType::kInt8;
  CHECK(integers == 8);  // all but the last convolution's, which the pool reads
  // What others were made of is gone: weights take a quarter of the memory.
  for (const Value& value : graph.values()) CHECK(value.name != "layer1.0.conv1.weight");
}

TEST_CASE("every way to calibrate keeps the accuracy of FP32 within 1.5 percent") {
  Settings settings = tiny_inference();
  settings.train_steps = 60;
  settings.samples = 2000;
  settings.calibration_samples = 128;
  settings.eval_samples = 0;
  settings.infer_precision = InferPrecision::kInt8;
  const Served served(settings);
  for (const Calibration method :
       {Calibration::kMax, Calibration::kEntropy, Calibration::kPercentile}) {
    CAPTURE(static_cast<int>(method));
    settings.calibration = method;
    const RunResult result = served.run(settings);
    REQUIRE(result.evaluation.has_value());
    REQUIRE(result.plain_evaluation.has_value());
    CHECK(result.evaluation->images == result.plain_evaluation->images);
    CHECK(result.evaluation->loss == doctest::Approx(result.plain_evaluation->loss).epsilon(0.03));
    CHECK(std::abs(result.evaluation->accuracy - result.plain_evaluation->accuracy) <= 0.015);
  }
}

TEST_CASE("calibration finds the range of a histogram") {
  std::vector<float> values;
  for (int i = 0; i < 100'000; ++i) values.push_back(static_cast<float>(i % 1000) * 0.001F);
  values.push_back(-50);  // one outlier
  SizeHistogram histogram(largest_size(values));
  histogram.add(values);
  CHECK(histogram.range(Calibration::kMax, 0) == 50);
  CHECK(histogram.range(Calibration::kPercentile, 99.9) == doctest::Approx(1).epsilon(0.03));
  CHECK(histogram.range(Calibration::kEntropy, 0) < 5);
  CHECK(histogram.range(Calibration::kEntropy, 0) >= 0.99F);
  CHECK(SizeHistogram(0).range(Calibration::kEntropy, 0) == 0);
}

TEST_CASE("a checkpoint gives inference what the training left") {
  const test::TemporaryFolder folder;
  Settings settings = tiny_inference();
  const Served served(settings);
  const Model forward = build_forward_model(settings, served.data.data(), false);
  write_checkpoint(folder / "run.safetensors", forward.graph, served.parameters);
  CHECK(read_checkpoint(folder / "run.safetensors") == served.parameters);
  settings.checkpoint = (folder / "run.safetensors").string();
  CHECK(Served(settings).parameters == served.parameters);
}

TEST_CASE("a checkpoint that is damaged or another model's is told") {
  const test::TemporaryFolder folder;
  Settings settings = tiny_inference();
  const Served served(settings);
  const auto path = folder / "run.safetensors";
  write_checkpoint(path, build_forward_model(settings, served.data.data(), false).graph,
                   served.parameters);
  settings.width = 16;
  HostDevice device({1});
  CHECK_THROWS_AS(Inference(settings, device, served.data.data(), read_checkpoint(path)), Error);
  for (const std::uintmax_t bytes : {0, 7, 20, 900}) {
    std::filesystem::resize_file(path, bytes);
    CAPTURE(bytes);
    CHECK_THROWS_AS(read_checkpoint(path), Error);
  }
  CHECK_THROWS_AS(read_checkpoint(folder / "missing"), Error);
  std::ofstream(path) << "{\"weights\": 1}, and so on";
  CHECK_THROWS_AS(read_checkpoint(path), Error);
}

}  // namespace headway::trainer
