// SPDX-License-Identifier: MIT
// Ranks that share parameters, with real arithmetic: they learn what ranks with whole parameters
// do, in less memory.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <thread>

#include "common/nvtx_conventions.h"
#include "reference_trainer/graph/op_definition.h"
#include "reference_trainer/graph/parameter_units.h"
#include "reference_trainer/passes/plan_memory.h"
#include "tests/reference_trainer/nvtx_recorder.h"
#include "tests/reference_trainer/trained_ranks.h"

namespace headway::trainer {
namespace {

using test::NvtxEvent;
using test::tiny_settings;
using test::tiny_transformer;
using test::train_ranks;
using test::TrainedRanks;

/// Four blocks, so that units take turns in memory.
Settings small(ModelKind model) {
  Settings settings = model == ModelKind::kTransformer ? tiny_transformer() : tiny_settings();
  if (model == ModelKind::kTransformer) settings.layers = 4;
  settings.ranks = 3;
  settings.ranks_per_node = 8;
  settings.steps = 6;
  return settings;
}

void check_equal(const TrainedRanks& shared, const TrainedRanks& whole) {
  CHECK(shared.same);
  for (std::size_t rank = 0; rank < whole.results.size(); ++rank) {
    REQUIRE(shared.results[rank].steps.size() == whole.results[rank].steps.size());
    for (std::size_t i = 0; i < whole.results[rank].steps.size(); ++i)
      CHECK(static_cast<double>(*shared.results[rank].steps[i].loss) ==
            doctest::Approx(static_cast<double>(*whole.results[rank].steps[i].loss)).epsilon(1e-5));
  }
  REQUIRE(shared.weights.size() == whole.weights.size());
  double difference = 0;
  for (std::size_t i = 0; i < whole.weights.size(); ++i)
    difference = std::max(difference, std::abs(static_cast<double>(shared.weights[i]) -
                                               static_cast<double>(whole.weights[i])));
  CHECK(difference < 1e-5);
}

void check_learns_the_same(Settings settings) {
  const TrainedRanks whole = train_ranks(settings);
  settings.shard_parameters = true;
  for (const bool prefetch : {true, false}) {
    CAPTURE(prefetch);
    settings.gather_prefetch = prefetch;
    check_equal(train_ranks(settings), whole);
  }
}

}  // namespace

TEST_CASE("ranks that share parameters learn what ranks with whole parameters do") {
  for (const ModelKind model : {ModelKind::kResnet, ModelKind::kTransformer})
    for (const std::int64_t ranks : {2, 3, 4})
      for (const OptimizerChoice optimizer : {OptimizerChoice::kSgd, OptimizerChoice::kAdam})
        for (const OptimizerFusion fusion :
             {OptimizerFusion::kMultiTensor, OptimizerFusion::kParameter, OptimizerFusion::kOff}) {
          CAPTURE(static_cast<int>(model));
          CAPTURE(ranks);
          CAPTURE(static_cast<int>(optimizer));
          CAPTURE(static_cast<int>(fusion));
          Settings settings = small(model);
          settings.ranks = ranks;
          settings.optimizer = optimizer;
          settings.fused_optimizer = fusion;
          if (optimizer == OptimizerChoice::kSgd && model == ModelKind::kTransformer)
            settings.learning_rate = 0.1;
          check_learns_the_same(settings);
        }
}

TEST_CASE("shared parameters go with every number format, with loss scaling, too") {
  for (const ModelKind model : {ModelKind::kResnet, ModelKind::kTransformer})
    for (const Precision precision :
         {Precision::kTf32, Precision::kAmpO1, Precision::kAmpO2, Precision::kBf16}) {
      CAPTURE(static_cast<int>(model));
      CAPTURE(static_cast<int>(precision));
      Settings settings = small(model);
      settings.precision = precision;
      check_learns_the_same(settings);
    }
}

TEST_CASE("shared parameters go with recomputation, unfused ops, launch graphs and raw memory") {
  Settings settings = small(ModelKind::kTransformer);
  settings.recompute = true;
  settings.fused_ln = false;  // ops of two blocks take turns
  check_learns_the_same(settings);
  settings = small(ModelKind::kTransformer);
  settings.fused_ln = settings.fused_attention = settings.fused_bias_act = false;
  settings.graph_compiler = GraphCompiler::kOff;
  settings.cuda_graph = true;
  check_learns_the_same(settings);
  settings = small(ModelKind::kResnet);
  settings.raw_allocator = true;
  settings.fused_bn = false;
  check_learns_the_same(settings);
}

namespace {

/// Rank 0 of two, without the other. Gathers spoil the unit's place and take their time before they
/// write it, so that whoever still reads it there gets a loss that is not a number. Reduce-scatters
/// take their time and look whether the gradients change meanwhile.
class SlowCommunicator final : public Communicator {
 public:
  explicit SlowCommunicator(HostDevice& device) : device_(device) {}
  int rank() const override { return 0; }
  int size() const override { return 2; }
  const LinkModel& links() const override { return links_; }
  std::int64_t stop_before(std::int64_t step) override { return step; }
  std::unique_ptr<PreparedCollective> prepare(Collective what) override {
    auto prepared = std::make_unique<Prepared>();
    prepared->kernel = device_.make_kernel(
        name_of(what), [this, what](const LaunchArguments&) { carry_out_slowly(what); });
    return prepared;
  }
  void enqueue(StreamId stream, const PreparedCollective& what, std::int64_t) override {
    device_.launch(stream, *static_cast<const Prepared&>(what).kernel, {});
  }
  int changed() const { return changed_; }

 private:
  struct Prepared final : PreparedCollective {
    std::unique_ptr<Kernel> kernel;
  };

  void carry_out_slowly(const Collective& what) {
    const std::span<float> data(static_cast<float*>(what.data),
                                static_cast<std::size_t>(what.count));
    const std::vector<float> before(data.begin(), data.end());
    if (what.kind == CollectiveKind::kAllGather)
      std::ranges::fill(data, std::numeric_limits<float>::quiet_NaN());
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
    if (what.kind == CollectiveKind::kAllGather) {
      for (std::size_t i = 0; i < data.size(); ++i)  // zeros would make all gradients zero
        data[i] = 0.02F * static_cast<float>(i % 7) - 0.06F;
      std::copy_n(what.own_part, data.size() / 2, data.begin());
    } else {
      changed_ += std::memcmp(before.data(), data.data(), data.size_bytes()) != 0;
    }
  }

  HostDevice& device_;
  const LinkModel links_;
  std::atomic<int> changed_ = 0;
};

}  // namespace

TEST_CASE("places of units are not written while ops read them or gradients are reduced") {
  for (const bool in_turns : {false, true})
    for (const double memory_bytes_per_s : {0.0, 0.02e9}) {  // ops faster or slower than exchanges
      CAPTURE(in_turns);
      CAPTURE(memory_bytes_per_s);
      Settings settings = small(ModelKind::kTransformer);
      settings.layers = 6;
      settings.ranks = 2;
      settings.steps = 2;
      settings.shard_parameters = true;
      settings.recompute = in_turns;  // ops of two blocks take turns
      settings.fused_ln = !in_turns;
      std::string note;
      const DataSetup data(
          settings, [](auto, auto) {}, note);
      HostDevice device({1, 0, memory_bytes_per_s});
      SlowCommunicator communicator(device);
      TrainerParts parts;
      parts.communicator = &communicator;
      Trainer trainer(settings, device, data.data(), parts);
      const RunResult result = trainer.run({});
      CHECK(result.steps.size() == 2);
      CHECK(communicator.changed() == 0);
    }
}

TEST_CASE("an evaluation of shared parameters is that of whole ones") {
  Settings settings = small(ModelKind::kResnet);
  settings.eval = true;
  settings.eval_samples = 40;
  const TrainedRanks whole = train_ranks(settings);
  settings.shard_parameters = true;
  const TrainedRanks shared = train_ranks(settings);
  for (std::size_t rank = 0; rank < whole.results.size(); ++rank) {
    REQUIRE(shared.results[rank].evaluation.has_value());
    CHECK(shared.results[rank].evaluation->loss ==
          doctest::Approx(whole.results[rank].evaluation->loss).epsilon(1e-5));
    CHECK(shared.results[rank].evaluation->images == 40);
  }
}

TEST_CASE("a rank keeps its share of parameters, gradients and state, and room for two blocks") {
  Settings settings = small(ModelKind::kTransformer);
  settings.layers = 8;
  settings.features = 64;
  settings.ranks = 4;
  settings.batch = 1;
  settings.steps = 1;
  const std::int64_t block = 12 * 64 * 64 * 4;  // bytes of a block's matrices
  const std::int64_t whole = train_ranks(settings).memory_bytes[0];
  settings.shard_parameters = true;
  const std::int64_t ahead = train_ranks(settings).memory_bytes[0];
  settings.gather_prefetch = false;
  const std::int64_t late = train_ranks(settings).memory_bytes[0];
  // Parameters, gradients and two moments of 8 blocks become a quarter of that, and two blocks of
  // parameters and gradients each.
  CHECK(whole - ahead > (8 * 4 - 8 - 4) * block * 9 / 10);
  // Gathered at its turn, a block needs no second place, and neither do its gradients.
  CHECK(ahead - late > 2 * block * 9 / 10);
}

namespace {

/// A graph like a model of `blocks` blocks with one parameter each, between an embedding and a head.
struct Planned {
  Graph graph;
  std::vector<std::pair<ValueId, ValueId>> gradients;
  const OpDefinition op{"test", "", nullptr};

  ValueId value(const std::string& name, Role role) {
    Value value;
    value.name = name;
    value.shape = {4};
    value.role = role;
    return graph.add_value(std::move(value));
  }
  void add_node(Phase phase, const std::string& name, std::vector<ValueId> inputs,
                std::vector<ValueId> outputs) {
    graph.add_node({&op, name, phase, NodeId::none(), std::move(inputs), std::move(outputs), {}});
  }

  explicit Planned(int blocks) {
    std::vector<ValueId> parameters;
    std::vector<std::string> names = {"embedding"};
    for (int i = 0; i < blocks; ++i) names.push_back("block" + std::to_string(i) + ".matmul");
    names.emplace_back("head");
    ValueId x = value("x", Role::kInput);
    for (const std::string& name : names) {
      parameters.push_back(value(name + ".weight", Role::kParameter));
      const ValueId y = value("y " + name, Role::kActivation);
      add_node(Phase::kForward, name, {x, parameters.back()}, {y});
      x = y;
    }
    for (std::size_t i = names.size(); i-- > 0;) {
      const ValueId g = value("d " + names[i], Role::kActivation);
      graph.value(g).like = parameters[i];
      add_node(Phase::kBackward, names[i], {x, parameters[i]}, {g});
    }
    for (std::size_t i = 0; i < names.size(); ++i)
      gradients.emplace_back(parameters[i], graph.find("d " + names[i]));
  }
};

}  // namespace

TEST_CASE("units are asked for when the unit before them begins, and need one place each") {
  const Planned model(3);  // ops 0 to 4 forward, 5 to 9 backward
  const UnitPlan late = plan_units(model.graph, model.gradients, {0, 2, false, true});
  const UnitPlan ahead = plan_units(model.graph, model.gradients, {0, 2, true, true});
  const UnitPlan simulated = plan_units(model.graph, model.gradients, {0, 2, true, false});
  auto requests = [](const UnitPlan& plan) {
    std::vector<std::pair<std::string, std::uint32_t>> list;
    for (const UnitVisit& visit : plan.visits)
      if (visit.gathers) list.emplace_back(plan.units[visit.unit].name, visit.asked.value);
    return list;
  };
  using List = std::vector<std::pair<std::string, std::uint32_t>>;
  CHECK(requests(late) == List{{"root", 0},
                               {"block0", 1},
                               {"block1", 2},
                               {"block2", 3},
                               {"block2", 6},
                               {"block1", 7},
                               {"block0", 8}});
  // The last block is in use until op 3, and its backward pass needs it at the same place.
  CHECK(requests(ahead) == List{{"root", 0},
                                {"block0", 0},
                                {"block1", 1},
                                {"block2", 2},
                                {"block2", 4},
                                {"block1", 6},
                                {"block0", 7}});
  CHECK(requests(simulated)[4] == std::pair<std::string, std::uint32_t>{"block2", 3});
}

TEST_CASE("an op that uses parameters of two units needs both") {
  Planned model(2);  // ops 0 to 3 forward, 4 to 7 backward
  const ValueId first = model.gradients[1].first;
  const ValueId second = model.gradients[2].first;
  const ValueId y = model.value("y", Role::kActivation);
  model.add_node(Phase::kForward, "joined", {model.graph.find("x"), second, first}, {y});
  const UnitPlan plan = plan_units(model.graph, model.gradients, {0, 2, false, true});
  std::vector<std::string> units;
  for (const UnitVisit& visit : plan.visits)
    if (visit.first == NodeId{8}) units.push_back(plan.units[visit.unit].name);
  CHECK(units == std::vector<std::string>{"block1", "block0"});
}

TEST_CASE("blocks of memory that are needed at the same op lie apart, others share it") {
  auto span = [](std::uint32_t from, std::uint32_t to) {
    return std::pair{NodeId{from}, NodeId{to}};
  };
  const std::vector<NeededBlock> blocks = {{100, {span(0, 2), span(10, 12)}},
                                           {200, {span(2, 4)}},
                                           {60, {span(5, 6)}},
                                           {300, {span(6, 7), span(11, 11)}}};
  const BlockPlan plan = place_blocks(blocks);
  CHECK(plan.offset == std::vector<std::int64_t>{0, 128, 0, 128});
  CHECK(plan.total_bytes == 128 + 320);
}

TEST_CASE("each unit is gathered twice a step and scattered once, ahead or at its turn") {
  for (const bool prefetch : {true, false}) {
    CAPTURE(prefetch);
    Settings settings = small(ModelKind::kTransformer);
    settings.ranks = 2;
    settings.steps = 4;
    settings.shard_parameters = true;
    settings.gather_prefetch = prefetch;
    test::NvtxRecorder::start();
    train_ranks(settings);
    std::map<std::string, int> count;
    std::map<std::int64_t, std::vector<NvtxEvent>> ranges;  // by training thread
    for (const NvtxEvent& event : test::NvtxRecorder::stop()) {
      if (event.schema == conventions::kDeviceOpSchema &&
          (event.name.starts_with("allgather ") || event.name.starts_with("reduce_scatter ")))
        ++count[event.name];
      if (event.schema == conventions::kRangeSchema) ranges[event.thread].push_back(event);
    }
    for (const std::string block : {"block0", "block1", "block2", "block3"}) {
      // Afterwards the test gathers each unit once.
      CHECK(count["allgather " + block] == 2 * (2 * 4 + 1));
      CHECK(count["reduce_scatter " + block] == 2 * 4);
    }
    CHECK(count["allgather root"] == 2 * (4 + 1));
    CHECK(count["reduce_scatter root"] == 2 * 4);
    for (const auto& [thread, list] : ranges) {
      const auto first = std::ranges::find(list, "FSDP::all_gather (block1)", &NvtxEvent::name);
      if (first == list.end()) continue;  // no training thread
      const auto op = std::ranges::find_if(list, [](const NvtxEvent& event) {
        return event.name.find(" block0.") != std::string::npos;
      });
      REQUIRE(op != list.end());
      CHECK((first->start_ns < op->start_ns) == prefetch);
    }
  }
}

}  // namespace headway::trainer
