// SPDX-License-Identifier: MIT
// comm-too-small: latency, not bandwidth, limits many small collectives.
//
// Symptom: a step exchanges its gradients in many messages of some KB.
// Mechanism: a collective costs latency + bytes / rate. Below the knee latency * rate, latency
//   dominates; one larger message carries the same bytes for one latency.
// Formula: fit latency and rate over the recorded sizes. Recoverable = (small collectives -
//   collectives at the best bucket size) * latency per step, at most the exposed communication.
// Falsified by: few small messages, or small ones hidden under compute.
// Known false positives: sizes of different algorithms (NCCL switches at some sizes) do not fit
//   one line; the fitted latency is then a mean.
// Source: the alpha-beta model; buckets of 25 MB are PyTorch's default.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analyzer/evidence/communication.h"
#include "analyzer/evidence/layer_exchanges.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

struct SmallOnes {
  CollectiveGroup group;
  LatencyAndRate link;
  std::int64_t count = 0;  ///< collectives under the knee, whole recording
  double bytes = 0;        ///< in them
  double all_bytes = 0;    ///< of the group
};

/// The small collectives of each communicator and kind with a usable fit. Activations of shared
/// layers are left out: each is needed at once, so none can wait for others.
std::vector<SmallOnes> small_ones(const JobAnalysis& job, const LayerExchanges& of_layers) {
  std::map<CollectiveGroup, std::vector<const CollectiveFigures*>> groups;
  for (const CollectiveFigures& figures : job.collectives) {
    if (of_layers.messages.contains({figures.group.communicator, figures.bytes})) continue;
    if (figures.bytes > 0 && figures.transfer.ns > 0) groups[figures.group].push_back(&figures);
  }
  std::vector<SmallOnes> out;
  for (const auto& [group, sizes] : groups) {
    SmallOnes small;
    small.group = group;
    if (!fit_latency_and_rate(sizes, small.link)) continue;
    for (const CollectiveFigures* f : sizes) {
      double bytes = static_cast<double>(f->bytes) * static_cast<double>(f->count);
      small.all_bytes += bytes;
      if (static_cast<double>(f->bytes) >= small.link.knee_bytes()) continue;
      small.count += f->count;
      small.bytes += bytes;
    }
    out.push_back(small);
  }
  return out;
}

/// The number of steps over which the job's figures are summed.
double steps_of(const JobAnalysis& job) {
  const RankDevice* device = main_device(job.ranks[job.critical]);
  return device ? std::max<double>(1, static_cast<double>(device->steps.size())) : 1;
}

Finding check(const Rule& rule, const RuleContext& context) {
  if (!context.job) return needs_all_ranks(rule, context);
  std::vector<SmallOnes> groups = small_ones(*context.job, find_layer_exchanges(context));
  if (groups.empty())
    return cannot_tell(rule,
                       "Cannot separate latency from bandwidth: no communicator has matched "
                       "collectives of two known sizes.");
  ClassShare exposed = worst_share(context, {TimeClass::kCommTransfer});
  if (!exposed.device) return cannot_tell(rule, "No steady step has work on a device.");
  double steps = steps_of(*context.job);
  const SmallOnes* worst = nullptr;
  double most = 0;
  double needed = 0;
  std::int64_t bucket = 0;
  for (const SmallOnes& small : groups) {
    double count = static_cast<double>(small.count) / steps;
    std::int64_t best = best_bucket(small.link, std::max(1.0, small.all_bytes / steps),
                                    static_cast<double>(exposed.device->hidden_comm.ns));
    double merged = std::ceil(small.bytes / steps / static_cast<double>(best));
    double saved = std::max(0.0, count - merged) * small.link.latency_ns;
    if (worst && saved <= most) continue;
    worst = &small;
    most = saved;
    needed = merged;
    bucket = best;
  }
  auto count = static_cast<double>(worst->count) / steps;
  DurationNs gain = std::min(DurationNs{static_cast<std::int64_t>(most)}, exposed.time);
  std::string fit =
      fmt::format("{}: latency {}, rate {}/s, knee {}", worst->group.kind,
                  format_duration({static_cast<std::int64_t>(worst->link.latency_ns)}),
                  format_bytes(static_cast<std::int64_t>(worst->link.bytes_per_ns * 1e9)),
                  format_bytes(static_cast<std::int64_t>(worst->link.knee_bytes())));
  if (ratio(gain, context.step) < kFindingShare)
    return fine(rule, fmt::format("{}; {:.1f} smaller collectives per step cost {}.", fit, count,
                                  of_step(context, gain, context.step)));
  Finding finding = found(rule, gain, context);
  finding.sub_cause = worst->group.kind;
  finding.claim = fmt::format(
      "{:.0f} collectives per step are below the knee ({}); {:.0f} of {} would carry the same "
      "bytes. Best bucket size by this fit: {}.",
      count, fit, needed, format_bytes(bucket), format_bytes(bucket));
  finding.confidence = 0.8;
  finding.evidence =
      longest_segments(context, *exposed.device, {TimeClass::kCommTransfer}, communication_note);
  std::string megabytes = fmt::format("{:.0f}", static_cast<double>(bucket) / (1 << 20));
  finding.advice = {
      {"PyTorch", "Gather gradients into larger buckets to pay the latency once per bucket.",
       fmt::format("DistributedDataParallel(bucket_cap_mb={})", megabytes), ""},
      {"TensorFlow/JAX", "Combine small collectives into larger ones.",
       fmt::format("XLA_FLAGS=--xla_gpu_all_reduce_combine_threshold_bytes={}; Horovod: "
                   "HOROVOD_FUSION_THRESHOLD={}",
                   bucket, bucket),
       ""}};
  return finding;
}

}  // namespace

extern const Rule kCommTooSmall = {
    "comm-too-small", "Many small collectives",
    "Merging collectives below the bandwidth knee would save over 5 % of the step.", check, true};

}  // namespace headway::analyzer
