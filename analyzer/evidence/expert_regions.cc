// SPDX-License-Identifier: MIT
#include "analyzer/evidence/expert_regions.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyzer/ranks/job.h"

namespace headway::analyzer {
namespace {

/// A message with less than this share of the largest one's bytes tells how many tokens will come.
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

/// By row: waiting for others that nothing hid, in steady steps.
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

struct Uneven {
  double mean = 0;
  double most = 0;

  void add(const std::vector<double>& of_ranks) {
    mean += std::accumulate(of_ranks.begin(), of_ranks.end(), 0.0) /
            static_cast<double>(of_ranks.size());
    most += std::ranges::max(of_ranks);
  }
};

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
    std::vector<double> outside(ranks_.size());
    for (std::size_t layer = 0; layer < count; ++layer) {
      for (std::size_t i = 0; i < ranks_.size(); ++i) {
        const auto& rows = job_.ranks[ranks_[i]].collectives.rows;
        const std::vector<ExpertRegion>& its = regions_[i].at(step);
        auto between = [&](std::uint32_t from, std::uint32_t to) {
          const DurationNs time = rows[to].time.begin - rows[from].time.end;
          return static_cast<double>(std::max<std::int64_t>(0, time.ns));
        };
        inside[i] = between(its[layer].brings, its[layer].takes);
        if (layer + 1 < count) outside[i] = between(its[layer].takes, its[layer + 1].brings);
        waits_ += static_cast<double>(waits_of_row_[i][its[layer].takes].ns);
      }
      inside_.add(inside);
      if (layer + 1 < count) outside_.add(outside);
      ++last_[layer][static_cast<std::size_t>(std::ranges::max_element(inside) - inside.begin())];
    }
  }

  ExpertBalance result() const {
    ExpertBalance balance;
    if (steps_ == 0) return balance;
    const auto steps = static_cast<double>(steps_);
    auto per_step = [&](double ns) { return DurationNs{std::llround(ns / steps)}; };
    balance.layers = last_.size();
    balance.steps = steps_;
    balance.mean = per_step(inside_.mean);
    balance.most = per_step(inside_.most);
    balance.usual = outside_.mean > 0 ? outside_.most / outside_.mean - 1 : 0;
    balance.waits = per_step(waits_ / static_cast<double>(ranks_.size()));
    const double explained = balance.usual * inside_.mean;
    const double excess = inside_.most - inside_.mean;
    const double share = excess > 0 ? std::max(0.0, 1 - explained / excess) : 0;
    balance.uneven = {std::llround(static_cast<double>(balance.waits.ns) * share)};
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
  double waits_ = 0;
  Uneven inside_;
  Uneven outside_;
  std::vector<std::vector<std::int64_t>> last_;  ///< steps by region and rank that took longest
};

}  // namespace

std::map<std::int64_t, std::vector<ExpertRegion>> expert_regions(
    const Collectives& all, std::span<const std::uint32_t> rows) {
  // By communicator, step.
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
      for (std::size_t i = 0; i < its.size(); i += 2)
        regions[step].push_back({its[i], its[i + 1]});
    }
  return regions;
}

ExpertBalance find_expert_balance(const RuleContext& context) {
  return Balance(*context.job).run();
}

}  // namespace headway::analyzer
