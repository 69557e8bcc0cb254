// SPDX-License-Identifier: MIT
// straggler: one rank keeps all others waiting.
//
// Symptom: collectives last long on all ranks but one; that one has the shortest ones.
// Mechanism: a collective ends when its last member has arrived, so every rank runs at the pace of
// the latest.
// Formula: in a synchronising collective the member with the shortest kernel came last; wait = own
// duration - shortest. Fires when more than 3/n of all waiting is for one rank (never more than 75 %
// is asked), and the usual other rank's exposed wait for it is over 5 % of the
// step. Needs no common clock.
// Falsified by: waiting that is spread over ranks as chance spreads it (1/n each).
// Known false positives: kernels that differ in what they do per rank (roots of a reduce), which do
// not count here; a rank that is late for pipeline reasons.
// Source: fleet studies of slow ranks; the split of collectives into wait and transfer in TraceLens
// and the PyTorch profiler.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/evidence/communication.h"
#include "analyzer/evidence/support.h"
#include "analyzer/ranks/job.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

/// What people call the cause, and what to do about it.
struct Remedy {
  std::string_view cause;
  std::string_view text;
  std::string_view knob;
};

Remedy remedy_of(TimeClass c) {
  switch (info(c).group) {
    case TimeGroup::kInput:
      return {"input",
              "That rank's loader is slow: compare its storage, workers and free cores "
              "with the others', and deal batches of equal cost.",
              "DataLoader(num_workers=…), DistributedSampler; its node's disk and CPU"};
    case TimeGroup::kCompute:
      return {"compute",
              "That rank computes longer: it has more work (batches, layers, experts) or "
              "a slower device.",
              "equal-length batches; nvidia-smi -q -d CLOCK,PERFORMANCE on its node"};
    case TimeGroup::kCopy:
      return {"copy",
              "That rank copies longer: compare its PCIe link and its host memory's node "
              "with the others'.",
              "nvidia-smi -q -d PCI; numactl --cpunodebind"};
    case TimeGroup::kHost:
      return {c == TimeClass::kLaunchGap ? "launch" : "host",
              "That rank's host is late: compare processes on its cores, clock governor, garbage "
              "collection, logging and checkpoints done by that rank only.",
              "gc.freeze(), numactl --cpunodebind, rank-0-only work moved out of the step"};
    default:
      return {"unknown",
              "Nothing recorded explains what that rank does meanwhile: record its host "
              "activity (ranges, loader, counters).",
              "headway record on that rank"};
  }
}

std::string note(const RuleContext&, const Segment& segment) {
  return std::string(info(segment.time_class).label);
}

Finding check(const Rule& rule, const RuleContext& context) {
  if (!context.job) return needs_all_ranks(rule, context);
  const JobAnalysis& job = *context.job;
  const RankRole& role = job.roles[job.critical];
  if (role.synchronised == 0)
    return cannot_tell(rule,
                       "No synchronising collective could be matched across ranks: record the "
                       "communication library's kernels on all of them.");
  double limit = std::min(0.75, 3.0 / static_cast<double>(job.ranks.size()));
  std::string who =
      fmt::format("{} of all waiting is for {}, last in {} of {} collectives",
                  format_percent(role.wait_share), rank_label(job.ranks[job.critical]),
                  format_count(role.last), format_count(role.synchronised));
  bool significant = ratio(role.caused_wait, context.step) >= kFindingShare;
  if (role.wait_share <= limit || !significant)
    return fine(rule, fmt::format("{}; the others wait for it {}.", who,
                                  of_step(context, role.caused_wait, context.step)));
  TimeClass cause = role.cause ? role.cause->time_class : TimeClass::kUnknown;
  Remedy remedy = remedy_of(cause);
  Finding finding = found(rule, role.caused_wait, context);
  finding.sub_cause = std::string(remedy.cause);
  finding.claim = fmt::format(
      "{} (by chance: {}), and the others wait for it {}.{}", who,
      format_percent(1.0 / static_cast<double>(job.ranks.size())),
      of_step(context, role.caused_wait, context.step),
      role.cause ? fmt::format(" In those steps it spends {} more on '{}' than the usual rank.",
                               format_duration(role.cause->excess_per_step), info(cause).label)
                 : " Nothing it does takes longer than on the usual rank.");
  finding.confidence = role.cause && cause != TimeClass::kUnknown ? 0.9 : 0.75;
  ClassShare own = worst_share(context, {cause});
  if (own.device) finding.evidence = longest_segments(context, *own.device, {cause}, note);
  finding.advice = {
      {"PyTorch", std::string(remedy.text), std::string(remedy.knob), ""},
      {"TensorFlow/JAX", std::string(remedy.text),
       "the same on that rank's host and device; tf.data: private_threadpool_size", ""}};
  return finding;
}

}  // namespace

extern const Rule kStraggler = {
    "straggler", "One rank keeps the others waiting",
    "More than 3/n of all waiting is for one rank (at most 75 % is asked) and the others' exposed "
    "wait for it is over 5 % of the step.",
    check, true};

}  // namespace headway::analyzer
