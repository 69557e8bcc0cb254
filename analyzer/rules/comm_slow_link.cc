// SPDX-License-Identifier: MIT
// comm-slow-link: large messages are far slower than the link.
//
// Symptom: the bus bandwidth of large collectives is a fraction of the link's.
// Mechanism: a ring on the wrong path (PCIe or host memory instead of NVLink, TCP instead of RDMA,
//   one NIC of several, a throttled or downgraded lane) limits every rank.
// Formula: bus bandwidth = bytes / transfer * factor over messages of at least 4 MB. Fires below
//   30 % of the link's rate per direction. Recoverable = exposed transfer * (1 - bus / (0.7 *
//   link)), because tests of the library reach 70 %.
// Falsified by: transfers near the link's rate; waiting is excluded.
// Known false positives: machines whose links are not in the table (cloud networks); groups across
//   machines are judged with less confidence.
// Source: NCCL's performance notes on bus bandwidth; rates and their sources in links.cc.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyzer/evidence/communication.h"
#include "analyzer/evidence/layer_exchanges.h"
#include "analyzer/evidence/links.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

constexpr std::int64_t kLarge = 4'000'000;
constexpr double kFarBelow = 0.3;
constexpr double kReachable = 0.7;

/// Totals of a job's large messages.
struct Carried {
  double bus_bytes = 0;
  double seconds = 0;
  std::int64_t count = 0;
  std::int32_t most_ranks = 0;
  double rate() const { return seconds > 0 ? bus_bytes / seconds : 0; }
};

Carried carried(const JobAnalysis& job) {
  Carried sum;
  for (const CollectiveFigures& f : job.collectives) {
    if (f.bytes < kLarge || f.transfer.ns <= 0 || !is_synchronising(f.group.kind)) continue;
    auto count = static_cast<double>(f.count);
    sum.bus_bytes += count * static_cast<double>(f.bytes) * bus_factor(f.group.kind, f.ranks);
    sum.seconds += count * f.transfer.seconds();
    sum.count += f.count;
    sum.most_ranks = std::max(sum.most_ranks, f.ranks);
  }
  return sum;
}

/// True if the ranks are on several machines: by their hosts, by the ranks per node, else by their
/// number (with few exceptions, a machine has at most 8 devices of the kinds in the table).
bool crosses_machines(const JobAnalysis& job, const trace::Trace& trace) {
  std::set<std::string> hosts;
  for (const RankSummary& rank : job.ranks) hosts.insert(rank.host);
  if (const int per_node = ranks_per_node(trace); per_node > 0 && hosts.size() < 2)
    return job.world_size > per_node;
  return hosts.size() > 1 || (hosts.contains("") && job.world_size > 8);
}

/// True if more than half of the bytes in large messages are activations.
bool carries_activations(const RuleContext& context) {
  const LayerExchanges of_layers = find_layer_exchanges(context);
  double activations = 0;
  double all = 0;
  for (const CollectiveFigures& f : context.job->collectives) {
    if (f.bytes < kLarge) continue;
    const double bytes = static_cast<double>(f.bytes) * static_cast<double>(f.count);
    all += bytes;
    if (of_layers.messages.contains({f.group.communicator, f.bytes})) activations += bytes;
  }
  return 2 * activations > all;
}

Finding check(const Rule& rule, const RuleContext& context) {
  if (!context.job) return needs_all_ranks(rule, context);
  const JobAnalysis& job = *context.job;
  Carried sum = carried(job);
  if (sum.count == 0)
    return cannot_tell(rule,
                       "No matched collective has a known size of 4 MB or more. Smaller ones show "
                       "latency, not bandwidth.");
  const RankDevice* device = main_device(job.ranks[job.critical]);
  const Link* link = device ? link_of(device->name) : nullptr;
  if (!link)
    return cannot_tell(
        rule, fmt::format("Link '{}' is not in the link table; large messages travel at {}/s.",
                          device ? device->name : "",
                          format_bytes(static_cast<std::int64_t>(sum.rate()))));
  bool network = crosses_machines(job, context.trace);
  double rate = network ? link->network_bytes_per_s : link->bytes_per_s;
  std::string what = fmt::format(
      "{} collectives of 4 MB or more reach a bus bandwidth of {}/s, {} of the {}/s of {}",
      format_count(sum.count), format_bytes(static_cast<std::int64_t>(sum.rate())),
      format_percent(sum.rate() / rate), format_bytes(static_cast<std::int64_t>(rate)),
      network ? "a typical network for these machines" : link->label);
  ClassShare exposed = worst_share(context, {TimeClass::kCommTransfer});
  if (!exposed.device) return cannot_tell(rule, "No steady step has work on a device.");
  double faster = std::max(0.0, 1 - sum.rate() / (kReachable * rate));
  DurationNs gain{static_cast<std::int64_t>(static_cast<double>(exposed.time.ns) * faster)};
  if (sum.rate() >= kFarBelow * rate) return fine(rule, what + ".");
  if (ratio(gain, context.step) < kFindingShare)
    return fine(rule, fmt::format("{}, but this costs only {}.", what,
                                  of_step(context, gain, context.step)));
  Finding finding = found(rule, gain, context);
  finding.sub_cause = network ? "network" : "device-link";
  finding.claim = what + ".";
  finding.confidence = network ? 0.6 : 0.8;
  finding.evidence =
      longest_segments(context, *exposed.device, {TimeClass::kCommTransfer}, communication_note);
  if (network && carries_activations(context)) {
    finding.claim += " Most of the bytes are activations of layers that ranks share.";
    finding.advice = {
        {"headway-train", "Share layers inside a node only.", "--tensor-parallel off",
         settings(context.trace, {"tensor_parallel", "ranks_per_node"})},
        {"PyTorch",
         "Share layers inside a node only: the network carries gradients, or messages of a "
         "pipeline.",
         "Megatron: --tensor-model-parallel-size at most the GPUs of a node", ""}};
    return finding;
  }
  finding.advice = {
      {"PyTorch",
       network ? "Check NCCL's path: GPU Direct RDMA, all NICs, no TCP fallback. Reduce inside "
                 "each node first."
               : "Check NCCL's path: peer access over the device link, not through host memory.",
       network ? "NCCL_DEBUG=INFO, NCCL_IB_HCA, NCCL_NET_GDR_LEVEL, NCCL_SOCKET_IFNAME; "
                 "hierarchical or hybrid sharding (HYBRID_SHARD)"
               : "NCCL_DEBUG=INFO, NCCL_P2P_DISABLE=0, NCCL_P2P_LEVEL; nvidia-smi topo -m, "
                 "nvidia-smi nvlink -s",
       std::string(context.trace.meta_value("env.NCCL_P2P_DISABLE"))},
      {"TensorFlow/JAX", "The same library runs the collectives, so the same settings apply.",
       "NCCL_DEBUG=INFO; Horovod: HOROVOD_HIERARCHICAL_ALLREDUCE=1", ""}};
  return finding;
}

}  // namespace

extern const Rule kCommSlowLink = {"comm-slow-link", "Communication far below the link",
                                   "Large collectives reach under 30 % of the link's bandwidth, at "
                                   "a cost of over 5 % of the step.",
                                   check, true};

}  // namespace headway::analyzer
