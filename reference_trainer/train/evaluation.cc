// SPDX-License-Identifier: MIT
#include "reference_trainer/train/evaluation.h"

#include <algorithm>

#include "kernels/softmax_cross_entropy/op.h"
#include "reference_trainer/train/build_model.h"
#include "reference_trainer/train/parameters.h"

namespace headway::trainer {
namespace {

using kernels::LossFigures;

Model build_evaluation_model(const Settings& s, const TrainingData& data) {
  Model model = build_forward_model(s, data, false);
  std::vector<Node> nodes = model.graph.nodes();
  for (Node& node : nodes) node.phase = Phase::kEvaluation;
  model.graph.replace_nodes(std::move(nodes));
  return model;
}

}  // namespace

EvaluationResult evaluate_ready(const Settings& settings, Device& device, StreamId stream,
                                const TrainingData& data, const ReadyModel& ready,
                                const TrainerHooks& hooks) {
  const std::int64_t available = test_count(settings, data);
  const std::int64_t samples =
      settings.eval_samples > 0 ? std::min(settings.eval_samples, available) : available;
  const auto batches = open_test_batches(settings, device, data, samples);
  InputFeed feed(device, stream, *batches, ready.compiled, ready.model, CopyMode::kAsync, 4);
  const Memory figures = device.allocate(sizeof(LossFigures), MemoryKind::kPinned);
  const nvtx::Name name = nvtx::intern("evaluation");
  conventions::RangePayload payload;
  payload.kind = static_cast<std::uint32_t>(conventions::RangeKind::kPhase);
  payload.phase = static_cast<std::uint32_t>(Phase::kEvaluation);
  nvtx::Range range(name, payload);
  EvaluationResult result;
  double loss = 0;
  double correct = 0;
  double counted = 0;
  while (result.images < samples && !(hooks.stop && hooks.stop->load() != 0)) {
    const auto fed = feed.begin_step();
    if (!fed) break;
    ready.executor.run(ready.phase, {fed->slot, 0, fed->batch});
    device.copy_blocking(stream, figures.view(), ready.compiled.memory(ready.model.figures),
                         sizeof(LossFigures), fed->batch);
    feed.end_step(device.record(stream));
    const auto& got = *figures.as<const LossFigures>();
    loss += double{got.loss} * got.counted;
    correct += got.correct;
    counted += got.counted;
    result.images += fed->rows;
    hooks.on_evaluation(result.images, samples);
  }
  const double count = std::max<double>(1, counted);
  result.loss = loss / count;
  result.accuracy = correct / count;
  return result;
}

EvaluationResult evaluate(const Settings& settings, Device& device, StreamId stream,
                          const TrainingData& data, const TrainedModel& trained,
                          std::int64_t first_op_id, const TrainerHooks& hooks) {
  const Model model = build_evaluation_model(settings, data);
  CompileOptions compile;
  compile.first_op_id = first_op_id;
  compile.share_with = trained.shared;
  compile.raw_allocator = settings.raw_allocator;
  const auto compiled = device.compile(model.graph, compile);
  if (trained.gather) write_parameters(trained.gather(model.graph), model.graph, *compiled);
  publish_graph(model.graph, first_op_id);
  Executor executor(device, stream, model.graph, *compiled, first_op_id, {});
  return evaluate_ready(settings, device, stream, data, {model, *compiled, executor}, hooks);
}

}  // namespace headway::trainer
