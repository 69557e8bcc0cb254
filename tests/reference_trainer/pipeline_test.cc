// SPDX-License-Identifier: MIT
// Stages of a pipeline that compute: what they learn, what they keep, and the messages between them.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "common/error.h"
#include "reference_trainer/passes/cut_stages.h"
#include "reference_trainer/train/build_model.h"
#include "reference_trainer/train/parameters.h"
#include "reference_trainer/train/pipeline.h"
#include "tests/reference_trainer/trained_ranks.h"

namespace headway::trainer {
namespace {

using test::on_each_rank;
using test::RankOptions;
using test::tiny_transformer;

/// Four blocks, twelve sequences a step.
Settings four_blocks() {
  Settings settings = tiny_transformer();
  settings.layers = 4;
  settings.batch = 12;
  settings.steps = 5;
  return settings;
}

Settings staged(Settings settings, PipelineSchedule schedule, std::int64_t stages,
                std::int64_t micro_batches) {
  settings.pipeline = schedule;
  settings.ranks = stages;
  settings.micro_batches = micro_batches;
  return settings;
}

/// One rank that adds up the same micro batches.
Settings alone(Settings settings) {
  settings = with_micro_batches(std::move(settings));
  settings.pipeline = PipelineSchedule::kOff;
  settings.micro_batches = 1;
  settings.ranks = 1;
  return settings;
}

struct Learnt {
  std::vector<double> losses;        ///< by step
  ParameterSet parameters;           ///< of the whole model
  std::vector<std::int64_t> memory;  ///< by rank, bytes of the compiled graph
  std::optional<EvaluationResult> test;
};

Learnt train(const Settings& settings, const RankOptions& options = {}, int message_buffers = 0) {
  Learnt learnt;
  const auto last = static_cast<int>(reporting_rank(settings));
  learnt.memory.resize(static_cast<std::size_t>(settings.ranks));
  Settings wants = settings;
  wants.checkpoint = "wanted";  // the program writes it, not the trainer
  const auto results = test::train_each_rank(
      wants, options, message_buffers, [&](int rank, const Trainer& trainer, const TrainingData&) {
        learnt.memory[static_cast<std::size_t>(rank)] = trainer.compiled().memory_bytes();
        if (rank == last) learnt.parameters = trainer.parameters(trainer.graph());
      });
  for (std::size_t rank = 0; rank < results.size(); ++rank)
    for (const StepRecord& step : results[rank].steps)
      CHECK(step.loss.has_value() == (rank == static_cast<std::size_t>(last)));
  const RunResult& result = results[static_cast<std::size_t>(last)];
  for (const StepRecord& step : result.steps) learnt.losses.push_back(step.loss.value_or(NAN));
  learnt.test = result.evaluation;
  return learnt;
}

/// The biases of keys have no influence on the loss, so Adam makes much of what rounding leaves of
/// their gradients. The distance is that of all parameters together.
void check_same(const Learnt& staged, const Learnt& alone, double epsilon, double distance = 1e-3) {
  REQUIRE(staged.losses.size() == alone.losses.size());
  for (std::size_t i = 0; i < alone.losses.size(); ++i)
    CHECK(staged.losses[i] == doctest::Approx(alone.losses[i]).epsilon(epsilon));
  double difference = 0;
  double size = 0;
  for (const auto& [name, values] : staged.parameters) {
    CAPTURE(name);
    const std::vector<float>& expected = alone.parameters.at(name);
    REQUIRE(values.size() == expected.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      difference += std::pow(double{values[i]} - double{expected[i]}, 2);
      size += std::pow(double{expected[i]}, 2);
    }
  }
  CHECK(std::sqrt(difference / size) < distance);
  CHECK(staged.parameters.size() >= 4 * 8);  // weights and biases of all blocks
}

}  // namespace

TEST_CASE("stages learn what one rank does: both schedules, 2 to 4 stages, dropout included") {
  Settings settings = four_blocks();
  settings.dropout = 0.1;  // a function of the op, the micro batch and the element
  for (const std::int64_t micro_batches : {1, 2, 3, 6}) {
    const Learnt expected =
        train(alone(staged(settings, PipelineSchedule::kGpipe, 1, micro_batches)));
    CHECK(expected.losses.back() < expected.losses.front());
    for (const PipelineSchedule schedule : {PipelineSchedule::kGpipe, PipelineSchedule::k1F1B})
      for (const std::int64_t stages : {2, 3, 4}) {
        CAPTURE(static_cast<int>(schedule));
        CAPTURE(stages);
        CAPTURE(micro_batches);
        check_same(train(staged(settings, schedule, stages, micro_batches)), expected, 2e-5);
      }
  }
}

TEST_CASE("without dropout, a batch in micro batches is the whole batch") {
  const Settings settings = four_blocks();
  const Learnt whole = train(settings);
  for (const std::int64_t micro_batches : {2, 12})
    check_same(train(staged(settings, PipelineSchedule::k1F1B, 2, micro_batches)), whole, 2e-5);
}

TEST_CASE("what else a step can be made of does not change what stages learn") {
  const Settings plain = four_blocks();
  std::map<std::string, Settings> cases;
  auto variant = [&](const std::string& name) -> Settings& { return cases[name] = plain; };
  variant("recompute").recompute = true;
  variant("bf16").precision = Precision::kBf16;
  variant("lamb").optimizer = OptimizerChoice::kLamb;
  variant("sgd, a kernel each").optimizer = OptimizerChoice::kSgd;
  cases["sgd, a kernel each"].fused_optimizer = OptimizerFusion::kOff;
  variant("graph").cuda_graph = true;
  variant("blocking copies").h2d = CopyMode::kBlocking;
  variant("loss read each step").loss_read = LossRead::kStep;
  variant("windows").window = 4;
  variant("experts").experts = 4;
  // Between stages, a sum and the norm behind it are never one op. Nothing else differs in any bit.
  const std::string kNothingFused = "nothing fused";
  Settings& apart = variant(kNothingFused);
  apart.fused_attention = apart.fused_ln = apart.fused_bias_act = apart.fused_loss = false;
  apart.graph_compiler = GraphCompiler::kOff;
  for (const auto& [name, settings] : cases) {
    CAPTURE(name);
    const Settings stages = staged(settings, PipelineSchedule::k1F1B, 3, 4);
    // BF16 rounds sums that differ in the last bit to neighbours.
    const bool coarse = settings.precision == Precision::kBf16;
    const Learnt learnt = train(stages);
    const Learnt expected = train(alone(stages));
    check_same(learnt, expected, coarse ? 5e-3 : 5e-5, coarse ? 2e-2 : 1e-3);
    if (name != kNothingFused) continue;
    CHECK(learnt.losses == expected.losses);
    for (const auto& [of, values] : learnt.parameters) CHECK(values == expected.parameters.at(of));
  }
}

TEST_CASE("both schedules end with the smallest buffers: one of a few bytes on each way") {
  Settings settings = four_blocks();
  settings.steps = 3;
  for (const std::int64_t micro_batches : {3, 12}) {
    const Learnt expected =
        train(alone(staged(settings, PipelineSchedule::kGpipe, 1, micro_batches)));
    for (const PipelineSchedule schedule : {PipelineSchedule::kGpipe, PipelineSchedule::k1F1B})
      for (const std::int64_t stages : {2, 4}) {
        CAPTURE(static_cast<int>(schedule));
        CAPTURE(stages);
        CAPTURE(micro_batches);
        check_same(train(staged(settings, schedule, stages, micro_batches), {8, 64}, 1), expected,
                   2e-5);
      }
  }
}

TEST_CASE("a stage has its part of the memory, and activations for each micro batch under way") {
  Settings settings = four_blocks();
  settings.features = 32;
  settings.steps = 1;
  settings.h2d = CopyMode::kAsync;
  const auto memory = [&](PipelineSchedule schedule, std::int64_t micro_batches) {
    return train(staged(settings, schedule, 4, micro_batches)).memory;
  };
  const std::int64_t whole =
      train(alone(staged(settings, PipelineSchedule::kGpipe, 1, 12))).memory.front();
  const auto gpipe = memory(PipelineSchedule::kGpipe, 12);
  const auto in_turns = memory(PipelineSchedule::k1F1B, 12);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    CHECK(in_turns[rank] < gpipe[rank]);
    CHECK(in_turns[rank] < whole);
  }
  CHECK(in_turns[2] < in_turns[1]);  // one micro batch less under way
}

TEST_CASE("the last stage tests the whole model") {
  Settings settings = staged(four_blocks(), PipelineSchedule::k1F1B, 3, 4);
  settings.eval = true;
  settings.eval_samples = 32;
  const Learnt stages = train(settings);
  const Learnt one = train(alone(settings));
  REQUIRE(stages.test.has_value());
  REQUIRE(one.test.has_value());
  CHECK(stages.test->loss == doctest::Approx(one.test->loss).epsilon(2e-5));
  CHECK(stages.test->images == one.test->images);
}

TEST_CASE("a cut between stages is one exchange a border and direction, and computes nothing new") {
  Settings settings = staged(four_blocks(), PipelineSchedule::k1F1B, 3, 1);
  std::string note;
  const DataSetup data(
      settings, [](auto, auto) {}, note);
  GradientPairs pairs;
  const Model model = build_training_model(settings, data.data(), pairs);
  std::map<Phase, int> exchanges;
  for (const Node& node : model.graph.nodes())
    if (std::holds_alternative<ExchangeAttributes>(node.attributes)) ++exchanges[node.phase];
  CHECK(exchanges == std::map<Phase, int>{{Phase::kForward, 2}, {Phase::kBackward, 2}});
  // Each op belongs to one stage; each update changes the parameters of its stage.
  std::vector<int> runs(model.graph.node_count());
  std::map<ValueId, int> updates;
  for (int stage = 0; stage < 3; ++stage) {
    Graph graph = model.graph;
    const StagePlan plan = plan_stage(graph, stage, 3, 1);
    keep_own_updates(graph, plan);
    CHECK(plan.received[0].node.valid() == (stage > 0));
    CHECK(plan.sent[0].node.valid() == (stage < 2));
    CHECK(plan.sent[1].node.valid() == (stage > 0));
    CHECK(plan.received[1].node.valid() == (stage < 2));
    for (std::size_t i = 0; i < graph.node_count(); ++i) {
      const Node& node = graph.nodes()[i];
      if (!plan.runs[i]) continue;
      if (node.phase != Phase::kUpdate) ++runs[i];
      if (node.phase == Phase::kUpdate)
        for (ValueId input : node.inputs) updates[input] += 1;
    }
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Node& node = model.graph.nodes()[i];
    if (node.phase == Phase::kUpdate) continue;
    CAPTURE(node.name);
    CHECK(runs[i] == (std::holds_alternative<ExchangeAttributes>(node.attributes) ? 0 : 1));
  }
  for (ValueId parameter : model.graph.parameters()) CHECK(updates[parameter] == 1);
  settings.ranks = 5;
  CHECK_THROWS_WITH_AS(build_training_model(settings, data.data(), pairs),
                       doctest::Contains("--layers 5"), Error);
}

TEST_CASE("messages arrive in order at any size, in all directions at once") {
  for (const std::size_t piece : {std::size_t{16}, SharedMemory::kChannelBytes}) {
    on_each_rank(3, RankOptions{2, piece}, [](CommBackend& backend) {
      constexpr std::array<std::size_t, 5> kSizes = {0, 1, 16, 17, 5000};
      auto byte = [](int from, int to, std::size_t size, std::size_t i) {
        return static_cast<std::byte>(static_cast<std::size_t>(from * 7 + to * 31) + size + i);
      };
      std::vector<std::thread> threads;
      std::array<std::string, 6> errors;
      for (int peer = 0; peer < 3; ++peer) {
        if (peer == backend.rank()) continue;
        const auto at = static_cast<std::size_t>(peer);
        threads.emplace_back([&, peer] {
          for (const std::size_t size : kSizes) {
            std::vector<std::byte> bytes(size);
            for (std::size_t i = 0; i < size; ++i) bytes[i] = byte(backend.rank(), peer, size, i);
            backend.send(peer, bytes);
          }
        });
        threads.emplace_back([&, peer, at] {
          for (const std::size_t size : kSizes) {
            std::vector<std::byte> bytes(size);
            backend.receive(peer, bytes);
            for (std::size_t i = 0; i < size; ++i)
              if (bytes[i] != byte(peer, backend.rank(), size, i)) errors[at] = "wrong bytes";
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
      for (const std::string& error : errors)
        if (!error.empty()) throw std::runtime_error(error);
    });
  }
}

TEST_CASE("both ends of a message begin when the later one has come") {
  using Clock = CommBackend::Clock;
  constexpr std::chrono::milliseconds kLate{80};
  for (const int late : {0, 1}) {
    std::array<Clock::time_point, 2> begun;
    Clock::time_point came;
    on_each_rank(2, RankOptions{}, [&](CommBackend& backend) {
      std::vector<std::byte> bytes(100);
      if (backend.rank() == late) {
        std::this_thread::sleep_for(kLate);
        came = Clock::now();
      }
      begun[static_cast<std::size_t>(backend.rank())] =
          backend.rank() == 0 ? backend.send(1, bytes) : backend.receive(0, bytes);
    });
    for (const Clock::time_point each : begun) CHECK(each >= came);
  }
}

TEST_CASE("a message whose other end does not come, has died or differs ends with its rank") {
  std::vector<std::byte> bytes(100);
  const std::shared_ptr<SharedMemory> lonely = SharedMemory::anonymous(3);
  lonely->join(0);
  lonely->join(1);
  ShmBackend backend(lonely, 0, 8, std::chrono::milliseconds(300));
  CHECK_THROWS_WITH_AS(backend.send(1, bytes), doctest::Contains("rank 1 has not come"), Error);
  CHECK_THROWS_WITH_AS(backend.receive(1, bytes), doctest::Contains("--comm-timeout-s"), Error);
  CHECK_THROWS_WITH_AS(backend.receive(2, bytes), doctest::Contains("Not started: rank 2"), Error);

  const std::shared_ptr<SharedMemory> shared = SharedMemory::anonymous(2);
  shared->join(0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    shared->join(1);
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  ShmBackend left(shared, 0, 8, std::chrono::seconds(20));
  CHECK_THROWS_WITH_AS(left.receive(1, bytes), doctest::Contains("rank 1"), Error);

  const std::shared_ptr<SharedMemory> pair = SharedMemory::anonymous(2);
  std::thread sender([&] {
    ShmBackend other(pair, 0, 8, std::chrono::seconds(20));
    CHECK_THROWS_AS(other.send(1, bytes), Error);
  });
  ShmBackend receiver(pair, 1, 8, std::chrono::seconds(20));
  std::vector<std::byte> less(99);
  CHECK_THROWS_WITH_AS(receiver.receive(0, less), doctest::Contains("sends 100 bytes where 99"),
                       Error);
  pair->abandon("sizes differ");
  sender.join();
}

TEST_CASE("an emulated network delays a message by its latency and size") {
  Settings settings = staged(four_blocks(), PipelineSchedule::kGpipe, 2, 2);
  settings.steps = 6;
  const Learnt usual = train(settings);
  settings.ranks_per_node = 1;
  settings.network_us = 20'000;
  const auto results = test::train_each_rank(settings, RankOptions{1}, 0,
                                             [](int, const Trainer&, const TrainingData&) {});
  // Two activations and two gradients follow each other: two of them on each way at the same time.
  for (const RunResult& result : results) CHECK(result.median_step_s() > 0.075);
  for (std::size_t i = 0; i < usual.losses.size(); ++i)
    CHECK(static_cast<double>(*results[1].steps[i].loss) == doctest::Approx(usual.losses[i]));
}

}  // namespace headway::trainer
