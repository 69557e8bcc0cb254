// SPDX-License-Identifier: MIT
#include <algorithm>

#include "kernels/softmax_cross_entropy.h"
#include "reference_trainer/passes/fuse_bn_relu.h"
#include "reference_trainer/train/trainer.h"

namespace headway::trainer {
namespace {

using kernels::LossFigures;

Model build_evaluation_model(const Settings& s, const TrainingData& data) {
  ResnetOptions options;
  options.batch = s.batch;
  options.height = data.height;
  options.width_pixels = data.width;
  options.image_channels = data.channels;
  options.classes = data.classes;
  options.depth = static_cast<int>(s.depth);
  options.width = static_cast<int>(s.width);
  options.training = false;
  Model model = build_resnet(options);
  if (s.fused_bn) {
    fuse_bn_add_relu(model.graph);
    fuse_bn_relu(model.graph);
  }
  std::vector<Node> nodes = model.graph.nodes();
  for (Node& node : nodes) node.phase = Phase::kEvaluation;
  model.graph.replace_nodes(std::move(nodes));
  return model;
}

}  // namespace

EvaluationResult evaluate(const Settings& settings, Device& device, StreamId stream,
                          const TrainingData& data, const CompiledGraph& trained,
                          std::int64_t first_op_id, const TrainerHooks& hooks) {
  const Model model = build_evaluation_model(settings, data);
  CompileOptions compile;
  compile.first_op_id = first_op_id;
  compile.share_with = &trained;
  const auto compiled = device.compile(model.graph, compile);
  publish_graph(model.graph, first_op_id);
  Executor executor(device, stream, model.graph, *compiled, first_op_id, {});
  const std::int64_t available = data.test->count();
  const std::int64_t images =
      settings.eval_samples > 0 ? std::min(settings.eval_samples, available) : available;
  LoaderOptions options;
  options.batch = settings.batch;
  options.height = data.height;
  options.width = data.width;
  options.channels = data.channels;
  options.canvas_height = data.canvas_height;
  options.canvas_width = data.canvas_width;
  options.pictures.random = false;
  options.shuffle = false;
  options.keep_last = true;
  options.batches = (images + settings.batch - 1) / settings.batch;
  options.augmentation = {false, 0, data.statistics};
  Loader loader(*data.test, device, options);
  InputFeed feed(device, stream, loader, *compiled, model, CopyMode::kAsync, options.in_use);
  const Memory figures = device.allocate(sizeof(LossFigures), MemoryKind::kPinned);
  const nvtx::Name name = nvtx::intern("evaluation");
  conventions::RangePayload payload;
  payload.kind = static_cast<std::uint32_t>(conventions::RangeKind::kPhase);
  payload.phase = static_cast<std::uint32_t>(Phase::kEvaluation);
  nvtx::Range range(name, payload);
  EvaluationResult result;
  double loss = 0;
  double correct = 0;
  while (result.images < images && !(hooks.stop && hooks.stop->load() != 0)) {
    const auto fed = feed.begin_step();
    if (!fed) break;
    executor.run(Phase::kEvaluation, {fed->slot, 0, fed->batch});
    device.copy_blocking(stream, figures.view(), compiled->memory(model.figures),
                         sizeof(LossFigures), fed->batch);
    feed.end_step(device.record(stream));
    const auto& got = *figures.as<const LossFigures>();
    loss += double{got.loss} * got.counted;
    correct += got.correct;
    result.images += static_cast<std::int64_t>(got.counted);
    hooks.on_evaluation(result.images, images);
  }
  const double count = std::max<double>(1, static_cast<double>(result.images));
  result.loss = loss / count;
  result.accuracy = correct / count;
  return result;
}

}  // namespace headway::trainer
