// SPDX-License-Identifier: MIT
// Ranks that exchange less: parameters after several steps, and gradients as signs.
#include <doctest/doctest.h>

#include "common/error.h"
#include "kernels/half.h"
#include "tests/reference_trainer/trained_ranks.h"

namespace headway::trainer {
namespace {

using test::distance;
using test::tiny_settings;
using test::train_ranks;
using test::TrainedRanks;

double loss_at_end(const TrainedRanks& trained) {
  double loss = 0;
  for (const RunResult& result : trained.results)
    loss += *result.final_loss() / static_cast<double>(trained.results.size());
  return loss;
}

}  // namespace

TEST_CASE("the mean of one step of each rank is the step by their mean gradient") {
  Settings settings = tiny_settings();
  settings.ranks = 3;
  settings.steps = 1;
  settings.optimizer = OptimizerChoice::kSgd;
  settings.momentum = 0;
  const TrainedRanks together = train_ranks(settings);
  settings.local_steps = 2;  // the last step averages
  const TrainedRanks alone = train_ranks(settings);
  CHECK(alone.same);
  CHECK(distance(alone.weights, together.weights) < 1e-6);
}

TEST_CASE("ranks that step alone differ between averages, and their mean still trains") {
  Settings settings = tiny_settings();
  settings.samples = 2000;
  settings.ranks = 2;
  settings.batch = 16;
  settings.steps = 60;
  settings.learning_rate = 0.03;
  const TrainedRanks together = train_ranks(settings);
  for (const std::int64_t steps : {4, 7}) {
    CAPTURE(steps);
    settings.local_steps = steps;
    const TrainedRanks alone = train_ranks(settings);
    CHECK(alone.same);  // 60 is no multiple of 7
    CHECK(distance(alone.weights, together.weights) > 1e-3);
    CHECK(loss_at_end(alone) < loss_at_end(together) + 0.3);
  }
  // Hierarchies, servers and micro batches change only the order of sums.
  settings.steps = 4;
  settings.local_steps = 2;
  settings.ranks = 4;
  settings.ranks_per_node = 2;
  const TrainedRanks flat = train_ranks(settings);
  for (const Topology topology : {Topology::kHierarchical, Topology::kParameterServer}) {
    settings.topology = topology;
    CHECK(distance(train_ranks(settings).weights, flat.weights) < 1e-3);
  }
  settings.topology = Topology::kFlat;
  settings.batch = 8;
  settings.accumulate = 2;
  CHECK(train_ranks(settings).same);
}

TEST_CASE("where the optimizer has a copy in FP32, the copies are averaged") {
  Settings settings = tiny_settings();
  settings.model = ModelKind::kTransformer;
  settings.layers = 1;
  settings.features = 16;
  settings.heads = 2;
  settings.sequence = 8;
  settings.batch = 2;
  settings.ranks = 2;
  settings.steps = 4;
  settings.local_steps = 2;
  const TrainedRanks full = train_ranks(settings);
  settings.precision = Precision::kBf16;
  const TrainedRanks rounded = train_ranks(settings);
  CHECK(rounded.same);
  CHECK(distance(rounded.weights, full.weights) < 0.02);
  for (float weight : rounded.weights)
    REQUIRE(kernels::from_bfloat16(kernels::to_bfloat16(weight)) == weight);
}

TEST_CASE("gradients as signs end near those in full, the same on all ranks") {
  Settings settings = tiny_settings();
  settings.samples = 2000;
  settings.batch = 16;
  settings.steps = 150;
  settings.learning_rate = 0.03;
  settings.ranks = 3;  // parts of the gradients do not divide into blocks
  const double exact = loss_at_end(train_ranks(settings));
  settings.compress = Compression::kOneBit;
  const TrainedRanks signs = train_ranks(settings);
  CHECK(signs.same);
  CHECK(loss_at_end(signs) < exact + 0.5);
  // Buckets of one gradient leave most ranks without a part.
  settings.first_bucket_mb = settings.bucket_mb = 0;
  settings.steps = 4;
  CHECK(train_ranks(settings).same);
}

TEST_CASE("padding of the device's layouts stays zero whatever compression fills in") {
  Settings settings = tiny_settings();
  settings.ranks = 2;
  settings.width = 12;  // vectors have 8 or 16 channels
  for (const Compression way : {Compression::kOneBit, Compression::kPowerSgd}) {
    settings.compress = way;
    const TrainedRanks trained = train_ranks(settings);
    if (trained.padded == 0) MESSAGE("[skipped] no parameter is padded on this processor");
    CHECK(trained.dirty == 0);
  }
}

TEST_CASE("deep gradient compression clips what it adds up") {
  Settings settings = tiny_settings();
  settings.ranks = 2;
  settings.steps = 6;
  settings.compress = Compression::kDgc;
  settings.dgc_warm_up = 0;
  const TrainedRanks plain = train_ranks(settings);
  settings.dgc_clip = 1e6;
  CHECK(train_ranks(settings).weights == plain.weights);
  settings.dgc_clip = 1e-3;
  const TrainedRanks clipped = train_ranks(settings);
  CHECK(clipped.same);
  settings.learning_rate = 1e-6;  // as good as no training
  settings.dgc_clip = 0;
  const TrainedRanks still = train_ranks(settings);
  CHECK(distance(clipped.weights, still.weights) < 0.05 * distance(plain.weights, still.weights));
}

TEST_CASE("what does not combine with steps alone or with clipping is refused by name") {
  auto refused = [](auto change) {
    Settings settings = tiny_settings();
    settings.ranks = 4;
    settings.local_steps = 2;
    change(settings);
    CHECK_THROWS_WITH_AS(check_rank_settings(settings), doctest::Contains("local_steps"), Error);
  };
  refused([](Settings& s) { s.ranks = 1; });
  refused([](Settings& s) { s.compress = Compression::kOneBit; });
  refused([](Settings& s) { s.sum_each_batch = true; });
  refused([](Settings& s) { s.shard_parameters = true; });
  refused([](Settings& s) { s.pipeline = PipelineSchedule::kGpipe; });
  refused([](Settings& s) { s.tensor_parallel = true; });
  refused([](Settings& s) { s.expert_parallel = true; });
  Settings settings = tiny_settings();
  settings.ranks = 2;
  settings.dgc_clip = 1;
  CHECK_THROWS_WITH_AS(check_rank_settings(settings), doctest::Contains("--compress dgc"), Error);
}

}  // namespace headway::trainer
