// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "analyzer/ranks/job_parts.h"

namespace headway::analyzer {
namespace {

/// Pearson's correlation of pairs whose means are zero already.
double correlation(const std::vector<std::pair<double, double>>& centred) {
  double xy = 0;
  double xx = 0;
  double yy = 0;
  for (const auto& [x, y] : centred) {
    xy += x * y;
    xx += x * x;
    yy += y * y;
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

}  // namespace

void add_imbalance(JobAnalysis& job) {
  CommonSteps common = common_steps(job);
  Imbalance& result = job.imbalance;
  if (common.ranks.size() < 2 || common.numbers.empty()) return;
  result.steps = static_cast<std::int64_t>(common.numbers.size());
  result.work_measure = job.ranks[common.ranks.front()].work_measure;
  for (std::uint32_t r : common.ranks) {
    if (job.ranks[r].work_measure != result.work_measure) result.work_measure = WorkMeasure::kNone;
  }
  auto n = static_cast<double>(common.ranks.size());
  std::vector<std::int64_t> slowest(common.ranks.size());
  std::vector<std::pair<double, double>> centred;
  double compute_sum = 0;
  double excess_sum = 0;
  double spread_sum = 0;
  for (const std::vector<std::uint32_t>& steps : common.of) {
    std::vector<double> compute;
    std::vector<double> work;
    for (std::size_t p = 0; p < common.ranks.size(); ++p) {
      const RankStep& step = main_device(job.ranks[common.ranks[p]])->steps[steps[p]];
      compute.push_back(static_cast<double>(step.times.of_group(TimeGroup::kCompute).ns));
      work.push_back(static_cast<double>(step.work));
    }
    auto mean = [&](const std::vector<double>& values) {
      double sum = 0;
      for (double v : values) sum += v;
      return sum / n;
    };
    double mean_compute = mean(compute);
    double mean_work = mean(work);
    auto most = std::max_element(compute.begin(), compute.end());
    compute_sum += mean_compute;
    excess_sum += *most - mean_compute;
    ++slowest[static_cast<std::size_t>(most - compute.begin())];
    for (std::size_t p = 0; p < compute.size(); ++p)
      centred.emplace_back(work[p] - mean_work, compute[p] - mean_compute);
    auto [least_work, most_work] = std::minmax_element(work.begin(), work.end());
    if (mean_work > 0) spread_sum += (*most_work - *least_work) / mean_work;
  }
  auto steps = static_cast<double>(common.of.size());
  result.mean_compute = {static_cast<std::int64_t>(compute_sum / steps)};
  result.excess = {static_cast<std::int64_t>(excess_sum / steps)};
  auto most_often = std::max_element(slowest.begin(), slowest.end());
  result.slowest = common.ranks[static_cast<std::size_t>(most_often - slowest.begin())];
  result.slowest_share = static_cast<double>(*most_often) / steps;
  if (result.work_measure != WorkMeasure::kNone) {
    result.work_correlation = correlation(centred);
    result.work_spread = spread_sum / steps;
  }
}

}  // namespace headway::analyzer
