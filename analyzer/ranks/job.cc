// SPDX-License-Identifier: MIT
#include "analyzer/ranks/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "analyzer/ranks/job_parts.h"
#include "common/error.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

/// A collective is late when the longest wait is at least this and a tenth of the transfer. Shorter
/// waits are the scatter of launches and of the network.
constexpr DurationNs kLateAtLeast{5'000};

void sort_and_check(std::vector<RankSummary>& ranks) {
  std::sort(ranks.begin(), ranks.end(), [](const RankSummary& a, const RankSummary& b) {
    return std::tie(a.identity.rank, a.file, a.process) <
           std::tie(b.identity.rank, b.file, b.process);
  });
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    if (ranks[i].identity.rank != ranks[i - 1].identity.rank) continue;
    fail_input(
        "{} and {}: both are rank {}. A job has one recording per rank; to compare two runs, use "
        "`headway diff`.",
        ranks[i - 1].file, ranks[i].file, ranks[i].identity.rank);
  }
}

/// How long each rank waits in each collective, and how often each rank is last.
void add_waits(JobAnalysis& job) {
  for (std::size_t r = 0; r < job.ranks.size(); ++r)
    job.roles[r].waits.resize(job.ranks[r].collectives.rows.size());
  std::vector<DurationNs> waited_for(job.ranks.size());
  DurationNs waited;
  for (const MatchedCollective& c : job.matching.all) {
    if (!c.tells_waits) continue;
    bool late = is_late(c);
    for (Member m : job.matching.of(c)) {
      RankRole& role = job.roles[m.rank];
      role.waits[m.row] = wait_of(c, job.ranks[m.rank].collectives.rows[m.row]);
      waited += role.waits[m.row];
      waited_for[c.last] += role.waits[m.row];
      ++role.synchronised;
      role.last += late && m.rank == c.last;
    }
  }
  for (std::size_t r = 0; r < job.ranks.size(); ++r)
    job.roles[r].wait_share = ratio(waited_for[r], waited);
}

/// Exposed time, per steady step, of collectives whose waiting share is unknown: other ranks have no matching
/// collective, or its members do not wait for each other.
void add_unsplit(JobAnalysis& job) {
  std::vector<std::vector<bool>> is_split(job.ranks.size());
  for (std::size_t r = 0; r < job.ranks.size(); ++r)
    is_split[r].resize(job.ranks[r].collectives.rows.size());
  for (const MatchedCollective& c : job.matching.all) {
    if (!c.tells_waits) continue;
    for (Member m : job.matching.of(c)) is_split[m.rank][m.row] = true;
  }
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    const RankDevice* device = main_device(job.ranks[r]);
    if (!device || device->steady_steps == 0) continue;
    DurationNs sum;
    for (const Exposure& exposure : device->exposures)
      if (device->steps[exposure.step].steady && !is_split[r][exposure.collective])
        sum += exposure.time.length();
    job.roles[r].unsplit = sum / device->steady_steps;
  }
}

/// Moves the waiting part of exposed communication into `straggler_wait`. A collective's kernel starts when its
/// rank arrives, so the wait is the first part of the kernel.
void split_straggler_wait(JobAnalysis& job) {
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    RankSummary& rank = job.ranks[r];
    for (RankDevice& device : rank.devices) {
      for (const Exposure& exposure : device.exposures) {
        DurationNs waited = waited_in(job, static_cast<std::uint32_t>(r), exposure);
        ClassTimes& times = device.steps[exposure.step].times;
        times[TimeClass::kCommTransfer] -= waited;
        times[TimeClass::kStragglerWait] += waited;
      }
      average_steps(device);
      for (const RankStep& step : device.steps)
        HEADWAY_INVARIANT(step.times.total() == step.time.length());
    }
    const RankDevice* device = main_device(rank);
    if (device) job.roles[r].exposed_wait = device->per_steady_step[TimeClass::kStragglerWait];
  }
}

void add_collective_figures(JobAnalysis& job) {
  struct Sample {
    std::vector<double> own;  ///< mean duration over the members, wait included
    std::vector<double> transfer;
    std::vector<double> wait;
    DurationNs total_wait;
  };
  std::map<std::tuple<std::uint32_t, std::int64_t, std::int32_t>, Sample> samples;
  for (const MatchedCollective& c : job.matching.all) {
    Sample& sample = samples[{c.group, c.bytes, c.ranks}];
    sample.transfer.push_back(static_cast<double>(c.transfer.ns));
    sample.wait.push_back(static_cast<double>(c.longest_wait.ns));
    DurationNs own;
    for (Member m : job.matching.of(c)) {
      own += job.ranks[m.rank].collectives.rows[m.row].time.length();
      sample.total_wait += job.roles[m.rank].waits[m.row];
    }
    sample.own.push_back(static_cast<double>((own / c.member_count).ns));
  }
  for (auto& [key, sample] : samples) {
    CollectiveFigures figures;
    figures.group = job.matching.groups[std::get<0>(key)].group;
    figures.bytes = std::get<1>(key);
    figures.ranks = std::get<2>(key);
    figures.count = static_cast<std::int64_t>(sample.transfer.size());
    figures.own = {static_cast<std::int64_t>(median(sample.own))};
    figures.transfer = {static_cast<std::int64_t>(median(sample.transfer))};
    figures.wait = {static_cast<std::int64_t>(median(sample.wait))};
    figures.total_wait = sample.total_wait;
    if (figures.bytes > 0 && figures.transfer.ns > 0) {
      figures.bytes_per_s = static_cast<double>(figures.bytes) / figures.transfer.seconds();
      figures.bus_bytes_per_s = figures.bytes_per_s * bus_factor(figures.group.kind, figures.ranks);
    }
    job.collectives.push_back(std::move(figures));
  }
  std::stable_sort(job.collectives.begin(), job.collectives.end(),
                   [](const CollectiveFigures& a, const CollectiveFigures& b) {
                     return a.transfer * a.count > b.transfer * b.count;
                   });
}

/// Mean lateness at synchronising collectives, where the clocks allow it.
void add_lateness(JobAnalysis& job) {
  struct Sum {
    double late = 0;
    std::int64_t count = 0;
  };
  std::vector<Sum> sums(job.ranks.size());
  for (const MatchedCollective& c : job.matching.all) {
    if (!c.tells_waits || c.one_sided) continue;
    std::span<const Member> members = job.matching.of(c);
    TimeNs earliest = TimeNs::max();
    auto start = [&](Member m) {
      return job.clocks.to_reference(job.ranks, m.rank,
                                     job.ranks[m.rank].collectives.rows[m.row].time.begin);
    };
    bool aligned = std::all_of(members.begin(), members.end(), [&](Member m) {
      return job.clocks.hosts[job.clocks.host_of[m.rank]].aligned;
    });
    if (!aligned) continue;
    for (Member m : members) earliest = std::min(earliest, start(m));
    for (Member m : members) {
      sums[m.rank].late += static_cast<double>((start(m) - earliest).ns);
      ++sums[m.rank].count;
    }
  }
  const DurationNs measurable = job.clocks.worst_residual() * 3;
  for (std::size_t r = 0; r < sums.size(); ++r) {
    if (sums[r].count == 0) continue;
    DurationNs mean{static_cast<std::int64_t>(sums[r].late / static_cast<double>(sums[r].count))};
    if (mean >= measurable) job.roles[r].lateness = mean;
  }
}

std::uint32_t critical_rank(const JobAnalysis& job) {
  std::uint32_t worst = 0;
  std::uint32_t slowest = 0;
  for (std::uint32_t r = 1; r < job.ranks.size(); ++r) {
    if (job.roles[r].caused_wait > job.roles[worst].caused_wait) worst = r;
    if (job.ranks[r].step > job.ranks[slowest].step) slowest = r;
  }
  return ratio(job.roles[worst].caused_wait, job.step) >= 0.01 ? worst : slowest;
}

}  // namespace

bool is_late(const MatchedCollective& c) {
  return c.longest_wait >= kLateAtLeast && c.longest_wait * 10 >= c.transfer;
}

DurationNs waited_in(const JobAnalysis& job, std::uint32_t rank, const Exposure& exposure) {
  const RankCollective& row = job.ranks[rank].collectives.rows[exposure.collective];
  Interval wait{row.time.begin, row.time.begin + job.roles[rank].waits[exposure.collective]};
  return intersect(wait, exposure.time).length();
}

const RankDevice* main_device(const RankSummary& rank) {
  const RankDevice* main = nullptr;
  for (const RankDevice& device : rank.devices) {
    if (device.steps.empty()) continue;
    if (!main || device.per_steady_step.total() > main->per_steady_step.total()) main = &device;
  }
  return main;
}

JobAnalysis combine(std::vector<RankSummary> summaries) {
  JobAnalysis job;
  sort_and_check(summaries);
  job.ranks = std::move(summaries);
  job.roles.resize(job.ranks.size());
  for (const RankSummary& rank : job.ranks) {
    job.world_size = std::max(job.world_size, rank.world_size);
    job.step = std::max(job.step, rank.step);
  }
  job.world_size = std::max(job.world_size, static_cast<std::int32_t>(job.ranks.size()));
  job.matching = match_collectives(job.ranks);
  job.clocks = align_clocks(job.ranks, job.matching);
  add_waits(job);
  add_unsplit(job);
  split_straggler_wait(job);
  add_stragglers(job);
  add_collective_figures(job);
  add_lateness(job);
  add_imbalance(job);
  job.critical = job.ranks.empty() ? 0 : critical_rank(job);
  add_job_doubts(job);
  return job;
}

std::string rank_label(const RankSummary& rank) {
  return fmt::format("rank {}", rank.identity.rank);
}

std::string rank_list(const JobAnalysis& job, std::span<const std::uint32_t> ranks) {
  constexpr std::size_t kShown = 6;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  std::size_t shown = 0;
  std::size_t pieces = 0;
  while (shown < ranks.size() && pieces < kShown) {
    std::size_t run = shown + 1;
    auto number = [&](std::size_t i) { return job.ranks[ranks[i]].identity.rank; };
    while (run < ranks.size() && number(run) == number(run - 1) + 1) ++run;
    text += fmt::format("{}{}", pieces ? ", " : "", number(shown));
    if (run - shown > 1) text += fmt::format("{}{}", run - shown > 2 ? "-" : ", ", number(run - 1));
    shown = run;
    ++pieces;
  }
  if (shown < ranks.size()) text += fmt::format(" and {} more", ranks.size() - shown);
  return text;
}

}  // namespace headway::analyzer
