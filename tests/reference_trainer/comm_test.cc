// SPDX-License-Identifier: MIT
// Exchanging between ranks, which are threads here: each with a device and a model of its own.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/error.h"
#include "kernels/half.h"
#include "reference_trainer/comm/measure.h"
#include "reference_trainer/comm/ranks.h"
#include "reference_trainer/comm/shm_backend.h"
#include "tests/reference_trainer/tiny_detector.h"
#include "tests/reference_trainer/trained_ranks.h"
#include "tests/support/temporary_folder.h"

namespace headway::trainer {
namespace {

using test::distance;
using test::kRanksTimeout;
using test::losses_of;
using test::on_each_rank;
using test::tiny_settings;
using test::tiny_transformer;
using test::train_ranks;
using test::TrainedRanks;

/// Values that tell rank and place.
std::vector<float> values_of(int rank, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(rank + 1) + static_cast<float>(i % 97) * 0.25F;
  return values;
}

}  // namespace

TEST_CASE("sums over ranks are right at odd sizes, and the same bits on every rank") {
  for (std::size_t count :
       {std::size_t{1}, std::size_t{3}, std::size_t{1000}, std::size_t{600'001}}) {
    CAPTURE(count);
    std::vector<std::vector<float>> results(3);
    on_each_rank(3, 8, [&](CommBackend& backend) {
      auto values = values_of(backend.rank(), count);
      backend.all_reduce(Scope::kWorld, values);
      results[static_cast<std::size_t>(backend.rank())] = values;
    });
    CHECK(results[0] == results[1]);
    CHECK(results[0] == results[2]);
    for (std::size_t i = 0; i < count; i += 13)
      CHECK(results[0][i] == doctest::Approx(6 + 3 * 0.25 * static_cast<double>(i % 97)));
  }
}

TEST_CASE("the hierarchical way, the server and the flat ring give the same sums") {
  constexpr std::size_t kCount = 300'007;
  on_each_rank(4, 2, [&](CommBackend& backend) {
    auto flat = values_of(backend.rank(), kCount);
    backend.all_reduce(Scope::kWorld, flat);
    auto layered = values_of(backend.rank(), kCount);
    backend.reduce_scatter(Scope::kNode, layered);
    const Part part = part_of(kCount, backend.rank() % 2, 2);
    backend.all_reduce(Scope::kAcross,
                       std::span(layered).subspan(part.begin, part.end - part.begin));
    backend.all_gather_parts(Scope::kNode, layered);
    auto served = values_of(backend.rank(), kCount);
    backend.reduce_through_server(served);
    for (std::size_t i = 0; i < kCount; ++i) {
      if (std::abs(flat[i] - layered[i]) > 1e-4F || std::abs(flat[i] - served[i]) > 1e-4F)
        throw std::runtime_error("sums differ at " + std::to_string(i));
    }
  });
}

TEST_CASE("halves that are summed by nodes are the same on every rank, and the sums of one ring") {
  constexpr std::size_t kCount = 1'200'004;  // several slots of shared memory
  std::vector<std::vector<std::uint16_t>> results(4);
  on_each_rank(4, 2, [&](CommBackend& backend) {
    std::vector<std::uint16_t> layered;
    for (float value : values_of(backend.rank(), kCount))
      layered.push_back(kernels::to_half(value));
    auto ring = layered;
    backend.all_reduce_half(Scope::kWorld, ring);
    backend.reduce_scatter_half(Scope::kNode, layered);
    const Part part = part_of(kCount, backend.rank() % 2, 2);
    backend.all_reduce_half(Scope::kAcross,
                            std::span(layered).subspan(part.begin, part.end - part.begin));
    backend.all_gather_parts_half(Scope::kNode, layered);
    for (std::size_t i = 0; i < kCount; ++i) {
      const float sum = kernels::from_half(ring[i]);
      if (std::abs(sum - kernels::from_half(layered[i])) > 2e-3F * (1 + std::abs(sum)))
        throw std::runtime_error("sums differ at " + std::to_string(i));
    }
    results[static_cast<std::size_t>(backend.rank())] = layered;
  });
  for (const auto& each : results) CHECK(each == results[0]);
}

TEST_CASE("gathering brings every rank's bytes to its place") {
  on_each_rank(3, 8, [&](CommBackend& backend) {
    constexpr std::size_t kEach = 1'500'000;
    std::vector<std::byte> all(3 * kEach);
    std::fill_n(all.begin() + static_cast<std::ptrdiff_t>(kEach) * backend.rank(), kEach,
                static_cast<std::byte>(backend.rank() + 1));
    backend.all_gather(all);
    for (std::size_t rank = 0; rank < 3; ++rank)
      if (all[rank * kEach] != static_cast<std::byte>(rank + 1) ||
          all[(rank + 1) * kEach - 1] != static_cast<std::byte>(rank + 1))
        throw std::runtime_error("wrong bytes");
  });
}

TEST_CASE("parts go to their ranks and theirs come back, at any size") {
  for (const std::size_t each : {1U, 7U, 300'000U})
    on_each_rank(3, 2, [&](CommBackend& backend) {
      std::vector<float> parts(3 * each);
      for (std::size_t i = 0; i < parts.size(); ++i)
        parts[i] = static_cast<float>(100 * backend.rank()) + static_cast<float>(i / each) +
                   static_cast<float>(i % each % 97) * 0.001F;
      const std::vector<float> sent = parts;
      backend.all_to_all(std::as_writable_bytes(std::span(parts)));
      for (std::size_t i = 0; i < parts.size(); ++i)
        REQUIRE(parts[i] == static_cast<float>(100 * (i / each)) +
                                static_cast<float>(backend.rank()) +
                                static_cast<float>(i % each % 97) * 0.001F);
      backend.all_to_all(std::as_writable_bytes(std::span(parts)));
      CHECK(parts == sent);
    });
}

TEST_CASE("ranks that share experts learn what one rank with all of them does from their batches") {
  for (const std::int64_t choices : {1, 2})
    for (const std::int64_t ranks : {2, 4}) {
      CAPTURE(choices);
      CAPTURE(ranks);
      Settings settings = tiny_transformer();
      settings.experts = 4;
      settings.expert_choices = choices;
      settings.router_imbalance = 1.5;
      settings.accumulate = ranks;
      const auto whole = losses_of(train_ranks(settings));
      settings.accumulate = 1;
      settings.ranks = ranks;
      settings.expert_parallel = true;
      const auto shared = losses_of(train_ranks(settings));
      REQUIRE(shared.size() == whole.size());
      for (std::size_t i = 0; i < whole.size(); ++i)
        CHECK(shared[i] == doctest::Approx(whole[i]).epsilon(1e-4));
    }
}

TEST_CASE("ranks that share each layer learn what one rank with all of it does") {
  for (const bool by_tokens : {false, true})
    for (const std::int64_t ranks : {2, 3, 4})
      for (const bool fused : {false, true}) {
        CAPTURE(by_tokens);
        CAPTURE(ranks);
        CAPTURE(fused);
        Settings settings = tiny_transformer();
        settings.heads = 12;
        settings.features = 24;
        settings.batch = 3;
        settings.fused_attention = settings.fused_ln = settings.fused_bias_act = fused;
        if (!fused) settings.graph_compiler = GraphCompiler::kOff;
        if (fused) settings.window = 4;
        const auto whole = losses_of(train_ranks(settings));
        settings.ranks = ranks;
        settings.tensor_parallel = true;
        settings.sequence_parallel = by_tokens;
        const TrainedRanks shared = train_ranks(settings);
        for (const RunResult& result : shared.results) {
          REQUIRE(result.steps.size() == whole.size());
          for (std::size_t i = 0; i < whole.size(); ++i)
            CHECK(static_cast<double>(*result.steps[i].loss) ==
                  doctest::Approx(whole[i]).epsilon(2e-5));
        }
        CHECK(whole.back() < whole.front());
      }
}

TEST_CASE("four ranks are one rank that adds up four micro batches") {
  Settings settings = tiny_settings();
  settings.steps = 6;
  settings.learning_rate = 0.02;
  settings.accumulate = 4;
  const TrainedRanks one = train_ranks(settings);
  settings.accumulate = 1;
  settings.ranks = 4;
  const TrainedRanks four = train_ranks(settings);
  CHECK(four.same);
  // Sums in another order; they grow apart a little from step to step.
  CHECK(distance(one.weights, four.weights) < 2e-3);
  settings.accumulate = 2;
  settings.ranks = 2;
  CHECK(distance(one.weights, train_ranks(settings).weights) < 2e-3);
  // Sums over ranks of each micro batch, or of the sums: beside the backward pass or after it.
  settings.sum_each_batch = true;
  for (const bool overlap : {true, false}) {
    settings.overlap = overlap;
    const TrainedRanks each = train_ranks(settings);
    CHECK(each.same);
    CHECK(distance(one.weights, each.weights) < 2e-3);
  }
}

TEST_CASE("memory that comes and goes changes no result of ranks and micro batches") {
  Settings settings = tiny_settings();
  settings.steps = 4;
  settings.ranks = 2;
  settings.accumulate = 2;
  for (Compression compression : {Compression::kNone, Compression::kPowerSgd}) {
    settings.compress = compression;
    settings.raw_allocator = false;
    const TrainedRanks planned = train_ranks(settings);
    settings.raw_allocator = true;
    const TrainedRanks raw = train_ranks(settings);
    CHECK(raw.same);
    CHECK(raw.weights == planned.weights);
  }
}

TEST_CASE("four ranks of a detector are one that adds up four micro batches, too") {
  const test::TemporaryFolder cache;
  Settings settings = test::tiny_detector(cache.path());
  settings.steps = 4;
  settings.batch = 4;
  settings.learning_rate = 0.01;
  settings.accumulate = 4;
  const TrainedRanks one = train_ranks(settings);
  settings.accumulate = 1;
  settings.ranks = 4;
  const TrainedRanks four = train_ranks(settings);
  CHECK(four.same);
  CHECK(distance(one.weights, four.weights) < 2e-3);
}

TEST_CASE("buckets, overlap and topology change no result") {
  Settings settings = tiny_settings();
  settings.steps = 4;
  settings.ranks = 4;
  settings.ranks_per_node = 2;
  const TrainedRanks usual = train_ranks(settings);
  CHECK(usual.same);
  settings.overlap = false;
  CHECK(train_ranks(settings).weights == usual.weights);
  settings.first_bucket_mb = 0;
  settings.bucket_mb = 0;
  CHECK(distance(train_ranks(settings).weights, usual.weights) < 1e-4);
  settings.overlap = true;
  settings.topology = Topology::kHierarchical;
  const TrainedRanks layered = train_ranks(settings);
  CHECK(layered.same);
  CHECK(distance(layered.weights, usual.weights) < 1e-3);
  settings.compress = Compression::kHalf;
  const TrainedRanks halves = train_ranks(settings);
  CHECK(halves.same);
  CHECK(distance(halves.weights, usual.weights) < 5e-3);
  settings.compress = Compression::kNone;
  settings.topology = Topology::kParameterServer;
  CHECK(distance(train_ranks(settings).weights, usual.weights) < 1e-3);
}

TEST_CASE("compressed gradients still train") {
  Settings settings = tiny_settings();
  settings.samples = 2000;
  settings.ranks = 2;
  settings.batch = 16;
  settings.steps = 60;
  settings.learning_rate = 0.03;
  auto loss_at_end = [&] {
    const TrainedRanks trained = train_ranks(settings);
    CHECK(trained.same);
    double loss = 0;
    for (const RunResult& result : trained.results) loss += *result.final_loss() / 2;
    return loss;
  };
  const double exact = loss_at_end();
  CHECK(exact < 1.8);  // from 2.3
  for (Compression way : {Compression::kHalf, Compression::kInt8, Compression::kDgc,
                          Compression::kPowerSgd, Compression::kOneBit}) {
    settings.compress = way;
    settings.dgc_density = 0.05;
    CAPTURE(static_cast<int>(way));
    // Sparse gradients, and small ones beside large ones, arrive late, which costs most at the start
    // that this is.
    CHECK(loss_at_end() < (way == Compression::kDgc      ? 1.9
                           : way == Compression::kOneBit ? exact + 0.6
                                                         : exact + 0.5));
  }
}

TEST_CASE("a throttled link takes its time on every rank") {
  Settings settings = tiny_settings();
  settings.steps = 12;
  settings.ranks = 2;
  settings.ranks_per_node = 1;
  settings.network_us = 20'000;
  const TrainedRanks slow = train_ranks(settings);
  for (const RunResult& result : slow.results) CHECK(result.median_step_s() > 0.035);
}

TEST_CASE("a rank that fails ends the others with its reason, one that never comes ends them too") {
  const std::shared_ptr<SharedMemory> shared = SharedMemory::anonymous(3);
  std::vector<std::string> told(2);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      try {
        ShmBackend(shared, rank, 8, kRanksTimeout).barrier();
      } catch (const Error& error) {
        told[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  shared->abandon("rank 2 failed: no disk");
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : told)
    CHECK(text.find("rank 2 failed: no disk") != std::string::npos);

  const std::shared_ptr<SharedMemory> lonely = SharedMemory::anonymous(2);
  lonely->join(0);
  CHECK_THROWS_WITH_AS(ShmBackend(lonely, 0, 8, std::chrono::seconds(1)).barrier(),
                       doctest::Contains("Not started: rank 1"), Error);
}

TEST_CASE("the death of a process is noticed") {
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
  CHECK_THROWS_WITH_AS(ShmBackend(shared, 0, 8, kRanksTimeout).barrier(),
                       doctest::Contains("has died"), Error);
}

TEST_CASE("more ranks than data, and switches that do not go together, are refused by name") {
  Settings settings = tiny_settings();
  settings.ranks = 4;
  settings.compress = Compression::kInt8;
  settings.topology = Topology::kHierarchical;
  CHECK_THROWS_WITH_AS(check_rank_settings(settings), doctest::Contains("compress"), Error);
  settings.compress = Compression::kNone;
  settings.ranks_per_node = 3;
  CHECK_THROWS_WITH_AS(check_rank_settings(settings), doctest::Contains("--ranks-per-node"), Error);
  settings.topology = Topology::kFlat;
  settings.slow_rank = 4;
  CHECK_THROWS_WITH_AS(check_rank_settings(settings), doctest::Contains("count from 0"), Error);
}

TEST_CASE("every rank gets the same times of all collectives, of each size up to the largest") {
  std::array<std::string, 3> texts;
  on_each_rank(3, 8, [&](CommBackend& backend) {
    texts[static_cast<std::size_t>(backend.rank())] = measure_collectives(
        backend, {.least_bytes = 1 << 10, .most_bytes = 40 << 10, .repetitions = 3});
  });
  CHECK(texts[0] == texts[1]);
  CHECK(texts[0] == texts[2]);
  const auto json = nlohmann::json::parse(texts[0]);
  CHECK(json.at("schema") == "headway.collectives");
  CHECK(json.at("backend") == "shm");
  CHECK(json.at("ranks") == 3);
  for (const char* kind : {"allreduce", "reducescatter", "allgather"}) {
    std::vector<std::int64_t> sizes;
    for (const auto& row : json.at("kinds").at(kind)) {
      sizes.push_back(row.at("bytes").get<std::int64_t>());
      CHECK(row.at("ns").size() == 3);
      for (const auto& ns : row.at("ns")) CHECK(ns.get<std::int64_t>() > 0);
    }
    CHECK(sizes == std::vector<std::int64_t>{1 << 10, 4 << 10, 16 << 10, 40 << 10});
  }
}

}  // namespace headway::trainer
