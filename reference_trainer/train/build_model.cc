// SPDX-License-Identifier: MIT
#include "reference_trainer/train/build_model.h"

#include "common/error.h"
#include "reference_trainer/models/gnmt.h"
#include "reference_trainer/models/ssd.h"
#include "reference_trainer/models/transformer.h"
#include "reference_trainer/ops/autodiff.h"
#include "reference_trainer/ops/optimizer.h"
#include "reference_trainer/passes/apply_precision.h"
#include "reference_trainer/passes/assign_layout.h"
#include "reference_trainer/passes/cut_stages.h"
#include "reference_trainer/passes/drop_unused.h"
#include "reference_trainer/passes/fuse_attention.h"
#include "reference_trainer/passes/fuse_bias.h"
#include "reference_trainer/passes/fuse_bn_relu.h"
#include "reference_trainer/passes/fuse_elementwise.h"
#include "reference_trainer/passes/fuse_epilogues.h"
#include "reference_trainer/passes/fuse_layer_norm.h"
#include "reference_trainer/passes/fuse_loss.h"
#include "reference_trainer/passes/insert_zeros.h"
#include "reference_trainer/passes/recompute.h"
#include "reference_trainer/train/expert_load.h"
#include "reference_trainer/train/trainer.h"

namespace headway::trainer {
namespace {

Model resnet(const Settings& s, const TrainingData& data, bool training) {
  ResnetOptions options;
  options.batch = s.batch;
  options.height = data.height;
  options.width_pixels = data.width;
  options.image_channels = data.channels;
  options.classes = data.classes;
  options.depth = static_cast<int>(s.depth);
  options.width = static_cast<int>(s.width);
  options.training = training;
  return build_resnet(options);
}

/// Where no token is dropped, a device that computes needs room for all tokens at one expert. A
/// simulated device only needs the average; the load of each batch is applied separately.
double capacity_of(const Settings& s) {
  if (s.expert_capacity > 0) return s.expert_capacity;
  return s.device == DeviceKind::kSim
             ? 1
             : static_cast<double>(s.experts) / static_cast<double>(s.expert_choices);
}

Model transformer(const Settings& s, bool training, int rank,
                  TransformerPart part = TransformerPart::kWhole) {
  if (s.features % s.heads != 0)
    fail_usage("--features {} must be a multiple of --heads {}.", s.features, s.heads);
  if (s.window > 0 && s.sequence % s.window != 0)
    fail_usage("--sequence {} must be a multiple of --window {}.", s.sequence, s.window);
  TransformerOptions options;
  options.batch = s.batch;
  options.length = s.sequence;
  options.features = s.features;
  options.heads = s.heads;
  options.layers = s.layers;
  options.window = s.window;
  options.dropout = static_cast<float>(s.dropout);
  options.training = training;
  options.experts.count = s.experts;
  options.experts.choices = s.expert_choices;
  options.experts.capacity = capacity_of(s);
  if (s.expert_parallel) options.experts.ranks = s.ranks;
  options.experts.rank = rank;
  if (s.tensor_parallel) options.tensor = {s.ranks, rank, s.sequence_parallel};
  if (s.router_imbalance > 1)
    options.experts.favour = [load = ExpertLoad(s)](std::int64_t layer) {
      return load.favour(layer);
    };
  options.part = part;
  options.prompt = s.sequence - s.generate;
  return build_transformer(options);
}

Model gnmt(const Settings& s, bool training) {
  GnmtOptions options;
  options.batch = s.batch;
  options.length = s.sequence;
  options.features = s.features;
  options.layers = s.layers;
  options.dropout = static_cast<float>(s.dropout);
  options.persistent = s.persistent_rnn;
  options.training = training;
  return build_gnmt(options);
}

Model ssd(const Settings& s, const TrainingData& data, bool training) {
  SsdOptions options;
  options.batch = s.batch;
  options.size = data.height;
  options.classes = data.classes;
  options.depth = static_cast<int>(s.depth);
  options.width = static_cast<int>(s.width);
  options.matching = s.matching;
  options.assign = s.assign;
  options.boxes = box_places(data);
  options.pick_on_processor = s.coords_on_processor;
  options.training = training;
  return build_ssd(options);
}

Model build_plain_model(const Settings& s, const TrainingData& data, bool training, int rank = 0) {
  switch (s.model) {
    case ModelKind::kResnet:
      return resnet(s, data, training);
    case ModelKind::kTransformer:
      return transformer(s, training, rank);
    case ModelKind::kGnmt:
      return gnmt(s, training);
    case ModelKind::kSsd:
      return ssd(s, data, training);
  }
  return {};
}

void fuse(Graph& graph, const Settings& s) {
  if (s.fused_bn) {
    fuse_bn_add_relu(graph);
    fuse_bn_relu(graph);
  }
  if (s.fused_bias_act) {
    fuse_bias_gelu(graph);
    fuse_linear_bias(graph);
  }
  if (s.fused_ln) {
    fuse_layer_norm(graph);
    fuse_add_layer_norm(graph);
  }
  if (s.fused_attention) fuse_attention(graph);
  if (s.fused_loss) fuse_loss(graph);
}

bool trains_on_images(const Settings& s) {
  return s.model == ModelKind::kResnet || s.model == ModelKind::kSsd;
}

/// The training precision that corresponds to an inference format; INT8 uses FP16 around its
/// products.
Precision precision_around(InferPrecision precision) {
  switch (precision) {
    case InferPrecision::kFp32:
      return Precision::kFp32;
    case InferPrecision::kTf32:
      return Precision::kTf32;
    case InferPrecision::kBf16:
      return Precision::kBf16;
    case InferPrecision::kFp16:
    case InferPrecision::kInt8:
      return Precision::kAmpO2;
  }
  return Precision::kFp32;
}

/// Parameters are not updated, so they need no FP32 copy. The only states that are matrices are
/// caches.
void store_parameters(Graph& graph, kernels::NumberFormat format) {
  for (std::size_t i = 0; i < graph.value_count(); ++i) {
    Value& value = graph.value(ValueId::from(i));
    if ((value.role == Role::kParameter || value.role == Role::kState) &&
        value.type == DataType::kFloat32 && value.shape.rank() >= 2)
      value.stored = format;
  }
}

/// Deep gradient compression itself keeps the momentum.
float optimizer_momentum(const Settings& s) {
  const bool local = s.ranks > 1 && s.compress == Compression::kDgc;
  return local ? 0.0F : static_cast<float>(s.momentum);
}

}  // namespace

Model build_forward_model(const Settings& s, const TrainingData& data, bool training, int rank) {
  Model model = build_plain_model(s, data, training, rank);
  // A simulated stage sends the largest tensor that leaves it; real stages need a border.
  if (training && s.pipeline != PipelineSchedule::kOff && s.device != DeviceKind::kSim)
    cut_stages(model.graph, static_cast<int>(s.ranks));
  fuse(model.graph, s);
  if (s.channels_first) assign_channels_first(model.graph);
  return model;
}

Model build_inference_model(const Settings& s, const TrainingData& data, ParameterSet& parameters) {
  Model model = build_plain_model(s, data, false);
  if (s.fold_bn) fold_batch_norm(model.graph, parameters);
  if (s.fused_epilogue) fuse_epilogues(model.graph);
  if (s.infer_precision == InferPrecision::kInt8) fuse_products(model.graph, parameters);
  fuse(model.graph, s);
  if (s.channels_first) assign_channels_first(model.graph);
  return model;
}

Model build_generation_part(const Settings& s, TransformerPart part) {
  Model model = transformer(s, false, 0, part);
  ParameterSet none;
  if (s.fused_epilogue) fuse_epilogues(model.graph);
  fuse(model.graph, s);
  lower_precision(model, s, {}, none);
  return model;
}

void lower_precision(Model& model, const Settings& s, const Ranges& ranges,
                     ParameterSet& parameters, int most_weight) {
  if (s.infer_precision == InferPrecision::kInt8)
    quantise(model.graph, ranges, parameters, most_weight);
  const Precision precision = precision_around(s.infer_precision);
  const bool plain = precision == Precision::kTf32 && s.tf32_forbidden;
  apply_precision(model.graph, plain ? Precision::kFp32 : precision, ValueId::none());
  store_parameters(model.graph, parameter_format(precision));
  if (s.graph_compiler != GraphCompiler::kOff) fuse_elementwise(model.graph);
  drop_unused(model);
}

Model build_training_model(const Settings& s, const TrainingData& data, GradientPairs& pairs,
                           int rank) {
  Model model = build_forward_model(s, data, true, rank);
  Gradients gradients(model.graph);
  gradients.run(model.figures);
  for (ValueId parameter : model.graph.parameters())
    if (const ValueId gradient = gradients.of(parameter); gradient.valid())
      pairs.emplace_back(parameter, gradient);
  OptimizerAttributes optimizer;
  optimizer.kind = optimizer_of(s);
  optimizer.fusion = s.fused_optimizer;
  optimizer.momentum = optimizer_momentum(s);
  optimizer.decay = static_cast<float>(s.weight_decay);
  optimizer.format = parameter_format(s.precision);
  optimizer.loss_scale = needs_loss_scale(s.precision);
  const ValueId state = optimizer.has_state() ? add_optimizer_state(model.graph) : ValueId::none();
  if (s.slow_dgrad) insert_zeros(model.graph);
  const bool plain = s.precision == Precision::kTf32 && s.tf32_forbidden;
  apply_precision(model.graph, plain ? Precision::kFp32 : s.precision, state);
  if (s.recompute) recompute_blocks(model.graph);
  add_optimizer(model.graph, gradients, optimizer);
  if (s.graph_compiler != GraphCompiler::kOff) fuse_elementwise(model.graph);
  return model;
}

OptimizerKind optimizer_of(const Settings& s) {
  switch (s.optimizer) {
    case OptimizerChoice::kAuto:
      return trains_on_images(s) ? OptimizerKind::kSgd : OptimizerKind::kAdam;
    case OptimizerChoice::kSgd:
      return OptimizerKind::kSgd;
    case OptimizerChoice::kAdam:
      return OptimizerKind::kAdam;
    case OptimizerChoice::kLamb:
      return OptimizerKind::kLamb;
    case OptimizerChoice::kLars:
      return OptimizerKind::kLars;
  }
  return OptimizerKind::kSgd;
}

float learning_rate_of(const Settings& s) {
  if (s.learning_rate > 0) return static_cast<float>(s.learning_rate);
  switch (optimizer_of(s)) {
    case OptimizerKind::kSgd:
      // For each matched anchor, a detector's loss is a sum over four anchors and their offsets.
      return s.model == ModelKind::kSsd ? 0.01F : 0.05F;
    case OptimizerKind::kAdam:
      return 2e-3F;
    case OptimizerKind::kLamb:
      return 0.01F;
    case OptimizerKind::kLars:
      return 10.0F;  // includes the trust coefficient of 0.001
  }
  return 0;
}

const char* samples_word(const Settings& s) {
  if (s.generate > 0) return "tokens";
  return trains_on_images(s) ? "images" : "sequences";
}

}  // namespace headway::trainer
