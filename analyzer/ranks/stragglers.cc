// SPDX-License-Identifier: MIT
// Who makes the others wait, by how much, and what that rank does meanwhile. Needs no common clock:
// all members of a synchronising collective leave it together, so the one with the shortest kernel
// came last.
#include <algorithm>
#include <map>

#include "analyzer/ranks/job_parts.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

/// Exposed wait in steady steps per rank and collective of the rank.
std::vector<std::vector<DurationNs>> exposed_waits(const JobAnalysis& job) {
  std::vector<std::vector<DurationNs>> waits(job.ranks.size());
  for (std::uint32_t r = 0; r < job.ranks.size(); ++r) {
    waits[r].resize(job.ranks[r].collectives.rows.size());
    const RankDevice* device = main_device(job.ranks[r]);
    if (!device) continue;
    for (const Exposure& exposure : device->exposures) {
      if (device->steps[exposure.step].steady)
        waits[r][exposure.collective] += waited_in(job, r, exposure);
    }
  }
  return waits;
}

std::int64_t steady_steps_of(const RankSummary& rank) {
  const RankDevice* device = main_device(rank);
  return device ? device->steady_steps : 0;
}

void add_caused_waits(JobAnalysis& job) {
  std::vector<std::vector<DurationNs>> exposed = exposed_waits(job);
  // [last rank][waiting rank]
  std::map<std::pair<std::uint32_t, std::uint32_t>, DurationNs> caused;
  for (const MatchedCollective& c : job.matching.all) {
    if (!c.tells_waits || !is_late(c)) continue;
    for (Member m : job.matching.of(c)) {
      if (m.rank != c.last) caused[{c.last, m.rank}] += exposed[m.rank][m.row];
    }
  }
  std::vector<std::vector<double>> per_step(job.ranks.size());
  for (const auto& [who, time] : caused) {
    std::int64_t steps = std::max<std::int64_t>(1, steady_steps_of(job.ranks[who.second]));
    per_step[who.first].push_back(static_cast<double>(time.ns) / static_cast<double>(steps));
  }
  for (std::size_t r = 0; r < job.ranks.size(); ++r)
    job.roles[r].caused_wait = {static_cast<std::int64_t>(median(per_step[r]))};
}

/// Longest waits in each step's late collectives, in ns: those for this rank, and all; by [rank][step
/// number]. Not the number of collectives: a rank that is late once a step is last in few of them.
std::vector<std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>>> waits_by_step(
    const JobAnalysis& job) {
  std::vector<std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>>> out(job.ranks.size());
  for (const MatchedCollective& c : job.matching.all) {
    if (!c.tells_waits || !is_late(c)) continue;
    for (Member m : job.matching.of(c)) {
      auto& [last, all] = out[m.rank][job.ranks[m.rank].collectives.rows[m.row].step];
      all += c.longest_wait.ns;
      if (m.rank == c.last) last += c.longest_wait.ns;
    }
  }
  return out;
}

bool is_communication_class(TimeClass c) {
  return info(c).group == TimeGroup::kCommunication;
}

/// Class times of the usual rank in each common step: the lower median, so that of two ranks it is
/// the quicker one.
std::vector<ClassTimes> usual_times(const JobAnalysis& job, const CommonSteps& common) {
  std::vector<ClassTimes> usual(common.of.size());
  std::vector<DurationNs> times;
  for (std::size_t s = 0; s < common.of.size(); ++s) {
    for (const TimeClassInfo& c : time_classes()) {
      times.clear();
      for (std::size_t p = 0; p < common.ranks.size(); ++p) {
        const RankDevice* device = main_device(job.ranks[common.ranks[p]]);
        times.push_back(device->steps[common.of[s][p]].times[c.time_class]);
      }
      auto middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
      std::nth_element(times.begin(), middle, times.end());
      usual[s][c.time_class] = *middle;
    }
  }
  return usual;
}

/// By how much `position` exceeds the usual rank (the lower median) in a step.
DurationNs excess_of(const JobAnalysis& job, const CommonSteps& common, std::size_t position,
                     std::size_t step, DurationNs RankStep::*time) {
  std::vector<DurationNs> times;
  for (std::size_t p = 0; p < common.ranks.size(); ++p)
    times.push_back(main_device(job.ranks[common.ranks[p]])->steps[common.of[step][p]].*time);
  const DurationNs own = times[position];
  auto middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
  std::nth_element(times.begin(), middle, times.end());
  return own - *middle;
}

/// The phase in which a rank without a device computes longer.
trace::Phase longer_phase(const JobAnalysis& job, const CommonSteps& common, std::size_t position,
                          const std::vector<std::size_t>& steps) {
  if (!main_device(job.ranks[common.ranks[position]])->on_host) return trace::Phase::kNone;
  DurationNs forward;
  DurationNs backward;
  for (std::size_t s : steps) {
    forward += excess_of(job, common, position, s, &RankStep::forward);
    backward += excess_of(job, common, position, s, &RankStep::backward);
  }
  if (std::max(forward, backward).ns <= 0) return trace::Phase::kNone;
  return forward > backward ? trace::Phase::kForward : trace::Phase::kBackward;
}

/// The class in which `position` exceeds the usual rank most, over the given common steps.
LateCause largest_excess(const JobAnalysis& job, const CommonSteps& common, std::size_t position,
                         const std::vector<std::size_t>& steps,
                         const std::vector<ClassTimes>& usual) {
  ClassTimes excess;
  const RankDevice* device = main_device(job.ranks[common.ranks[position]]);
  for (std::size_t s : steps) {
    for (const TimeClassInfo& c : time_classes()) {
      if (is_communication_class(c.time_class)) continue;
      excess[c.time_class] +=
          device->steps[common.of[s][position]].times[c.time_class] - usual[s][c.time_class];
    }
  }
  auto most = std::max_element(excess.of.begin(), excess.of.end());
  LateCause cause{static_cast<TimeClass>(most - excess.of.begin()),
                  *most / static_cast<std::int64_t>(steps.size())};
  if (cause.time_class == TimeClass::kComputeOther)
    cause.phase = longer_phase(job, common, position, steps);
  return cause;
}

}  // namespace

CommonSteps common_steps(const JobAnalysis& job) {
  CommonSteps common;
  std::map<std::int64_t, std::vector<std::uint32_t>> by_number;
  for (std::uint32_t r = 0; r < job.ranks.size(); ++r) {
    const RankDevice* device = main_device(job.ranks[r]);
    if (!device) continue;
    common.ranks.push_back(r);
    for (std::uint32_t s = 0; s < device->steps.size(); ++s) {
      if (!device->steps[s].steady) continue;
      std::vector<std::uint32_t>& steps = by_number[device->steps[s].number];
      if (steps.size() + 1 == common.ranks.size()) steps.push_back(s);
    }
  }
  for (auto& [number, steps] : by_number) {
    if (steps.size() != common.ranks.size()) continue;
    common.numbers.push_back(number);
    common.of.push_back(std::move(steps));
  }
  return common;
}

void add_stragglers(JobAnalysis& job) {
  add_caused_waits(job);
  CommonSteps common = common_steps(job);
  auto waits_in = waits_by_step(job);
  std::vector<ClassTimes> usual = usual_times(job, common);
  for (std::size_t p = 0; p < common.ranks.size() && common.ranks.size() > 1; ++p) {
    std::uint32_t r = common.ranks[p];
    if (job.roles[r].last == 0) continue;
    std::vector<std::size_t> steps;  // those in which half of the waiting was for it
    for (std::size_t s = 0; s < common.numbers.size(); ++s) {
      auto found = waits_in[r].find(common.numbers[s]);
      if (found != waits_in[r].end() && found->second.first * 2 >= found->second.second)
        steps.push_back(s);
    }
    if (steps.empty()) continue;
    LateCause cause = largest_excess(job, common, p, steps, usual);
    if (cause.excess_per_step.ns > 0) job.roles[r].cause = cause;
  }
}

}  // namespace headway::analyzer
