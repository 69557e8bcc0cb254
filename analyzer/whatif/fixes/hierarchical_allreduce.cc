// SPDX-License-Identifier: MIT
// A sum first inside each node, then between nodes, then back. A flat ring crosses the network once a node already (NCCL
// lays it by node), so what is gained is the share of the bytes that ranks of one node need not send on, and what several
// connections reach beyond one.
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

/// How much of what a sum takes whatever its size is for starting it, the rest for its hops: one line through times and
/// bytes does not tell them apart, so the interval reaches from none to all.
constexpr double kStart = 0.5;
/// What the ring's one connection reaches of a node's network: between half of it (one TCP stream of many) and all.
constexpr double kConnection = 0.75;
constexpr double kSlowConnection = 0.5;
constexpr double kFullConnection = 1;
/// Where links inside the nodes alone explain so much of what a flat ring's bytes take, the network is no slower than that: it
/// takes from next to none of the time to all.
constexpr double kExplained = 0.8;
constexpr double kHidden = 0.5;
constexpr double kMuchFaster = 0.1;
/// Of what is reckoned with for the link between devices of a node.
constexpr double kFastLink = 1.75;
constexpr double kSlowLink = 0.6;

/// The job's shape.
struct Nodes {
  int ranks = 0;
  int per_node = 0;
  int count() const { return ranks / per_node; }
};

/// What the recording does not tell.
struct Unknown {
  double start = kStart;
  double connection = kConnection;
  double link = 1;     ///< of a node reaches so many times what is reckoned with
  double network = 1;  ///< takes so much of the time that a flat ring's bytes take
};

bool is_bound_inside(const Nodes& nodes, const NodeLinks& inside, const TransferLine& flat) {
  const double of_ring = flat.per_byte / (2 * moved_share(nodes.ranks));
  return inside.bytes_per_ns > 0 && 1 / inside.bytes_per_ns >= kExplained * of_ring;
}

/// An all-reduce of one rank's part with those that have the same part: the ranks of a node do so beside one another and
/// share its network, of which the flat ring's connection had a part.
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
    // Three collectives are launched instead of one.
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
