// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

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

/// Ranks are threads here. Calls `body` on each with its way to the others, and checks that none
/// fails.
inline void on_each_rank(int ranks, int per_node,
                         const std::function<void(trainer::CommBackend&)>& body) {
  const std::shared_ptr<trainer::SharedMemory> shared = trainer::SharedMemory::anonymous(ranks);
  std::vector<std::thread> threads;
  std::vector<std::string> errors(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        shared->join(rank);
        trainer::ShmBackend backend(shared, rank, per_node, std::chrono::seconds(20));
        body(backend);
      } catch (const std::exception& error) {
        errors[static_cast<std::size_t>(rank)] = error.what();
        shared->abandon(error.what());
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& error : errors) CHECK(error == "");
}

/// What a run of several ranks leaves.
struct TrainedRanks {
  std::vector<float> weights;  ///< all parameters, on rank 0
  bool same = true;            ///< all ranks ended with the same
  std::vector<trainer::RunResult> results;
  std::vector<std::int64_t> memory_bytes;  ///< of each rank's graph
};

/// All parameters of a rank, in the order of the graph.
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

/// Trains `settings.ranks` ranks, each with a device and a model.
inline TrainedRanks train_ranks(const trainer::Settings& settings) {
  const auto ranks = static_cast<std::size_t>(settings.ranks);
  TrainedRanks trained;
  trained.results.resize(ranks);
  trained.memory_bytes.resize(ranks);
  std::vector<std::vector<float>> weights(ranks);
  std::string note;
  const trainer::DataSetup data(
      settings, [](auto, auto) {}, note);
  on_each_rank(static_cast<int>(settings.ranks), static_cast<int>(settings.ranks_per_node),
               [&](trainer::CommBackend& backend) {
                 const auto rank = static_cast<std::size_t>(backend.rank());
                 trainer::HostDevice device({1, 0, 0});
                 trainer::HostCommunicator communicator(device, backend, emulated_links(settings));
                 trainer::TrainerParts parts;
                 if (settings.ranks > 1) parts.communicator = &communicator;
                 trainer::Trainer trainer(settings, device, data.data(), parts);
                 trained.results[rank] = trainer.run({});
                 weights[rank] = weights_of(trainer, settings, data.data());
                 trained.memory_bytes[rank] = trainer.compiled().memory_bytes();
               });
  for (const auto& each : weights) trained.same = trained.same && each == weights[0];
  trained.weights = weights[0];
  return trained;
}

/// Losses of each step, the mean of the ranks'.
inline std::vector<double> losses_of(const TrainedRanks& trained) {
  std::vector<double> losses(trained.results[0].steps.size());
  for (const trainer::RunResult& result : trained.results)
    for (std::size_t i = 0; i < losses.size(); ++i)
      losses[i] +=
          static_cast<double>(*result.steps[i].loss) / static_cast<double>(trained.results.size());
  return losses;
}

/// Settings of a transformer that several ranks train in a fraction of a second.
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
