// SPDX-License-Identifier: MIT
// Whole simulated runs: deterministic, and each preset's bottleneck is there and goes when it is
// switched off.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "common/error.h"
#include "reference_trainer/devices/host/host_device.h"
#include "reference_trainer/devices/sim/sim_device.h"
#include "reference_trainer/devices/sim/simulated_run.h"
#include "reference_trainer/oracle/step_truth.h"
#include "reference_trainer/switches/switches.h"
#include "reference_trainer/train/build_model.h"
#include "tests/reference_trainer/simulated_data.h"

namespace headway::trainer {
namespace {

sim::SimulatedRun simulate(const Settings& settings, bool record = true) {
  test::SimulatedData data(settings);
  return sim::simulate(settings, data.data(), {record, record}, {});
}

Settings of_preset(const Preset& preset) {
  EffectiveSettings settings;
  settings.apply("device", "sim");
  settings.apply(preset, DeviceKind::kSim);
  Settings values = settings.values();
  values.device = DeviceKind::kSim;
  values.steps = test::enough_steps(preset);
  return values;
}

Settings without_planted(const Preset& preset) {
  EffectiveSettings settings;
  settings.apply(preset, DeviceKind::kSim);
  Settings values = settings.without_planted().value();
  values.device = DeviceKind::kSim;
  values.steps = test::enough_steps(preset);
  return values;
}

/// Mean share of each class in the steps after the fifth, over all ranks.
std::map<TruthClass, double> shares(const sim::SimulatedRun& run, const Settings& settings) {
  std::map<TruthClass, double> result;
  double whole = 0;
  for (const sim::Recording& recording : run.recordings)
    for (const StepTruth& step : step_truths(recording, with_micro_batches(settings).accumulate,
                                             run.gpu.costs->launch_latency_ns)) {
      if (step.step < 5) continue;
      whole += static_cast<double>(step.end - step.start);
      for (std::size_t i = 0; i < kTruthClasses; ++i)
        result[static_cast<TruthClass>(i)] += static_cast<double>(step.ns[i]);
    }
  for (auto& [truth, ns] : result) ns /= whole;
  return result;
}

}  // namespace

TEST_CASE("the same settings give the same simulated run, to the nanosecond") {
  Settings settings = of_preset(find_preset("comm-exposed"));
  settings.jitter = 0.1;
  const sim::SimulatedRun one = simulate(settings);
  const sim::SimulatedRun two = simulate(settings);
  REQUIRE(one.recordings.size() == 4);
  for (std::size_t rank = 0; rank < one.recordings.size(); ++rank) {
    const auto& a = one.recordings[rank];
    const auto& b = two.recordings[rank];
    REQUIRE(a.ops.size() == b.ops.size());
    for (std::size_t i = 0; i < a.ops.size(); ++i) {
      CHECK(a.ops[i].start == b.ops[i].start);
      CHECK(a.ops[i].end == b.ops[i].end);
    }
    CHECK(a.end == b.end);
    CHECK(a.edges.size() == b.edges.size());
  }
  settings.seed = 2;
  CHECK(simulate(settings).recordings[0].end != one.recordings[0].end);
}

TEST_CASE("the true time by cause sums to every step, in every preset") {
  for (const Preset& preset : all_presets()) {
    CAPTURE(preset.name);
    const Settings settings = of_preset(preset);
    const sim::SimulatedRun run = simulate(settings);
    for (const sim::Recording& recording : run.recordings) {
      const auto steps = step_truths(recording, with_micro_batches(settings).accumulate,
                                     run.gpu.costs->launch_latency_ns);
      REQUIRE(steps.size() == static_cast<std::size_t>(settings.steps - 1));
      for (const StepTruth& step : steps)
        CHECK(std::accumulate(step.ns.begin(), step.ns.end(), std::int64_t{0}) ==
              step.end - step.start);
    }
  }
}

TEST_CASE("every op starts after all that it depends on, and right after one of them") {
  const sim::SimulatedRun run = simulate(of_preset(find_preset("comm-not-overlapped")));
  for (const sim::Recording& recording : run.recordings) {
    std::map<std::uint64_t, const sim::Op*> ops;
    std::map<std::uint64_t, const sim::Call*> calls;
    for (const sim::Op& op : recording.ops) ops[op.correlation] = &op;
    for (const sim::Call& call : recording.calls) calls[call.correlation] = &call;
    std::map<std::uint64_t, std::int64_t> earliest;
    for (const sim::Edge& edge : recording.edges) {
      std::int64_t from = 0;
      switch (edge.kind) {
        case sim::EdgeKind::kLaunch:
          from = calls.at(edge.from)->start;
          break;
        case sim::EdgeKind::kStream:
        case sim::EdgeKind::kEvent:
        case sim::EdgeKind::kEngine:
          from = ops.at(edge.from)->end;
          break;
        case sim::EdgeKind::kSync:
          CHECK(calls.at(edge.to)->end >= ops.at(edge.from)->end);
          continue;
        default:
          continue;
      }
      auto& bound = earliest[edge.to];
      bound = std::max(bound, from + edge.lag);
    }
    for (const auto& [correlation, op] : ops) CHECK(op->start == earliest.at(correlation));
  }
}

TEST_CASE("batches of sentences of like length take less, and all ranks as long as each other") {
  Settings settings = of_preset(find_preset("uneven-batches"));
  auto busy = [&](const sim::Recording& recording, std::int64_t step) {
    std::int64_t sum = 0;
    for (const sim::Op& op : recording.ops)
      if (op.batch == step && op.kind == sim::DeviceOpKind::kKernel) sum += op.end - op.start;
    return static_cast<double>(sum);
  };
  auto spread = [&](const sim::SimulatedRun& run) {
    double most = 0;
    for (std::int64_t step = 5; step < 15; ++step) {
      const double one = busy(run.recordings[0], step);
      const double other = busy(run.recordings[1], step);
      most = std::max(most, std::abs(one - other) / one);
    }
    return most;
  };
  settings.balance = Balance::kRandom;
  const sim::SimulatedRun random = simulate(settings);
  settings.balance = Balance::kSorted;
  const sim::SimulatedRun sorted = simulate(settings);
  CHECK(sorted.result.mean_step_s() < 0.95 * random.result.mean_step_s());
  CHECK(spread(random) > 0.1);
  CHECK(spread(sorted) < 0.05);
}

TEST_CASE("each preset of a rule loses clearly by what it plants, and is healthy without it") {
  for (const Preset& preset : all_presets()) {
    // What is lost before the first step is in no step.
    if (preset.rule.empty() || preset.rule == "long-startup") continue;
    CAPTURE(preset.name);
    auto of_sample = [](const Settings& settings) {
      const RunResult result = simulate(settings, false).result;
      return result.mean_step_s() / static_cast<double>(result.samples_per_step);
    };
    CHECK(of_sample(of_preset(preset)) > 1.05 * of_sample(without_planted(preset)));
  }
}

TEST_CASE("what a preset plants shows in the true time of its cause, and goes with it") {
  struct Cause {
    const char* preset;
    std::vector<TruthClass> classes;
  };
  using enum TruthClass;
  const std::vector<Cause> causes = {
      {"input-bound", {kIoRead, kDecode, kInputOther}},
      {"small-files", {kIoRead}},
      {"slow-storage", {kIoRead}},
      {"workers-starved", {kIoRead, kDecode, kInputOther}},
      {"step-outlier", {kInputOther}},
      {"host-pauses", {kHostOther}},
      {"evaluation-time", {kHostOther}},
      {"checkpoint-time", {kHostOther}},
      {"logging-time", {kHostOther}},
      {"garbage-collection", {kHostOther}},
      {"loader-restart", {kHostOther}},
      {"host-bound", {kHostOther}},
      {"step-growth", {kHostOther}},
      {"launch-bound", {kLaunchGap}},
      {"kernel-gaps", {kFrontendGap}},
      {"host-sync", {kHostSync, kLaunchGap}},
      {"allocator", {kAllocator}},
      {"copy-not-overlapped", {kH2d}},
      {"comm-exposed", {kCommTransfer}},
      {"comm-not-overlapped", {kCommTransfer}},
      {"comm-too-small", {kCommTransfer}},
      {"comm-each-batch", {kCommTransfer}},
      {"comm-slow-link", {kCommTransfer}},
      {"straggler", {kStragglerWait, kHostOther}},
      {"late-all-gather", {kCommTransfer}},
      {"pipeline-bubble", {kStragglerWait}},
      {"expert-imbalance", {kStragglerWait}},
  };
  for (const Cause& cause : causes) {
    CAPTURE(std::string(cause.preset));
    const Preset& preset = find_preset(cause.preset);
    auto share = [&](const Settings& settings) {
      const auto all = shares(simulate(settings), settings);
      double sum = 0;
      for (TruthClass each : cause.classes) sum += all.at(each);
      return sum;
    };
    const double with_share = share(of_preset(preset));
    const double without_share = share(without_planted(preset));
    CAPTURE(with_share);
    CAPTURE(without_share);
    CHECK(with_share > 0.05);
    CHECK(without_share < 0.5 * with_share);
  }
}

TEST_CASE("a healthy simulated run computes nearly all the time") {
  const Settings settings = of_preset(find_preset("healthy"));
  const auto all = shares(simulate(settings), settings);
  CHECK(all.at(TruthClass::kCompute) + all.at(TruthClass::kOptimizer) > 0.95);
}

TEST_CASE("a simulated GPU runs the kernels that the host runs, whatever the switches say") {
  struct Case {
    const char* model;
    std::vector<std::pair<const char*, const char*>> switches;
  };
  const std::vector<Case> cases = {
      {"resnet", {}},
      {"resnet", {{"fused_bn", "off"}, {"fused_optimizer", "off"}, {"optimizer", "lars"}}},
      {"resnet", {{"fused_optimizer", "off"}, {"precision", "amp-o2"}}},
      {"resnet", {{"layout", "nchw"}, {"precision", "amp-o1"}}},
      {"transformer", {}},
      {"transformer", {{"fused_attention", "off"}, {"fused_ln", "off"}, {"graph_compiler", "off"}}},
      {"transformer", {{"fused_optimizer", "off"}, {"window", "16"}, {"fused_loss", "off"}}},
      {"transformer", {{"optimizer", "lamb"}, {"precision", "amp-o1"}}},
      {"transformer", {{"experts", "4"}, {"expert_choices", "2"}}},
      {"gnmt", {}},
      {"gnmt", {{"rnn", "standard"}, {"fused_optimizer", "parameter"}}},
      {"ssd", {{"depth", "8"}}},
      {"ssd", {{"depth", "8"}, {"assign", "batched"}, {"precision", "amp-o2"}}},
      {"ssd", {{"depth", "8"}, {"assign", "batched"}, {"matching", "simota"}}},
      {"ssd", {{"depth", "8"}, {"assign", "per-sample"}, {"matching", "simota"}}},
      {"ssd",
       {{"depth", "8"},
        {"assign", "per-sample"},
        {"coords", "host-round-trip"},
        {"fused_bn", "off"}}},
  };
  for (const Case& one : cases) {
    EffectiveSettings settings;
    for (auto [name, value] : std::vector<std::pair<const char*, const char*>>{{"model", one.model},
                                                                               {"layers", "1"},
                                                                               {"features", "16"},
                                                                               {"sequence", "32"},
                                                                               {"batch", "2"},
                                                                               {"heads", "2"}})
      settings.apply(name, value);
    for (auto [name, value] : one.switches) settings.apply(name, value);
    test::SimulatedData data(settings.values());
    GradientPairs gradients;
    const Model model = build_training_model(settings.values(), data.data(), gradients);
    HostDevice host({1, 0, 0});
    const auto on_host = host.compile(model.graph, {});
    sim::SimWorld world(1, LinkModel{});
    sim::SimOptions options;
    options.gpu = sim::find_simulated_gpu("h200");
    sim::SimDevice gpu(options, world);
    const auto on_gpu = gpu.compile(model.graph, {});
    for (std::size_t i = 0; i < model.graph.node_count(); ++i) {
      const auto expected = on_host->kernels(NodeId::from(i));
      const auto got = on_gpu->kernels(NodeId::from(i));
      CAPTURE(model.graph.node(NodeId::from(i)).name);
      REQUIRE(got.size() == expected.size());
      for (std::size_t k = 0; k < got.size(); ++k) {
        CHECK(got[k]->tag().text == expected[k]->tag().text);
        CHECK(got[k]->tag().work.flops == expected[k]->tag().work.flops);
        CHECK(got[k]->tag().work.bytes <= expected[k]->tag().work.bytes);
      }
    }
  }
}

TEST_CASE("half precision makes a simulated step shorter, and TF32 its matrix products") {
  Settings settings = of_preset(find_preset("healthy"));
  settings.model = ModelKind::kTransformer;
  settings.features = 512;
  settings.batch = 64;
  auto mean_s = [&](Precision precision) {
    settings.precision = precision;
    return simulate(settings, false).result.mean_step_s();
  };
  const double fp32 = mean_s(Precision::kFp32);
  const double tf32 = mean_s(Precision::kTf32);
  const double bf16 = mean_s(Precision::kBf16);
  CHECK(tf32 < 0.8 * fp32);
  CHECK(bf16 < 0.9 * tf32);
}

TEST_CASE("memory that comes and goes costs ranks, too, and changes nothing else they do") {
  Settings settings = of_preset(find_preset("comm-exposed"));
  settings.steps = 8;
  const sim::SimulatedRun planned = simulate(settings);
  settings.raw_allocator = true;
  const sim::SimulatedRun raw = simulate(settings);
  CHECK(raw.result.mean_step_s() > planned.result.mean_step_s());
  for (std::size_t rank = 0; rank < raw.recordings.size(); ++rank) {
    CHECK(raw.recordings[rank].ops.size() == planned.recordings[rank].ops.size());
    std::map<conventions::DeviceCallKind, int> calls;
    std::int64_t held = 0;
    for (const sim::Call& call : raw.recordings[rank].calls) {
      ++calls[call.kind];
      if (call.kind == sim::DeviceCallKind::kFree) held -= call.bytes;
    }
    std::int64_t lasting = 0;
    for (const sim::Call& call : planned.recordings[rank].calls)
      lasting += call.kind == sim::DeviceCallKind::kAllocate ? call.bytes : 0;
    for (const sim::Call& call : raw.recordings[rank].calls)
      held += call.kind == sim::DeviceCallKind::kAllocate ? call.bytes : 0;
    CHECK(held == lasting);
    CHECK(calls[sim::DeviceCallKind::kFree] > 8 * 50);
  }
}

TEST_CASE("more ranks than data is refused by name") {
  Settings settings = of_preset(find_preset("healthy"));
  settings.ranks = 64;
  CHECK_THROWS_WITH_AS(simulate(settings, false), doctest::Contains("64 ranks"), Error);
}

/// Batches of 102 400 bytes from storage that answers after 1 ms, 10 MB/s for each reader; reading is all that takes time.
double reading_step_ns(double shard_mb, ShardRead how, bool split = true, std::int64_t ranks = 1) {
  Settings settings;
  settings.device = DeviceKind::kSim;
  settings.batch = 256;
  settings.depth = 8;
  settings.width = 8;
  settings.steps = 64;
  settings.eval = false;
  settings.storage = StorageKind::kObjectStore;
  settings.shard_mb = shard_mb;
  settings.shard_read = how;
  settings.shard_split = split;
  settings.ranks = ranks;
  const sim::SimulatedRun run = simulate(settings);
  const auto& files = run.recordings.front().files;
  REQUIRE(!files.empty());
  double sum = 0;
  for (const auto& file : files) sum += static_cast<double>(file.end - file.start);
  return sum / 64;
}

TEST_CASE(
    "larger shards take fewer requests, whole or streamed, and ranks without shards of their own "
    "read all") {
  for (const ShardRead how : {ShardRead::kFile, ShardRead::kStream}) {
    const double small = reading_step_ns(0.05, how);  // two and more a batch
    const double large = reading_step_ns(0.4, how);   // one for four batches
    CHECK(small > 3 * 75e6);
    CHECK(large < 0.25 * small);
  }
  CHECK(reading_step_ns(0.4, ShardRead::kStream, false, 4) >
        3.5 * reading_step_ns(0.4, ShardRead::kStream, true, 4));
}

TEST_CASE("more workers than fit into the host's memory are refused by name") {
  Settings settings = of_preset(find_preset("healthy"));
  settings.shard_mb = 128;
  settings.shard_read = ShardRead::kFile;
  settings.host_memory_gb = 1;
  settings.workers = 4;
  simulate(settings, false);
  settings.workers = 16;
  CHECK_THROWS_WITH_AS(simulate(settings, false), doctest::Contains("enough for 7 workers"), Error);
}

}  // namespace headway::trainer
