// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "reference_trainer/switches/settings.h"

namespace headway::trainer {

/// How a layer's tokens spread over experts and the ranks that have them, where no router computes it: shares of experts fall as
/// a power of their place, so that the first gets `router_imbalance` times the mean; which is first differs by layer and stays
/// for the run. Each rank's tokens of each batch scatter around that as independent choices do. A function of settings, layer
/// and batch alone, so that all ranks know the same. Not thread safe: one per rank.
class ExpertLoad {
 public:
  explicit ExpertLoad(const Settings& settings);

  /// Share of the tokens by expert, times their number: 1 is the mean.
  std::vector<float> favour(std::int64_t layer) const;
  /// Tokens that a rank's experts get in a batch, as a share of the mean.
  double of_rank(std::int64_t rank, std::int64_t layer, std::int64_t batch);
  /// Of the rank with most.
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
  const double tokens_;          ///< that a rank sends in a layer, once for each choice
  std::vector<double> falling_;  ///< shares by place
  std::map<std::int64_t, std::vector<double>> shares_;  ///< by layer, expert
  std::map<std::int64_t, Loads> loads_;                 ///< by layer, of the last batch asked for
};

}  // namespace headway::trainer
