// SPDX-License-Identifier: MIT
// straggler: one rank keeps all others waiting.
//
// Symptom: collectives last long on all ranks but one; that one has the shortest ones.
// Mechanism: a collective ends when its last member arrives, so every rank runs at the pace of the
//   latest. The late rank's activity is the cause; the others' waiting is the cost.
// Formula: in a synchronising collective, and for the two ends of a message, the member with the
//   shortest kernel came last; wait = own duration - shortest. Fires if more than 3/n of all
//   waiting (75 % suffices) is for one rank, beyond chance, and the usual other rank's exposed wait
//   for it is over 5 % of the step. No more is recoverable than the step without the time that the
//   usual other rank's host launches: it would take as long alone. Needs no common clock. The cause
//   is host pauses if the longest interval without an API call on the training thread is at least half of the rank's excess. Without
//   devices, the members are the ranges in which training threads communicate or wait.
// Falsified by: waiting that is spread evenly over ranks (1/n each).
// Known false positives: kernels whose work differs per rank (roots of a reduce), which are
//   excluded. Pipeline stages wait for each other by design: pipeline-bubble judges them. Waiting
//   for experts with more tokens belongs to expert-imbalance and is subtracted.
// Source: fleet studies of slow ranks; the split of collectives into wait and transfer in TraceLens
// and the PyTorch profiler.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "analyzer/evidence/communication.h"
#include "analyzer/evidence/expert_regions.h"
#include "analyzer/evidence/host_work.h"
#include "analyzer/evidence/pipeline.h"
#include "analyzer/evidence/support.h"
#include "analyzer/ranks/job.h"
#include "analyzer/rules/registry.h"
#include "common/block_bootstrap.h"
#include "common/format.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

/// A cause in plain words, and the advice for it.
struct Remedy {
  std::string_view cause;
  std::string_view text;
  std::string_view knob;
  std::string_view train_knob = {};  ///< of headway-train; most causes have no switch
};

Remedy remedy_of(TimeClass c, bool without_device) {
  if (without_device && info(c).group == TimeGroup::kCompute)
    return {"compute",
            "This rank computes longer: it has more work (batches, layers, extra tasks), or fewer "
            "or slower processors.",
            "equal-length batches; torch.set_num_threads(…), taskset, other programs on its node"};
  switch (info(c).group) {
    case TimeGroup::kInput:
      return {"input",
              "This rank's loader is slow. Compare its storage, workers and free cores with other "
              "ranks, and give all ranks batches of equal cost.",
              "DataLoader(num_workers=…), DistributedSampler; its node's disk and CPU",
              "--workers N"};
    case TimeGroup::kCompute:
      return {"compute",
              "This rank computes longer: it has more work (batches, layers, experts) or a slower "
              "device.",
              "equal-length batches; nvidia-smi -q -d CLOCK,PERFORMANCE on its node"};
    case TimeGroup::kCopy:
      return {"copy",
              "This rank copies longer. Compare its PCIe link and NUMA placement with other ranks.",
              "nvidia-smi -q -d PCI; numactl --cpunodebind"};
    case TimeGroup::kHost:
      return {c == TimeClass::kLaunchGap ? "launch" : "host",
              "This rank's host is late. Check processes on its cores, the clock governor, garbage "
              "collection, and rank-0-only logging or checkpoints.",
              "gc.freeze(), numactl --cpunodebind, rank-0-only work moved out of the step",
              "--slow-rank-ms 0"};
    default:
      return {"unknown",
              "This rank's activity is not recorded: record its host (ranges, loader, counters).",
              "headway record on that rank"};
  }
}

std::string note(const RuleContext&, const Segment& segment) {
  return std::string(info(segment.time_class).label);
}

/// The longest stretch of each steady step in which the training thread makes no call.
struct Pauses {
  DurationNs usual;  ///< the median of them
  std::vector<Interval> all;
};

Pauses pauses_of(const RuleContext& context) {
  const trace::Calls& calls = context.trace.calls;
  Pauses pauses;
  std::vector<double> lengths;
  for (std::uint32_t s : context.steps.steady) {
    const Step& step = context.steps.all[s];
    Interval longest{step.host.begin, step.host.begin};
    TimeNs quiet = step.host.begin;
    auto end_at = [&](TimeNs time) {
      if (time - quiet > longest.length()) longest = {quiet, time};
    };
    const auto row = context.trace.calls_of_thread[step.thread];
    auto call = std::ranges::lower_bound(row, step.host.begin, {},
                                         [&](trace::CallId one) { return calls.start[one.value]; });
    for (; call != row.end() && calls.start[call->value] < step.host.end; ++call) {
      end_at(calls.start[call->value]);
      quiet = std::max(quiet, calls.end[call->value]);
    }
    end_at(step.host.end);
    pauses.all.push_back(longest);
    lengths.push_back(static_cast<double>(longest.length().ns));
  }
  if (!lengths.empty()) pauses.usual = {static_cast<std::int64_t>(median(lengths))};
  return pauses;
}

/// The partition of the training thread whose steps are judged if there is no device; else null.
const DevicePartition* without_device(const RuleContext& context) {
  for (const DevicePartition& partition : context.partitions) {
    if (!partition.device.valid() && partition.steady_steps > 0) return &partition;
  }
  return nullptr;
}

bool pauses_explain(const Pauses& pauses, const LateCause& cause) {
  const bool idle =
      info(cause.time_class).group == TimeGroup::kHost || cause.time_class == TimeClass::kUnknown;
  return idle && cause.excess_per_step.ns > 0 && pauses.usual * 2 >= cause.excess_per_step;
}

/// What the late rank does in the steps in which others wait for it: "its host pauses for 14.0 ms
/// each step".
std::string doing(const LateCause& cause, const Pauses& pauses, const HostWork& own) {
  const std::string excess = format_duration(cause.excess_per_step);
  if (pauses_explain(pauses, cause))
    return fmt::format("its host pauses for {} each step", format_duration(pauses.usual));
  switch (info(cause.time_class).group) {
    case TimeGroup::kInput:
      if (!own.name.empty())
        return fmt::format("input takes it {} longer, {} of that time in '{}'", excess,
                           format_percent(own.share), own.name);
      return fmt::format("it waits {} longer for input", excess);
    case TimeGroup::kCompute:
      if (cause.time_class == TimeClass::kOptimizer)
        return fmt::format("its optimizer step takes {} longer", excess);
      if (cause.phase != trace::Phase::kNone)
        return fmt::format("its {} pass takes {} longer",
                           cause.phase == trace::Phase::kForward ? "forward" : "backward", excess);
      return fmt::format("it computes {} longer", excess);
    case TimeGroup::kCopy:
      return fmt::format("its copies take {} longer", excess);
    default:
      return fmt::format("it spends {} more on '{}' than the usual rank", excess,
                         info(cause.time_class).label);
  }
}

/// The longest pauses, as evidence.
std::vector<Evidence> evidence_of(const Pauses& pauses) {
  constexpr std::size_t kShown = 12;
  std::vector<Interval> longest = pauses.all;
  std::ranges::stable_sort(longest, std::greater{}, [](Interval one) { return one.length(); });
  longest.resize(std::min(longest.size(), kShown));
  std::vector<Evidence> evidence;
  for (Interval one : longest) evidence.push_back({one, {}, "the training thread makes no call"});
  return evidence;
}

/// True if the critical rank's share of the waiting is so large that another run would show it,
/// too. Other programs on the machine delay one rank, then another, for many steps each.
bool is_beyond_chance(const JobAnalysis& job, double limit) {
  constexpr std::size_t kMost = 500;
  std::vector<std::pair<TimeNs, double>> over;  // times by the clock of the first rank
  for (const MatchedCollective& c : job.matching.all) {
    if (!c.tells_waits) continue;
    DurationNs waited;
    const auto members = job.matching.of(c);
    for (Member m : members) waited += job.roles[m.rank].waits[m.row];
    const auto& first = job.ranks[members.front().rank].collectives.rows[members.front().row];
    over.emplace_back(first.time.begin, static_cast<double>(waited.ns) *
                                            ((c.last == job.critical ? 1.0 : 0.0) - limit));
  }
  std::ranges::sort(over);
  std::vector<double> sums(std::min(over.size(), kMost));
  for (std::size_t i = 0; i < over.size(); ++i)
    sums[i * sums.size() / over.size()] += over[i].second;
  return bootstrap_mean(sums, plan_blocks(sums)).low > 0;
}

/// The most that the usual other rank gains where it waits for no rank: its host launches as long as before.
DurationNs most_gained(const JobAnalysis& job) {
  std::vector<double> launching;
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    if (r != job.critical) launching.push_back(static_cast<double>(job.ranks[r].launching.ns));
  }
  if (launching.empty()) return job.step;
  return std::max(job.step - DurationNs{std::llround(median(launching))}, DurationNs{});
}

Finding check(const Rule& rule, const RuleContext& context) {
  if (!context.job) return needs_all_ranks(rule, context);
  const JobAnalysis& job = *context.job;
  if (find_pipeline(context).stages.size() > 1)
    return fine(rule, "Pipeline stages: see pipeline-bubble.");
  const RankRole& role = job.roles[job.critical];
  if (role.synchronised == 0)
    return cannot_tell(rule,
                       "No synchronising collective matched across ranks: record the communication "
                       "library's kernels on all ranks.");
  double limit = std::min(0.75, 3.0 / static_cast<double>(job.ranks.size()));
  std::string who =
      fmt::format("{} of all waiting is for {}, last in {} of {} collectives",
                  format_percent(role.wait_share), rank_label(job.ranks[job.critical]),
                  format_count(role.last), format_count(role.synchronised));
  bool significant = ratio(role.caused_wait, context.step) >= kFindingShare;
  const DurationNs unsplit = std::ranges::max_element(job.roles, {}, &RankRole::unsplit)->unsplit;
  if (!significant && ratio(unsplit, context.step) >= kFindingShare)
    return cannot_tell(
        rule, fmt::format("{} of communication has no counterpart on other ranks, so its waiting "
                          "share is unknown. Record all ranks, with communicators and peers.",
                          of_step(context, unsplit, context.step)));
  const ExpertBalance experts = find_expert_balance(context);
  if (significant && experts.layers > 0 &&
      ratio(role.caused_wait - usual_wait(experts, job.critical), context.step) < kFindingShare)
    return fine(
        rule,
        fmt::format("{}; the ranks wait for experts with more tokens: see expert-imbalance.", who));
  if (role.wait_share <= limit || !significant)
    return fine(rule, fmt::format("{}; the others wait for it {}.", who,
                                  of_step(context, role.caused_wait, context.step)));
  const DurationNs gain = std::min(role.caused_wait, most_gained(job));
  if (ratio(gain, context.step) < kFindingShare)
    return fine(rule, fmt::format("{}; but the others launch for as long: "
                                  "without the delay, the step would be shorter by at most {}.",
                                  who, format_percent(ratio(gain, context.step))));
  if (!is_beyond_chance(job, limit))
    return fine(rule, fmt::format("{}; in a run this short, that may be chance.", who));
  TimeClass cause = role.cause ? role.cause->time_class : TimeClass::kUnknown;
  const DevicePartition* host = without_device(context);
  const Pauses pauses = host ? Pauses{} : pauses_of(context);
  const HostWork own_work =
      host ? dominant_work(context, host->thread, steady_intervals(context, *host, {cause}))
           : HostWork{};
  const bool paused = role.cause && pauses_explain(pauses, *role.cause);
  Remedy remedy = remedy_of(paused ? TimeClass::kHostOther : cause, host != nullptr);
  Finding finding = found(rule, gain, context);
  finding.sub_cause = std::string(remedy.cause);
  std::string rank = rank_label(job.ranks[job.critical]);
  rank.front() = 'R';
  finding.claim = fmt::format(
      "{} delays the other ranks by {} of the step: {}. {} (an even share is {}); the others wait "
      "{}.",
      rank, format_percent(ratio(gain, context.step)),
      role.cause ? doing(*role.cause, pauses, own_work)
                 : "none of its work takes longer than on the usual rank",
      who, format_percent(1.0 / static_cast<double>(job.ranks.size())),
      of_step(context, role.caused_wait, context.step));
  finding.confidence = role.cause && (paused || cause != TimeClass::kUnknown) ? 0.9 : 0.75;
  ClassShare own = worst_share(context, {cause});
  if (paused) {
    finding.evidence = evidence_of(pauses);
  } else if (host) {
    finding.evidence = longest_segments(context, *host, {cause}, note);
  } else if (own.device) {
    finding.evidence = longest_segments(context, *own.device, {cause}, note);
  }
  finding.advice = {
      {"headway-train", std::string(remedy.text), std::string(remedy.train_knob), ""},
      {"PyTorch", std::string(remedy.text), std::string(remedy.knob), ""},
      {"TensorFlow/JAX", std::string(remedy.text),
       "the same on that rank's host and device; tf.data: private_threadpool_size", ""}};
  return finding;
}

}  // namespace

extern const Rule kStraggler = {
    "straggler", "One rank keeps the others waiting",
    "One rank causes over 3/n of all waiting (75 % suffices), beyond chance, and the "
    "exposed wait for it is over 5 % of the step.",
    check, true};

}  // namespace headway::analyzer
