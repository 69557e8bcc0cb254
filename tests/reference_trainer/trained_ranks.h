// SPDX-License-Identifier: MIT
// Ranks as threads, each with a device and a model.
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
#include "tests/reference_trainer/tiny_training.h"

namespace headway::test {

inline constexpr std::chrono::seconds kRanksTimeout{20};

inline void on_each_rank(int ranks, int per_node,
                         const std::function<void(trainer::CommBackend&)>& body) {
  const std::shared_ptr<trainer::SharedMemory> shared = trainer::SharedMemory::anonymous(ranks);
  std::vector<std::thread> threads;
  std::vector<std::string> errors(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        shared->join(rank);
        trainer::ShmBackend backend(shared, rank, per_node, kRanksTimeout);
        body(backend);
      } catch (const std::exception& error) {
        errors[static_cast<std::size_t>(rank)] = error.what();
        shared->abandon(error.what());
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& error : errors) CHECK(error == "");
}

struct TrainedRanks {
  std::vector<float> weights;  ///< of the stem, on rank 0
  bool same = true;            ///< all ranks ended with the same
  int padded = 0;              ///< rank 0's parameters whose layout has padding
  int dirty = 0;               ///< those of them whose padding is not zero
  std::vector<trainer::RunResult> results;
};

inline std::vector<float> weights_of(const trainer::Trainer& of) {
  std::vector<float> all;
  for (trainer::ValueId parameter : of.graph().parameters()) {
    const auto values = of.compiled().read(parameter);
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

inline TrainedRanks train_ranks(trainer::Settings settings) {
  TrainedRanks trained;
  trained.results.resize(static_cast<std::size_t>(settings.ranks));
  std::vector<std::vector<float>> weights(static_cast<std::size_t>(settings.ranks));
  std::string note;
  const trainer::DataSetup data(
      settings, [](auto, auto) {}, note);
  on_each_rank(static_cast<int>(settings.ranks), static_cast<int>(settings.ranks_per_node),
               [&](trainer::CommBackend& backend) {
                 const auto rank = static_cast<std::size_t>(backend.rank());
                 trainer::HostDevice device({1, 0, 0});
                 trainer::HostCommunicator communicator(device, backend,
                                                        trainer::emulated_links(settings));
                 trainer::TrainerParts parts;
                 if (settings.ranks > 1) parts.communicator = &communicator;
                 trainer::Trainer run(settings, device, data.data(), parts);
                 trained.results[rank] = run.run({});
                 weights[rank] = weights_of(run);
                 if (rank == 0) look_at_padding(run, trained);
               });
  for (const auto& each : weights) trained.same = trained.same && each == weights[0];
  trained.weights = weights[0];
  return trained;
}

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

}  // namespace headway::test
