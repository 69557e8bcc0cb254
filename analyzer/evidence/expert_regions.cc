// SPDX-License-Identifier: MIT
#include "analyzer/evidence/expert_regions.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyzer/ranks/job.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

/// A message with less than this share of the largest one's bytes carries counts of tokens.
constexpr double kCounts = 0.01;

using Regions = std::map<std::int64_t, std::vector<ExpertRegion>>;

Regions regions_of(const RankSummary& rank) {
  std::vector<std::uint32_t> rows(rank.collectives.rows.size());
  std::iota(rows.begin(), rows.end(), 0);
  Regions regions = expert_regions(rank.collectives, rows);
  const RankDevice* device = main_device(rank);
  std::erase_if(regions, [&](const auto& one) {
    return !device || std::ranges::none_of(device->steps, [&](const RankStep& step) {
      return step.steady && step.number == one.first;
    });
  });
  return regions;
}

/// By row: exposed waiting for other ranks in steady steps.
std::vector<DurationNs> exposed_waits(const JobAnalysis& job, std::size_t rank) {
  const RankSummary& summary = job.ranks[rank];
  const auto& rows = summary.collectives.rows;
  std::vector<DurationNs> waits(rows.size());
  for (const Exposure& one : main_device(summary)->exposures) {
    const TimeNs begin = rows[one.collective].time.begin;
    const Interval waiting{begin, begin + job.roles[rank].waits[one.collective]};
    const TimeNs from = std::max(waiting.begin, one.time.begin);
    const TimeNs to = std::min(waiting.end, one.time.end);
    if (to > from) waits[one.collective] += to - from;
  }
  return waits;
}

double mean_of(const std::vector<double>& of_ranks) {
  return std::accumulate(of_ranks.begin(), of_ranks.end(), 0.0) /
         static_cast<double>(of_ranks.size());
}

/// Compute time in ns of the steady step with this number; 0 if there is none.
double compute_of(const RankSummary& rank, std::int64_t number) {
  for (const RankStep& step : main_device(rank)->steps)
    if (step.steady && step.number == number)
      return static_cast<double>(
          (step.times[TimeClass::kComputeTensor] + step.times[TimeClass::kComputeOther]).ns);
  return 0;
}

class Balance {
 public:
  explicit Balance(const JobAnalysis& job) : job_(job) {
    for (std::size_t r = 0; r < job.ranks.size(); ++r) {
      if (!main_device(job.ranks[r])) continue;
      ranks_.push_back(r);
      regions_.push_back(regions_of(job.ranks[r]));
    }
  }

  ExpertBalance run() {
    if (ranks_.size() < 2) return {};
    for (std::size_t i = 0; i < ranks_.size(); ++i)
      waits_of_row_.push_back(exposed_waits(job_, ranks_[i]));
    waits_.resize(ranks_.size());
    outside_.resize(ranks_.size());
    for (const auto& [step, first] : regions_.front())
      if (first.size() == most_layers() && in_all(step, first.size())) add_step(step, first.size());
    return result();
  }

 private:
  std::size_t most_layers() const {
    std::size_t most = 0;
    for (const auto& [step, its] : regions_.front()) most = std::max(most, its.size());
    return most;
  }

  bool in_all(std::int64_t step, std::size_t count) const {
    return std::ranges::all_of(regions_, [&](const Regions& its) {
      const auto at = its.find(step);
      return at != its.end() && at->second.size() == count;
    });
  }

  void add_step(std::int64_t step, std::size_t count) {
    ++steps_;
    last_.resize(count, std::vector<std::int64_t>(ranks_.size()));
    std::vector<double> inside(ranks_.size());
    std::vector<double> all(ranks_.size());
    for (std::size_t layer = 0; layer < count; ++layer) {
      for (std::size_t i = 0; i < ranks_.size(); ++i) {
        const auto& rows = job_.ranks[ranks_[i]].collectives.rows;
        const ExpertRegion& region = regions_[i].at(step)[layer];
        const DurationNs time = rows[region.takes].time.begin - rows[region.brings].time.end;
        inside[i] = static_cast<double>(std::max<std::int64_t>(0, time.ns));
        all[i] += inside[i];
        waits_[i] += static_cast<double>(waits_of_row_[i][region.takes].ns);
      }
      mean_ += mean_of(inside);
      most_ += std::ranges::max(inside);
      ++last_[layer][static_cast<std::size_t>(std::ranges::max_element(inside) - inside.begin())];
    }
    for (std::size_t i = 0; i < ranks_.size(); ++i)
      outside_[i] += std::max(0.0, compute_of(job_.ranks[ranks_[i]], step) - all[i]);
  }

  ExpertBalance result() const {
    ExpertBalance balance;
    if (steps_ == 0) return balance;
    const auto steps = static_cast<double>(steps_);
    auto per_step = [&](double ns) { return DurationNs{std::llround(ns / steps)}; };
    balance.layers = last_.size();
    balance.steps = steps_;
    balance.mean = per_step(mean_);
    balance.most = per_step(most_);
    if (mean_of(outside_) > 0) balance.usual = std::ranges::max(outside_) / mean_of(outside_) - 1;
    balance.waits = per_step(mean_of(waits_));
    const double excess = most_ - mean_;
    const double share = excess > 0 ? std::max(0.0, 1 - balance.usual * mean_ / excess) : 0;
    balance.uneven = per_step(mean_of(waits_) * share);
    balance.uneven_of_rank.resize(job_.ranks.size());
    for (std::size_t i = 0; i < ranks_.size(); ++i)
      balance.uneven_of_rank[ranks_[i]] = per_step(waits_[i] * share);
    for (const std::vector<std::int64_t>& counts : last_) {
      const auto most = std::ranges::max_element(counts);
      const std::size_t rank = ranks_[static_cast<std::size_t>(most - counts.begin())];
      balance.busiest.push_back(
          {job_.ranks[rank].identity.rank, static_cast<double>(*most) / steps});
    }
    return balance;
  }

  const JobAnalysis& job_;
  std::vector<std::size_t> ranks_;  ///< with a device: indices into the job's
  std::vector<Regions> regions_;    ///< of each of them
  std::vector<std::vector<DurationNs>> waits_of_row_;
  std::int64_t steps_ = 0;
  std::vector<double> waits_;  ///< by rank, of all steps, in ns
  double mean_ = 0;
  double most_ = 0;
  std::vector<double> outside_;                  ///< by rank
  std::vector<std::vector<std::int64_t>> last_;  ///< steps by region and rank that took longest
};

}  // namespace

std::map<std::int64_t, std::vector<ExpertRegion>> expert_regions(
    const Collectives& all, std::span<const std::uint32_t> rows) {
  // By communicator and step.
  std::map<std::uint32_t, std::map<std::int64_t, std::vector<std::uint32_t>>> found;
  std::int64_t largest = 0;
  for (std::uint32_t i : rows) {
    const RankCollective& row = all.rows[i];
    if (row.on_host || row.step < 0 || all.groups[row.group].kind != "alltoall") continue;
    largest = std::max(largest, row.bytes);
    found[row.group][row.step].push_back(i);
  }
  Regions regions;
  for (auto& [group, by_step] : found)
    for (auto& [step, its] : by_step) {
      std::erase_if(its, [&](std::uint32_t i) {
        const std::int64_t bytes = all.rows[i].bytes;
        return bytes >= 0 && static_cast<double>(bytes) < kCounts * static_cast<double>(largest);
      });
      if (its.size() % 2 != 0) continue;
      for (std::size_t i = 0; i < its.size(); i += 2) regions[step].push_back({its[i], its[i + 1]});
    }
  return regions;
}

DurationNs usual_wait(const ExpertBalance& balance, std::size_t but_for) {
  std::vector<double> waits;
  for (std::size_t i = 0; i < balance.uneven_of_rank.size(); ++i)
    if (i != but_for) waits.push_back(static_cast<double>(balance.uneven_of_rank[i].ns));
  return waits.empty() ? DurationNs{} : DurationNs{std::llround(median(waits))};
}

ExpertBalance find_expert_balance(const RuleContext& context) {
  return Balance(*context.job).run();
}

}  // namespace headway::analyzer
