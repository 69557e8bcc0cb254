// SPDX-License-Identifier: MIT
// Ranks that share a model, in simulation: what is exposed, what is idle, and what it saves.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>

#include "common/error.h"
#include "reference_trainer/comm/parameter_shards.h"
#include "reference_trainer/comm/ranks.h"
#include "reference_trainer/devices/sim/simulated_run.h"
#include "reference_trainer/graph/unit_name.h"
#include "reference_trainer/switches/switches.h"
#include "reference_trainer/train/expert_load.h"
#include "reference_trainer/train/pipeline.h"
#include "tests/reference_trainer/simulated_data.h"

namespace headway::trainer {
namespace {

Settings transformer(int ranks) {
  EffectiveSettings settings;
  for (const auto& [name, value] : {std::pair{"device", "sim"},
                                    {"model", "transformer"},
                                    {"data", "generated"},
                                    {"layers", "8"},
                                    {"features", "1024"},
                                    {"heads", "16"},
                                    {"sequence", "512"},
                                    {"batch", "32"},
                                    {"precision", "bf16"},
                                    {"eval", "off"},
                                    {"steps", "12"}})
    settings.apply(name, value);
  Settings values = settings.values();
  values.ranks = ranks;
  return values;
}

sim::SimulatedRun simulate(const Settings& settings) {
  test::SimulatedData data(settings);
  return sim::simulate(settings, data.data(), {true, false}, {});
}

std::map<std::string, int> kinds_per_step(const sim::Recording& recording, std::int64_t steps) {
  std::map<std::string, int> count;
  for (const sim::CollectiveRecord& one : recording.collectives) ++count[one.kind];
  for (auto& [kind, number] : count) number /= static_cast<int>(steps);
  return count;
}

}  // namespace

TEST_CASE("tokens go to experts and back once in each direction of each block") {
  Settings settings = transformer(4);
  settings.layers = 3;
  settings.experts = 8;
  settings.expert_parallel = true;
  const sim::SimulatedRun run = simulate(settings);
  for (const sim::Recording& recording : run.recordings) {
    const auto kinds = kinds_per_step(recording, settings.steps);
    CHECK(kinds.at("alltoall") == 3 * 4);
    CHECK(kinds.at("allreduce") > 0);  // of what all ranks have
  }
  // Experts of all ranks together are the model's: each rank has a quarter of them, gradients and state included.
  settings.expert_parallel = false;
  CHECK(run.recordings[0].memory_bytes < simulate(settings).recordings[0].memory_bytes);
}

TEST_CASE("a rank's experts compute what the router sends them, and all others wait for it") {
  Settings settings = transformer(4);
  settings.experts = 4;
  settings.expert_parallel = true;
  const double even = simulate(settings).result.mean_step_s();
  settings.router_imbalance = 3;
  CHECK(simulate(settings).result.mean_step_s() > 1.3 * even);
  // Where all places are computed, whoever fills them, nobody waits.
  settings.expert_capacity = 1;
  CHECK(simulate(settings).result.mean_step_s() == doctest::Approx(even).epsilon(0.02));
}

TEST_CASE(
    "loads of ranks are the mean on average, the same for whoever asks, and at most all there is") {
  Settings settings = transformer(4);
  settings.experts = 8;
  settings.expert_choices = 2;
  settings.expert_parallel = true;
  settings.router_imbalance =
      100;  // no token chooses an expert twice, so four times the mean at most
  ExpertLoad one(settings);
  ExpertLoad other(settings);
  for (std::int64_t layer = 0; layer < 3; ++layer) {
    double sum = 0;
    for (std::int64_t rank = 0; rank < 4; ++rank) {
      const double load = one.of_rank(rank, layer, 5);
      CHECK(load == other.of_rank(rank, layer, 5));
      sum += load;
    }
    CHECK(sum == doctest::Approx(4));
    CHECK(one.most(layer, 5) <= 4);
    CHECK(std::ranges::max(one.favour(layer)) == doctest::Approx(4).epsilon(0.01));
    CHECK(one.most(layer, 5) != one.most(layer, 6));
  }
}

TEST_CASE("ranks that share each layer sum its activations twice a block in each direction") {
  Settings settings = transformer(4);
  settings.tensor_parallel = true;
  const sim::SimulatedRun whole = simulate(settings);
  settings.sequence_parallel = true;
  const sim::SimulatedRun by_tokens = simulate(settings);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    CHECK(kinds_per_step(whole.recordings[rank], settings.steps) ==
          std::map<std::string, int>{{"allreduce", 4 * 8}});
    // At the ends of the blocks, tokens are dealt out and joined; the gradients of norms are summed up.
    const auto kinds = kinds_per_step(by_tokens.recordings[rank], settings.steps);
    CHECK(kinds.at("allgather") == 4 * 8 + 2);
    CHECK(kinds.at("reducescatter") == 4 * 8);
    CHECK(kinds.at("allreduce") >= 1);
  }
}

TEST_CASE(
    "ranks that share each layer have part of its memory and time, and more of it by tokens") {
  Settings settings = transformer(1);
  const sim::SimulatedRun alone = simulate(settings);
  settings.ranks = 4;
  settings.tensor_parallel = true;
  const sim::SimulatedRun shared = simulate(settings);
  settings.sequence_parallel = true;
  const sim::SimulatedRun by_tokens = simulate(settings);
  CHECK(shared.recordings[0].memory_bytes < alone.recordings[0].memory_bytes / 2);
  CHECK(by_tokens.recordings[0].memory_bytes < shared.recordings[0].memory_bytes);
  CHECK(shared.result.mean_step_s() < 0.75 * alone.result.mean_step_s());
  CHECK(by_tokens.result.mean_step_s() < 0.95 * shared.result.mean_step_s());
}

TEST_CASE("each block is gathered twice a step and scattered once, the root once") {
  Settings settings = transformer(4);
  settings.shard_parameters = true;
  // With activations computed anew and norms apart, ops of two blocks take turns in the backward pass.
  Settings in_turns = settings;
  in_turns.recompute = true;
  in_turns.fused_ln = false;
  for (const Settings& one : {settings, in_turns}) {
    const sim::SimulatedRun run = simulate(one);
    for (const sim::Recording& recording : run.recordings)
      CHECK(kinds_per_step(recording, one.steps) ==
            std::map<std::string, int>{{"allgather", 2 * 8 + 1}, {"reducescatter", 8 + 1}});
  }
  CHECK(unit_of_name("block3.qkv.weight") == "block3");
  CHECK(unit_of_name("head.weight") == "");
}

TEST_CASE("gathers one block ahead hide, late ones do not, and shares need less memory") {
  Settings settings = transformer(4);
  const double whole = static_cast<double>(simulate(settings).recordings[0].memory_bytes);
  settings.shard_parameters = true;
  const sim::SimulatedRun ahead = simulate(settings);
  settings.gather_prefetch = false;
  const sim::SimulatedRun late = simulate(settings);
  CHECK(late.result.mean_step_s() > 1.03 * ahead.result.mean_step_s());
  CHECK(static_cast<double>(ahead.recordings[0].memory_bytes) < whole);
}

TEST_CASE("stages are idle for (p - 1) of (m + p - 1), whatever the schedule") {
  for (const PipelineSchedule schedule : {PipelineSchedule::kGpipe, PipelineSchedule::k1F1B}) {
    Settings settings = transformer(4);
    settings.pipeline = schedule;
    settings.batch = 256;
    settings.micro_batches = 4;
    const double few = simulate(settings).result.mean_step_s();
    settings.micro_batches = 16;
    const double many = simulate(settings).result.mean_step_s();
    // 7 of 4 passes against 19 of 16 passes of a quarter; kernels that fill less, messages and the update are the rest.
    CHECK(few / many == doctest::Approx((7.0 / 4) / (19.0 / 16)).epsilon(0.12));
  }
}

TEST_CASE("what a stage keeps under way: all micro batches, or those between it and the end") {
  Settings settings = transformer(4);
  settings.pipeline = PipelineSchedule::kGpipe;
  settings.micro_batches = 16;
  const sim::SimulatedRun gpipe = simulate(settings);
  settings.pipeline = PipelineSchedule::k1F1B;
  const sim::SimulatedRun one_by_one = simulate(settings);
  for (std::size_t rank = 0; rank < 4; ++rank)
    CHECK(one_by_one.recordings[rank].memory_bytes < gpipe.recordings[rank].memory_bytes);
  CHECK(one_by_one.recordings[3].memory_bytes < one_by_one.recordings[0].memory_bytes);
  CHECK(kinds_per_step(gpipe.recordings[1], settings.steps) ==
        std::map<std::string, int>{{"recv", 32}, {"send", 32}});
}

TEST_CASE("a schedule makes each pass once, a backward pass after its forward pass") {
  for (const PipelineSchedule schedule : {PipelineSchedule::kGpipe, PipelineSchedule::k1F1B})
    for (int stage = 0; stage < 4; ++stage) {
      const auto passes = passes_of(schedule, stage, 4, 6);
      CHECK(passes.size() == 12);
      int under_way = 0;
      int most = 0;
      std::vector<bool> seen(6);
      for (const PipelinePass& pass : passes) {
        const auto which = static_cast<std::size_t>(pass.micro_batch);
        CHECK(seen[which] == pass.backward);
        seen[which] = true;
        under_way += pass.backward ? -1 : 1;
        most = std::max(most, under_way);
      }
      CHECK(under_way == 0);
      CHECK(most == most_under_way(schedule, stage, 4, 6));
    }
}

TEST_CASE("a pipeline gives the same run each time, to the nanosecond") {
  Settings settings = transformer(4);
  settings.pipeline = PipelineSchedule::k1F1B;
  settings.micro_batches = 8;
  settings.world = 11;
  const sim::SimulatedRun one = simulate(settings);
  const sim::SimulatedRun two = simulate(settings);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    REQUIRE(one.recordings[rank].ops.size() == two.recordings[rank].ops.size());
    CHECK(one.recordings[rank].end == two.recordings[rank].end);
    for (std::size_t i = 0; i < one.recordings[rank].ops.size(); ++i)
      CHECK(one.recordings[rank].ops[i].end == two.recordings[rank].ops[i].end);
  }
}

TEST_CASE("blocks that are computed twice take less memory and more time") {
  Settings settings = transformer(1);
  const sim::SimulatedRun kept = simulate(settings);
  settings.recompute = true;
  const sim::SimulatedRun again = simulate(settings);
  CHECK(static_cast<double>(again.recordings[0].memory_bytes) <
        0.8 * static_cast<double>(kept.recordings[0].memory_bytes));
  CHECK(again.result.mean_step_s() / kept.result.mean_step_s() ==
        doctest::Approx(4.0 / 3).epsilon(0.08));
}

TEST_CASE("what does not go together, and devices that have it not, are refused by name") {
  auto refuses = [](const Settings& settings, const char* text) {
    CHECK_THROWS_WITH_AS(check_rank_settings(settings), doctest::Contains(text), Error);
  };
  Settings shards = transformer(4);
  shards.shard_parameters = true;
  CHECK_NOTHROW(check_rank_settings(shards));
  Settings other = shards;
  other.device = DeviceKind::kHost;
  CHECK_NOTHROW(check_rank_settings(other));
  other.device = DeviceKind::kCuda;
  refuses(other, "--device host or sim");
  other = shards;
  other.accumulate = 2;
  refuses(other, "--accumulate 1");
  other = shards;
  other.optimizer = OptimizerChoice::kLamb;
  refuses(other, "lamb");
  Settings layers = transformer(4);
  layers.tensor_parallel = true;
  CHECK_NOTHROW(check_rank_settings(layers));
  other = layers;
  other.ranks = 3;
  refuses(other, "--heads 16");
  other = layers;
  other.device = DeviceKind::kCuda;
  refuses(other, "--device host or sim");
  other = layers;
  other.shard_parameters = true;
  refuses(other, "--shard-parameters off");
  other = layers;
  other.device = DeviceKind::kHost;
  other.eval = true;
  refuses(other, "--eval off");
  other = layers;
  other.sequence_parallel = true;
  CHECK_NOTHROW(check_rank_settings(other));
  other.tensor_parallel = false;
  refuses(other, "--tensor-parallel on");
  Settings stages = transformer(4);
  stages.pipeline = PipelineSchedule::k1F1B;
  CHECK_NOTHROW(check_rank_settings(stages));
  other = stages;
  other.micro_batches = 5;
  refuses(other, "equal parts");
  other = stages;
  other.model = ModelKind::kResnet;
  refuses(other, "--model transformer");
  other = stages;
  other.pipeline = PipelineSchedule::kOff;
  other.micro_batches = 2;
  refuses(other, "--pipeline");
  other = stages;
  other.device = DeviceKind::kCuda;
  refuses(other, "--device host or sim");
  other.device = DeviceKind::kHost;
  CHECK_NOTHROW(check_rank_settings(other));
  other.raw_allocator = true;
  refuses(other, "--allocator caching");
  other.raw_allocator = false;
  other.precision = Precision::kAmpO2;
  refuses(other, "--precision bf16");
  stages.ranks = 16;
  CHECK_THROWS_WITH_AS(simulate(stages), doctest::Contains("--layers 16"), Error);
}

}  // namespace headway::trainer
