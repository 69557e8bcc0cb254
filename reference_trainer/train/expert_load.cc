// SPDX-License-Identifier: MIT
#include "reference_trainer/train/expert_load.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reference_trainer/data/random.h"

namespace headway::trainer {
namespace {

/// Shares that fall as place^-power, with the power for which the first share is `times` the mean.
std::vector<double> falling_shares(std::int64_t count, double times) {
  const auto n = static_cast<double>(count);
  std::vector<double> shares(static_cast<std::size_t>(count), 1 / n);
  if (times <= 1 || count < 2) return shares;
  auto first = [&](double power) {
    double sum = 0;
    for (std::int64_t i = 1; i <= count; ++i) sum += std::pow(static_cast<double>(i), -power);
    return n / sum;
  };
  double low = 0;
  double high = 64;
  for (int i = 0; i < 80; ++i) {
    const double middle = (low + high) / 2;
    (first(middle) < times ? low : high) = middle;
  }
  double sum = 0;
  for (std::size_t i = 0; i < shares.size(); ++i)
    sum += shares[i] = std::pow(static_cast<double>(i + 1), -high);
  for (double& one : shares) one /= sum;
  return shares;
}

std::vector<double> shares_of_layer(const std::vector<double>& falling, std::uint64_t seed,
                                    std::int64_t layer) {
  std::vector<double> shares = falling;
  Random random(seed, 0xE4BE, static_cast<std::uint64_t>(layer));
  for (std::size_t i = shares.size(); i > 1; --i)
    std::swap(shares[i - 1],
              shares[std::min(
                  i - 1, static_cast<std::size_t>(random.uniform() * static_cast<double>(i)))]);
  return shares;
}

}  // namespace

ExpertLoad::ExpertLoad(const Settings& s)
    : seed_(static_cast<std::uint64_t>(s.seed)),
      ranks_(s.expert_parallel ? s.ranks : 1),
      experts_(s.experts),
      tokens_(static_cast<double>(s.batch * s.sequence * s.expert_choices)),
      // No token chooses an expert twice.
      falling_(falling_shares(
          s.experts, std::min(s.router_imbalance, static_cast<double>(s.experts) /
                                                      static_cast<double>(s.expert_choices)))) {}

std::vector<float> ExpertLoad::favour(std::int64_t layer) const {
  std::vector<float> result;
  for (double share : shares_of_layer(falling_, seed_, layer))
    result.push_back(static_cast<float>(share * static_cast<double>(experts_)));
  return result;
}

const ExpertLoad::Loads& ExpertLoad::loads(std::int64_t layer, std::int64_t batch) {
  std::vector<double>& shares = shares_[layer];
  if (shares.empty()) shares = shares_of_layer(falling_, seed_, layer);
  Loads& its = loads_[layer];
  if (its.batch == batch && !its.of_rank.empty()) return its;
  its.batch = batch;
  its.of_rank.assign(static_cast<std::size_t>(ranks_), 0);
  const std::int64_t each = experts_ / ranks_;
  for (std::int64_t from = 0; from < ranks_; ++from) {
    Random random(seed_ * 0x10001 + static_cast<std::uint64_t>(from),
                  0xE4BE0000 + static_cast<std::uint64_t>(layer),
                  static_cast<std::uint64_t>(batch));
    std::vector<double> tokens;
    for (double share : shares) {
      const double mean = tokens_ * share;
      tokens.push_back(std::max(0.0, mean + random.normal() * std::sqrt(mean * (1 - share))));
    }
    const double all = std::accumulate(tokens.begin(), tokens.end(), 0.0);
    for (std::size_t e = 0; e < tokens.size(); ++e)
      its.of_rank[e / static_cast<std::size_t>(each)] += tokens[e] / all;
  }
  return its;
}

double ExpertLoad::of_rank(std::int64_t rank, std::int64_t layer, std::int64_t batch) {
  return ranks_ == 1 ? 1 : loads(layer, batch).of_rank[static_cast<std::size_t>(rank)];
}

double ExpertLoad::most(std::int64_t layer, std::int64_t batch) {
  return std::max(1.0, std::ranges::max(loads(layer, batch).of_rank));
}

}  // namespace headway::trainer
