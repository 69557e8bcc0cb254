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

/// Share of a sum's fixed cost that is for its start; the rest is for its hops. One line through
/// times and bytes does not separate them, so the interval covers none to all.
constexpr double kStart = 0.5;
/// Share of a node's network that the ring's one connection reaches: from half (one TCP stream of
/// many) to all.
constexpr double kConnection = 0.75;
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
  double start = kStart;
  double connection = kConnection;
  double link = 1;     ///< factor on the assumed rate of the links inside a node
  double network = 1;  ///< the network's share of the time that a flat ring's bytes take
};

bool is_bound_inside(const Nodes& nodes, const NodeLinks& inside, const TransferLine& flat) {
  const double of_ring = flat.per_byte / (2 * moved_share(nodes.ranks));
  return inside.bytes_per_ns > 0 && 1 / inside.bytes_per_ns >= kExplained * of_ring;
}

/// Time of the all-reduce between nodes of one rank's part. The ranks of a node do this at the same
/// time and share its network; the flat ring's one connection reached only a share of it.
double across_ns(const Nodes& nodes, const TransferLine& sums, double bytes,
                 const Unknown& unknown) {
  const TransferLine flat = sums.at(bytes);
  const double hops = hops_of(nodes.count(), true) / hops_of(nodes.ranks, true);
  const double slower = std::max(1.0, unknown.connection * nodes.per_node);
  return flat.fixed * (unknown.start + (1 - unknown.start) * hops) +
         flat.per_byte * unknown.network * slower * bytes / nodes.per_node *
             moved_share(nodes.count()) / moved_share(nodes.ranks);
}

Scenario in_stages(const Predictor& predictor, const std::vector<Transfer>& all, const Nodes& nodes,
                   const TransferLine& inside, const TransferLine& flat, const Unknown& unknown) {
  const Trace& trace = predictor.trace();
  const DeviceId device = trace.streams[trace.device_ops.stream[all.front().op.value].value].device;
  const DependencyGraph& graph = predictor.program().graph();
  Editor editor(predictor);
  for (const Transfer& one : all) {
    const double within = inside.fixed + inside.per_byte * one.bytes / unknown.link;
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
  const Unknown likely{kStart, kConnection, 1, hidden ? kHidden : 1};
  auto staged = [&](const Unknown& unknown, const TransferLine& line) {
    return in_stages(predictor, all, nodes, inside.line, line, unknown);
  };
  Proposal proposal{true,
                    fmt::format("{} nodes of {} ranks: {}; inside a node {}", nodes.count(),
                                nodes.per_node, model.text, inside.text),
                    staged(likely, model.line)};
  std::vector<Unknown> others(6, likely);
  others[0].start = 0;
  others[1].start = 1;
  others[2].connection = kSlowConnection;
  others[3].connection = kFullConnection;
  others[4].link = kFastLink;
  others[5].link = kSlowLink;
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
    "network at the fitted latency and bandwidth.",
    "the network share of one connection (assumed three quarters; interval from half to all) and, "
    "where links inside a node bound the flat ring, the network's rate, "
    "whether the ring crosses it once per node, as NCCL does, and, with a single message size, the "
    "split between bytes and latency",
    propose};

}  // namespace headway::analyzer
