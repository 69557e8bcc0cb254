// SPDX-License-Identifier: MIT
// Ranks that exchange through shared memory and are threads of the test, each with a device and a
// model.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "reference_trainer/comm/host_communicator.h"
#include "reference_trainer/comm/ranks.h"
#include "reference_trainer/comm/shm_backend.h"
#include "reference_trainer/train/build_model.h"
#include "tests/reference_trainer/tiny_training.h"

namespace headway::test {

inline constexpr std::chrono::seconds kRanksTimeout{20};

struct RankOptions {
  int ranks_per_node = 8;
  /// Bytes of a message that are on their way at once.
  std::size_t message_piece = trainer::SharedMemory::kChannelBytes;
};

/// Runs `body` on each rank; a rank that throws ends the others, and fails the test.
inline void on_each_rank(int ranks, const RankOptions& options,
                         const std::function<void(trainer::CommBackend&)>& body) {
  const std::shared_ptr<trainer::SharedMemory> shared = trainer::SharedMemory::anonymous(ranks);
  std::vector<std::thread> threads;
  std::vector<std::string> errors(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        shared->join(rank);
        trainer::ShmBackend backend(shared, rank, options.ranks_per_node, kRanksTimeout,
                                    options.message_piece);
        body(backend);
      } catch (const std::exception& error) {
        errors[static_cast<std::size_t>(rank)] = error.what();
        shared->abandon(error.what());
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& error : errors) CHECK(error == "");
}
inline void on_each_rank(int ranks, int per_node,
                         const std::function<void(trainer::CommBackend&)>& body) {
  on_each_rank(ranks, RankOptions{per_node}, body);
}

/// Trains on each rank. `look` sees each rank's trainer and its data after the run.
inline std::vector<trainer::RunResult> train_each_rank(
    const trainer::Settings& settings, const RankOptions& options, int message_buffers,
    const std::function<void(int rank, const trainer::Trainer&, const trainer::TrainingData&)>&
        look) {
  std::vector<trainer::RunResult> results(static_cast<std::size_t>(settings.ranks));
  std::string note;
  const trainer::DataSetup data(
      settings, [](auto, auto) {}, note);
  on_each_rank(static_cast<int>(settings.ranks), options, [&](trainer::CommBackend& backend) {
    trainer::HostDevice device({1, 0, 0});
    trainer::HostCommunicator communicator(device, backend, trainer::emulated_links(settings));
    trainer::TrainerParts parts;
    if (settings.ranks > 1) parts.communicator = &communicator;
    parts.message_buffers = message_buffers;
    trainer::Trainer trainer(settings, device, data.data(), parts);
    results[static_cast<std::size_t>(backend.rank())] = trainer.run({});
    look(backend.rank(), trainer, data.data());
  });
  return results;
}

/// What a run of several ranks leaves.
struct TrainedRanks {
  std::vector<float> weights;  ///< all parameters of rank 0, one after the other
  bool same = true;            ///< all ranks ended with the same
  int padded = 0;              ///< rank 0's parameters whose layout has padding
  int dirty = 0;               ///< those of them whose padding is not zero
  std::vector<trainer::RunResult> results;
  std::vector<std::int64_t> memory_bytes;  ///< of each rank's graph
};

/// All parameters, in the order of the graph. Ranks that share them by units must all call it.
inline std::vector<float> weights_of(const trainer::Trainer& trainer,
                                     const trainer::Settings& settings,
                                     const trainer::TrainingData& data) {
  trainer::ParameterSet gathered;
  if (settings.shard_parameters)
    gathered = trainer.parameters(build_forward_model(settings, data, false).graph);
  std::vector<float> all;
  for (trainer::ValueId id : trainer.graph().parameters()) {
    const auto values = settings.shard_parameters ? gathered.at(trainer.graph().value(id).name)
                                                  : trainer.compiled().read(id);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

/// Counts the parameters that oneDNN pads, and those whose padding may not be zero: more values
/// than the parameter has are not.
inline void look_at_padding(const trainer::Trainer& of, TrainedRanks& trained) {
  for (trainer::ValueId parameter : of.graph().parameters()) {
    const std::int64_t elements = of.graph().value(parameter).shape.elements();
    const std::int64_t all = of.compiled().memory_size(parameter) / std::int64_t{sizeof(float)};
    if (all <= elements) continue;
    const auto* values = static_cast<const float*>(of.compiled().memory(parameter).address);
    ++trained.padded;
    trained.dirty += all - std::count(values, values + all, 0.0F) > elements;
  }
}

/// For ranks that each have the whole model, or share it by units.
inline TrainedRanks train_ranks(const trainer::Settings& settings) {
  const auto ranks = static_cast<std::size_t>(settings.ranks);
  TrainedRanks trained;
  trained.memory_bytes.resize(ranks);
  std::vector<std::vector<float>> weights(ranks);
  trained.results = train_each_rank(
      settings, RankOptions{static_cast<int>(settings.ranks_per_node)}, 0,
      [&](int rank, const trainer::Trainer& trainer, const trainer::TrainingData& data) {
        const auto r = static_cast<std::size_t>(rank);
        weights[r] = weights_of(trainer, settings, data);
        trained.memory_bytes[r] = trainer.compiled().memory_bytes();
        if (rank == 0 && !settings.shard_parameters) look_at_padding(trainer, trained);
      });
  for (const auto& each : weights) trained.same = trained.same && each == weights[0];
  trained.weights = weights[0];
  return trained;
}

/// Losses of each step, the mean over the ranks.
inline std::vector<double> losses_of(const TrainedRanks& trained) {
  std::vector<double> losses(trained.results[0].steps.size());
  for (const trainer::RunResult& result : trained.results)
    for (std::size_t i = 0; i < losses.size(); ++i)
      losses[i] +=
          static_cast<double>(*result.steps[i].loss) / static_cast<double>(trained.results.size());
  return losses;
}

/// The difference of two vectors, as a share of the first one's length.
inline double distance(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double difference = 0;
  double size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(double{a[i]} - double{b[i]}, 2);
    size += std::pow(double{a[i]}, 2);
  }
  return std::sqrt(difference / size);
}

/// A transformer whose step takes a few milliseconds.
inline trainer::Settings tiny_transformer() {
  trainer::Settings settings = tiny_settings();
  settings.model = trainer::ModelKind::kTransformer;
  settings.data = trainer::DataKind::kGenerated;
  settings.layers = 2;
  settings.features = 16;
  settings.heads = 4;
  settings.sequence = 8;
  settings.batch = 2;
  settings.dropout = 0;
  settings.eval = false;
  settings.steps = 8;
  settings.ranks_per_node = 8;
  return settings;
}

}  // namespace headway::test
