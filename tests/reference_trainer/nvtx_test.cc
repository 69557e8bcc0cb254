// SPDX-License-Identifier: MIT
// What an NVTX tool sees of a run, against the contract of common/nvtx_conventions.h.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/nvtx_conventions.h"
#include "reference_trainer/nvtx/emitter.h"
#include "tests/reference_trainer/nvtx_recorder.h"
#include "tests/reference_trainer/tiny_detector.h"
#include "tests/support/temporary_folder.h"

namespace headway::trainer {
namespace {

using conventions::DeviceCallKind;
using conventions::DeviceCallPayload;
using conventions::DeviceOpKind;
using conventions::DeviceOpPayload;
using conventions::GraphOpPayload;
using conventions::RangeKind;
using conventions::RangePayload;
using test::NvtxEvent;
using test::NvtxRecorder;

std::vector<NvtxEvent> record(const Settings& settings) {
  NvtxRecorder::start();
  test::train(settings);
  return NvtxRecorder::stop();
}

std::vector<NvtxEvent> ranges(const std::vector<NvtxEvent>& events, RangeKind kind) {
  std::vector<NvtxEvent> found;
  for (const NvtxEvent& event : events)
    if (event.schema == conventions::kRangeSchema &&
        event.as<RangePayload>().kind == static_cast<std::uint32_t>(kind))
      found.push_back(event);
  return found;
}

template <class Payload>
std::vector<std::pair<NvtxEvent, Payload>> all(const std::vector<NvtxEvent>& events,
                                               std::string_view schema) {
  std::vector<std::pair<NvtxEvent, Payload>> found;
  for (const NvtxEvent& event : events)
    if (event.schema == schema) found.emplace_back(event, event.as<Payload>());
  return found;
}

bool inside(const NvtxEvent& inner, const NvtxEvent& outer) {
  return inner.thread == outer.thread && inner.start_ns >= outer.start_ns &&
         inner.end_ns <= outer.end_ns;
}

bool is(std::uint32_t kind, DeviceCallKind wanted) {
  return kind == static_cast<std::uint32_t>(wanted);
}

}  // namespace

TEST_CASE("the schemas that the trainer registers are those of the conventions") {
  nvtx::Emitter::get();
  for (const conventions::Schema& schema : conventions::kSchemas) {
    const auto fields = NvtxRecorder::fields(std::string(schema.name));
    CHECK(fields.size() == schema.fields.size());
    for (const conventions::Field& field : schema.fields)
      CHECK(fields.at(std::string(field.name)) == field.offset);
  }
}

TEST_CASE("ranges balance on every thread") {
  for (const NvtxEvent& event : record(test::tiny_settings())) {
    CAPTURE(event.name);
    CHECK(event.end_ns >= event.start_ns);
    CHECK(!event.schema.empty());
  }
  CHECK(NvtxRecorder::unbalanced_pops() == 0);
}

TEST_CASE("each step has its phases, and each phase its ops") {
  const Settings settings = test::tiny_settings();
  const auto events = record(settings);
  const auto steps = ranges(events, RangeKind::kStep);
  REQUIRE(steps.size() == static_cast<std::size_t>(settings.steps));
  const std::size_t graph_size = all<GraphOpPayload>(events, conventions::kGraphOpSchema).size();
  std::set<std::int64_t> numbers;
  for (const NvtxEvent& step : steps) {
    numbers.insert(step.as<RangePayload>().step);
    std::set<std::uint32_t> phases;
    for (const NvtxEvent& phase : ranges(events, RangeKind::kPhase))
      if (inside(phase, step)) phases.insert(phase.as<RangePayload>().phase);
    CHECK(phases == std::set<std::uint32_t>{1, 2, 3, 4});
    std::size_t ops = 0;
    for (const NvtxEvent& op : ranges(events, RangeKind::kOp)) ops += inside(op, step);
    CHECK(ops == graph_size);
  }
  CHECK(numbers.size() == steps.size());
}

TEST_CASE("every op of the device has the call that enqueued it, which began before it") {
  Settings settings = test::tiny_settings();
  settings.fused_optimizer = OptimizerFusion::kOff;
  const auto events = record(settings);
  std::map<std::uint64_t, NvtxEvent> calls;
  for (const auto& [event, call] : all<DeviceCallPayload>(events, conventions::kDeviceCallSchema)) {
    if (call.correlation == 0) continue;
    CHECK(calls.emplace(call.correlation, event).second);
  }
  const auto ops = all<DeviceOpPayload>(events, conventions::kDeviceOpSchema);
  CHECK(ops.size() == calls.size());
  std::set<std::int64_t> described;
  for (const auto& [event, op] : all<GraphOpPayload>(events, conventions::kGraphOpSchema))
    described.insert(op.op);
  const auto host_ops = ranges(events, RangeKind::kOp);
  for (const auto& [event, op] : ops) {
    REQUIRE(calls.contains(op.correlation));
    const NvtxEvent& call = calls.at(op.correlation);
    CHECK(call.start_ns <= event.start_ns);
    CHECK(call.thread != event.thread);
    if (op.kind != static_cast<std::uint32_t>(DeviceOpKind::kKernel)) continue;
    CHECK(described.contains(op.op));
    CHECK(op.bytes > 0);
    CHECK(op.batch >= 0);
    CHECK(std::ranges::any_of(host_ops, [&](const NvtxEvent& host) {
      return inside(call, host) && host.as<RangePayload>().op == op.op;
    }));
  }
}

TEST_CASE("waits carry the id of a record that was made before") {
  const auto events = record(test::tiny_settings());
  std::map<std::uint64_t, std::int64_t> recorded;
  for (const auto& [event, call] : all<DeviceCallPayload>(events, conventions::kDeviceCallSchema))
    if (is(call.kind, DeviceCallKind::kEventRecord))
      CHECK(recorded.emplace(call.sync_id, event.start_ns).second);
  int waits = 0;
  for (const auto& [event, call] : all<DeviceCallPayload>(events, conventions::kDeviceCallSchema)) {
    const bool waits_for_event = is(call.kind, DeviceCallKind::kStreamWaitEvent) ||
                                 is(call.kind, DeviceCallKind::kEventSynchronize);
    if (!waits_for_event || call.sync_id == 0) continue;
    ++waits;
    REQUIRE(recorded.contains(call.sync_id));
    CHECK(recorded.at(call.sync_id) <= event.start_ns);
  }
  CHECK(waits > 10);
}

TEST_CASE("stages cover the making of each batch, on the workers and in order") {
  test::TemporaryFolder cache;
  Settings settings = test::tiny_settings();
  settings.source = SourceKind::kFiles;
  settings.cache_dir = cache.path().string();
  settings.workers = 2;
  settings.storage_latency_ms = 0.5;
  const auto events = record(settings);
  const auto batches = ranges(events, RangeKind::kBatch);
  REQUIRE(batches.size() == static_cast<std::size_t>(settings.steps));
  const auto names = NvtxRecorder::thread_names();
  double most_covered = 0;
  for (const NvtxEvent& batch : batches) {
    CHECK(names.at(batch.thread).starts_with("loader "));
    const std::int64_t id = batch.as<RangePayload>().batch;
    std::vector<NvtxEvent> stages;
    for (RangeKind kind :
         {RangeKind::kRead, RangeKind::kDecode, RangeKind::kAugment, RangeKind::kCollate})
      for (const NvtxEvent& stage : ranges(events, kind))
        if (stage.as<RangePayload>().batch == id) stages.push_back(stage);
    REQUIRE(stages.size() == 4);
    std::int64_t covered = 0;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      CHECK(inside(stages[i], batch));
      CHECK(stages[i].as<RangePayload>().bytes > 0);
      if (i > 0) CHECK(stages[i].start_ns >= stages[i - 1].end_ns);
      covered += stages[i].end_ns - stages[i].start_ns;
    }
    most_covered = std::max(most_covered, static_cast<double>(covered) /
                                              static_cast<double>(batch.end_ns - batch.start_ns));
  }
  // Eight files at two requests of 0.5 ms: the stages are nearly all of it, where nothing else on
  // the machine came between them.
  CHECK(most_covered > 0.9);
  for (const NvtxEvent& wait : ranges(events, RangeKind::kInputWait))
    CHECK(wait.as<RangePayload>().batch >= 0);
}

TEST_CASE("batches of images with boxes are made in the stages of SSD's pipeline, in order") {
  test::TemporaryFolder cache;
  Settings settings = test::tiny_detector(cache.path());
  settings.steps = 3;
  for (auto [assign, augment] : {std::pair{Assign::kLoader, true}, {Assign::kBatched, false}}) {
    settings.assign = assign;
    settings.augment = augment;
    const auto events = record(settings);
    std::vector<NvtxEvent> stages;
    for (const NvtxEvent& event : events)
      if (event.schema == conventions::kRangeSchema && event.as<RangePayload>().batch == 1 &&
          event.as<RangePayload>().kind >= static_cast<std::uint32_t>(RangeKind::kRead))
        stages.push_back(event);
    std::ranges::sort(stages, {}, &NvtxEvent::start_ns);
    std::vector<std::string> names;
    for (const NvtxEvent& stage : stages) {
      names.push_back(stage.name);
      CHECK(stage.as<RangePayload>().bytes > 0);
    }
    const std::vector<std::string> expected =
        augment ? std::vector<std::string>{"read",   "decode",    "crop",   "resize", "flip",
                                           "jitter", "normalise", "encode", "collate"}
                : std::vector<std::string>{"read", "decode", "resize", "normalise", "collate"};
    CHECK(names == expected);
  }
}

TEST_CASE("the run describes its device, streams, settings and graph once") {
  const auto events = record(test::tiny_settings());
  CHECK(all<conventions::DevicePayload>(events, conventions::kDeviceSchema).size() == 1);
  std::set<std::string> streams;
  for (const auto& [event, stream] :
       all<conventions::StreamPayload>(events, conventions::kStreamSchema))
    streams.insert(stream.name);
  CHECK(streams == std::set<std::string>{"compute", "copy"});
  std::map<std::string, int> types;
  for (const auto& [event, op] : all<GraphOpPayload>(events, conventions::kGraphOpSchema)) {
    ++types[op.type];
    CHECK(event.mark);
    CHECK(op.input_count <= conventions::kMaxGraphInputs);
    for (std::uint32_t i = 0; i < op.input_count; ++i) CHECK(op.inputs[i] < op.op);
    if (op.phase == static_cast<std::uint32_t>(Phase::kBackward)) CHECK(op.forward_op >= 0);
  }
  for (const char* type : {"conv2d", "bn_relu", "bn_add_relu", "batch_norm", "pool", "linear",
                           "softmax_cross_entropy", "sgd_momentum_multi_tensor"})
    CHECK(types[type] > 0);
}

TEST_CASE("copies say which memory they touch, and blocking waits are calls of their own") {
  Settings settings = test::tiny_settings();
  settings.h2d = CopyMode::kBlocking;
  settings.pinned = false;
  settings.sync.ops = 1;
  const auto events = record(settings);
  int blocking = 0;
  int synchronised = 0;
  for (const auto& [event, call] : all<DeviceCallPayload>(events, conventions::kDeviceCallSchema)) {
    blocking += is(call.kind, DeviceCallKind::kCopyBlocking);
    synchronised += is(call.kind, DeviceCallKind::kStreamSynchronize);
  }
  CHECK(blocking == 2 * settings.steps);
  const auto ops = all<GraphOpPayload>(events, conventions::kGraphOpSchema).size();
  CHECK(synchronised == static_cast<int>(ops) * settings.steps);
  for (const auto& [event, op] : all<DeviceOpPayload>(events, conventions::kDeviceOpSchema)) {
    if (op.kind != static_cast<std::uint32_t>(DeviceOpKind::kCopyHostToDevice)) continue;
    CHECK(op.source_memory == static_cast<std::uint32_t>(MemoryKind::kPageable));
    CHECK(op.destination_memory == static_cast<std::uint32_t>(MemoryKind::kDevice));
  }
}

}  // namespace headway::trainer
