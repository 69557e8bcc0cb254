// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "reference_trainer/switches/settings.h"

namespace headway::trainer {

/// How a layer's tokens spread over experts and their ranks, where no router computes it. The
/// experts' shares fall as a power of their position, so that the first gets `router_imbalance`
/// times the mean. The order of experts differs by layer and stays the same for the run. Each
/// rank's tokens of each batch scatter around these shares as independent choices do. The result
/// depends on settings, layer and batch alone, so that all ranks know it. Not thread safe: one per
/// rank.
class ExpertLoad {
 public:
  explicit ExpertLoad(const Settings& settings);

  /// By expert: its share of the tokens times the number of experts; the mean is 1.
  std::vector<float> favour(std::int64_t layer) const;
  /// Tokens of a rank's experts in a batch, as a share of the mean.
  double of_rank(std::int64_t rank, std::int64_t layer, std::int64_t batch);
  /// The same for the rank that gets most.
  double most(std::int64_t layer, std::int64_t batch);

 private:
  struct Loads {
    std::int64_t batch = -1;
    std::vector<double> of_rank;
  };
  const Loads& loads(std::int64_t layer, std::int64_t batch);

  const std::uint64_t seed_;
  const std::int64_t ranks_;
  const std::int64_t experts_;
  const double tokens_;          ///< tokens that a rank sends in a layer, counted once per choice
  std::vector<double> falling_;  ///< shares by position
  std::map<std::int64_t, std::vector<double>> shares_;  ///< by layer, then expert
  std::map<std::int64_t, Loads> loads_;                 ///< by layer, for the last batch asked for
};

}  // namespace headway::trainer
