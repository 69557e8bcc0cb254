// SPDX-License-Identifier: MIT
// Sums are made inside each node, then between nodes, then distributed back. A flat ring already
// crosses each node's network only once (NCCL orders it by node). So the gain is the share of
// bytes that the ranks of a node need not pass on, and the higher rate of several connections.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/evidence/communication.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/node_links.h"
#include "analyzer/whatif/transfers.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// One line through times and bytes does not separate a sum's start from its hops, nor hops inside
/// a node from those between nodes. Range of the start, relative to NCCL's own model.
constexpr double kShortStart = 0.5;
constexpr double kLongStart = 3;
/// Range of a hop inside a node, relative to NCCL's own model: from nothing to as long as one
/// between nodes.
constexpr double kNoHop = 0;
constexpr double kEqualHops = 1e6;
/// Range of kOneConnection: from half (one TCP stream of
/// many) to all, as on the links that headway-train emulates on a processor.
constexpr double kSlowConnection = 0.5;
constexpr double kFullConnection = 1;
/// If links inside the nodes alone explain this share of a flat ring's time per byte, the network
/// may be faster than the ring shows. The time for the network is then a part of that time, from
/// next to none to all.
constexpr double kExplained = 0.8;
constexpr double kHidden = 0.5;
constexpr double kMuchFaster = 0.1;
/// Range of the rate of the links inside a node, relative to the assumed one.
constexpr double kFastLink = 1.75;
constexpr double kSlowLink = 0.6;

/// The job's shape.
struct Nodes {
  int ranks = 0;
  int per_node = 0;
  int count() const { return ranks / per_node; }
};

/// Figures that the recording does not show.
struct Unknown {
  double start = 1;  ///< factor on the assumed start of a collective
  double hop = 1;    ///< factor on the assumed hop inside a node
  double connection = kOneConnection;
  double link = 1;     ///< factor on the assumed rate of the links inside a node
  double network = 1;  ///< the network's share of the time that a flat ring's bytes take
};

bool is_bound_inside(const Nodes& nodes, const NodeLinks& inside, const TransferLine& flat) {
  const double of_ring = flat.per_byte / (2 * moved_share(nodes.ranks));
  return inside.bytes_per_ns > 0 && 1 / inside.bytes_per_ns >= kExplained * of_ring;
}

/// Fixed cost of an all-reduce between nodes, of which each rank has one with the ranks in its place
/// on the other nodes. `flat`: that of the flat ring. Half or more of a flat ring's hops are inside
/// nodes and short; here all are between nodes.
double fixed_across_ns(const Nodes& nodes, double flat, const Unknown& unknown) {
  const Hops hops = hops_in_nodes(nodes.ranks, nodes.per_node, true);
  const double start = std::min(flat, unknown.start * kCollectiveStartNs);
  const double rest = flat - start;
  const double inside = std::min(unknown.hop * kHopInsideNs, rest / hops.all());
  const double across = (rest - inside * hops.inside) / hops.across;
  return start + across * hops_of(nodes.count(), true);
}

/// Time of the all-reduce between nodes of one rank's part. The ranks of a node do this at the same
/// time and share its network; the flat ring's one connection reached only a share of it.
double across_ns(const Nodes& nodes, const TransferLine& sums, double bytes,
                 const Unknown& unknown) {
  const TransferLine flat = sums.at(bytes);
  const double slower = std::max(1.0, unknown.connection * nodes.per_node);
  return fixed_across_ns(nodes, flat.fixed, unknown) +
         flat.per_byte * unknown.network * slower * bytes / nodes.per_node *
             moved_share(nodes.count()) / moved_share(nodes.ranks);
}

Scenario in_stages(const Predictor& predictor, const std::vector<Transfer>& all, const Nodes& nodes,
                   const NodeLinks& inside, const TransferLine& flat, const Unknown& unknown) {
  const Trace& trace = predictor.trace();
  const DeviceId device = trace.streams[trace.device_ops.stream[all.front().op.value].value].device;
  const DependencyGraph& graph = predictor.program().graph();
  Editor editor(predictor);
  for (const Transfer& one : all) {
    const double start = (unknown.start - 1) * inside.start;
    const double within =
        inside.line.fixed + start + inside.line.per_byte * one.bytes / unknown.link;
    const double ns = 2 * within + across_ns(nodes, flat, one.bytes, unknown);
    editor.set_transfer(
        one.op, graph.calibration().stream(device) * 2 + DurationNs{std::llround(one.wait + ns)},
        true);
    // Launch three collectives instead of one.
    const CallId call = trace.device_ops.call[one.op.value];
    if (!call.valid()) continue;
    const TaskId task = graph.points().task(call);
    editor.set_duration(task, graph.base(task) * 3, true);
  }
  return editor.take();
}

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const std::vector<Transfer> all = main_all_reduces(predictor);
  if (all.empty()) return not_here("no all-reduce of known size was recorded");
  if (const auto stages = stages_of_exchange(predictor);
      stages.size() > 1 && stages.front().front().kind == "reducescatter")
    return not_here("gradients are already summed in stages");
  if (!all.front().matched)
    return not_here("the all-reduces were not matched between ranks: record all of them");
  const Nodes nodes{all.front().ranks > 0 ? all.front().ranks : trace.world_size,
                    ranks_per_node(trace)};
  if (nodes.per_node == 0)
    return not_here("the number of ranks per node is unknown (LOCAL_WORLD_SIZE)");
  if (nodes.per_node >= nodes.ranks) return not_here("all ranks are on one node");
  if (nodes.per_node == 1) return not_here("each node has one rank");
  if (nodes.ranks % nodes.per_node != 0)
    return not_here(fmt::format("{} ranks do not fill nodes of {}", nodes.ranks, nodes.per_node));
  const DeviceId device = trace.streams[trace.device_ops.stream[all.front().op.value].value].device;
  const NodeLinks inside =
      node_links(predictor, "reducescatter", nodes.per_node, trace.devices[device.value]);
  if (inside.text.empty())
    return not_here("the link between a node's devices is unknown and not calibrated");
  const TransferModel model = model_transfers(predictor, all);
  const bool hidden = is_bound_inside(nodes, inside, model.line);
  const bool emulated = trace.devices[device.value].type == DeviceType::kHost;
  const Unknown likely{.connection = emulated ? kFullConnection : kOneConnection,
                       .network = hidden ? kHidden : 1};
  auto staged = [&](const Unknown& unknown, const TransferLine& line) {
    return in_stages(predictor, all, nodes, inside, line, unknown);
  };
  Proposal proposal{true,
                    fmt::format("{} nodes of {} ranks: {}; inside a node {}", nodes.count(),
                                nodes.per_node, model.text, inside.text),
                    staged(likely, model.line)};
  std::vector<Unknown> others;
  for (const double start : {kShortStart, kLongStart}) others.emplace_back(likely).start = start;
  for (const double hop : {kNoHop, kEqualHops}) others.emplace_back(likely).hop = hop;
  for (const double share : {kSlowConnection, kFullConnection})
    others.emplace_back(likely).connection = share;
  for (const double link : {kFastLink, kSlowLink}) others.emplace_back(likely).link = link;
  if (hidden) {
    for (const double network : {kMuchFaster, 1.0}) others.emplace_back(likely).network = network;
  }
  for (const Unknown& unknown : others) proposal.otherwise.push_back(staged(unknown, model.line));
  for (const TransferLine& line : model.ends) proposal.otherwise.push_back(staged(likely, line));
  return proposal;
}

}  // namespace

const Fix kHierarchicalAllReduce{
    "hierarchical-allreduce",
    "Sum inside nodes first",
    "comm-slow-link, comm-exposed",
    FixKind::kModelled,
    0.2,
    "--topology hierarchical",
    "Reduce-scatter and all-gather run inside each node at the calibrated rate, else at 70 % of "
    "its link (40 % of a bus). In between, all-reduces of each rank's part share the node's "
    "network at the fitted bandwidth. Of the fitted latency, 8.4 µs are for the start and 3.4 µs "
    "for each hop inside a node; the rest is for hops between nodes, as many as that all-reduce "
    "has.",
    "the network share of one connection (assumed three quarters; interval from half to all), the "
    "start of a collective (from half to three times), hops inside a node (from nothing to as "
    "long as between nodes) and, where links inside a node bound the flat ring, the network's "
    "rate, "
    "whether the ring crosses it once per node, as NCCL does, and, with a single message size, the "
    "split between bytes and latency",
    propose};

}  // namespace headway::analyzer
