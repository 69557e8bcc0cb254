// SPDX-License-Identifier: MIT
// Gradients that are summed at one rank (a parameter server) are summed in a ring instead, in
// which each link carries only a rank's share.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "analyzer/evidence/communication.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/node_links.h"
#include "analyzer/whatif/transfers.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Reductions to a root, as a parameter server makes them. At least one must be large enough for
/// gradients; then small ones are gradients of small layers. Single numbers are left out: they are
/// losses.
std::vector<Transfer> sums_at_a_root(const Predictor& predictor) {
  constexpr double kLeastBytes = 64 * 1024;
  constexpr double kNumberBytes = 8;
  std::vector<Transfer> sums = transfers_of(predictor);
  std::set<StringId> groups;
  for (const Transfer& one : sums)
    if (one.kind == "reduce" && one.bytes >= kLeastBytes) groups.insert(one.communicator);
  std::erase_if(sums, [&](const Transfer& one) {
    return one.kind != "reduce" || one.ranks < 2 || one.bytes <= kNumberBytes ||
           !groups.contains(one.communicator);
  });
  return sums;
}

/// The costs of a sum at a root.
struct AtRoot {
  double start_ns = kCollectiveStartNs;
  double hop_ns = kHopAcrossNs;
  double longest_hop_ns = kHopAcrossNs;
  double per_byte = 0;  ///< of a message over the root's link, both ways; 0: not known

  /// Time of one rank's message over the root's link.
  double once_ns(const Transfer& sum) const {
    return per_byte > 0 ? per_byte * sum.bytes : sum.ns / (sum.ranks - 1);
  }
};

/// The costs from the recorded sums. Sums of several sizes show the fixed cost, which is a start and
/// two hops: there and back.
AtRoot at_root(const std::vector<Transfer>& sums) {
  constexpr std::size_t kSizes = 3;
  std::set<double> sizes;
  double least = sums.front().ns;
  for (const Transfer& one : sums) {
    sizes.insert(one.bytes);
    least = std::min(least, one.ns);
  }
  // Two hops take at most as long as the shortest sum; over Ethernet they may take as long.
  constexpr double kLongestHopNs = 100'000;
  AtRoot known;
  known.longest_hop_ns = std::clamp(least / 2, kHopAcrossNs, kLongestHopNs);
  if (sizes.size() < kSizes) return known;
  const TransferLine line = fit_transfers(sums);
  const double fixed = std::min(line.fixed, least);
  known.start_ns = std::min(fixed, kCollectiveStartNs);
  known.hop_ns = (fixed - known.start_ns) / 2;
  known.longest_hop_ns = std::max(kHopAcrossNs, known.hop_ns);
  known.per_byte = line.per_byte / (sums.front().ranks - 1);
  return known;
}

/// Figures of a ring that the recording does not show.
struct Ring {
  double small_pieces;  ///< factor on the loss of rate that the formula gives for small pieces
  double connection;    ///< share of a node's network that a ring's one connection gets
  double link;          ///< factor on the assumed rate of a device's link
  enum class Hop : std::uint8_t {
    kLikely,
    kShorter,
    kLonger
  } hop;  ///< of what sums show and what is usual
};
constexpr Ring kUsual{1, 1, 1, Ring::Hop::kLikely};
constexpr Ring kFast{0, 1, 1.75, Ring::Hop::kShorter};
constexpr Ring kSlow{4, 0.6, 0.6, Ring::Hop::kLonger};

double hop_ns(const AtRoot& root, const Ring& ring) {
  if (ring.hop == Ring::Hop::kShorter) return std::min(root.hop_ns, kHopAcrossNs);
  return ring.hop == Ring::Hop::kLonger ? root.longest_hop_ns : root.hop_ns;
}

/// The ranks of the job and of a node.
struct Nodes {
  int ranks = 0;
  int per_node =
      1;  ///< ranks of a node that sum first; 1: one ring of all ranks; `ranks`: a single node
  int on_node = 1;        ///< ranks of a node
  NodeLinks inside = {};  ///< of the stages inside a node, or of the ring there

  bool one() const { return per_node == ranks; }
  bool in_stages() const { return per_node > 1 && !one(); }
};

double time_of(const TransferLine& line, double bytes, double faster) {
  return line.fixed + line.per_byte * bytes / faster;
}

/// Time of the message in a ring. The server's link carries the message of every other rank; a
/// ring's link carries the share of one rank, equally often in each direction, or of one node if
/// sums inside the nodes come first. A server may keep its message in the host's memory; a ring
/// passes through each device's own link.
double ring_ns(const Trace& trace, const Transfer& sum, const AtRoot& root, const Nodes& nodes,
               const Ring& ring) {
  if (nodes.one()) return time_of(nodes.inside.line, sum.bytes, ring.link);
  const int members = nodes.ranks / nodes.per_node;
  const double once = root.once_ns(sum);
  // Where a node has several ranks, as many connections may share its network; one ring has one.
  const double one_of_many = nodes.on_node > 1 ? kOneConnection : 1;
  const double connection = nodes.in_stages() ? 1 : ring.connection * one_of_many;
  const double small = time_of_small_piece(trace, sum.op, sum.bytes / nodes.ranks) - 1;
  double wire = once * moved_share(members) * (1 + ring.small_pieces * small) / connection;
  if (nodes.inside.bytes_per_ns > 0)
    wire = std::max(wire, 2 * moved_share(members) * sum.bytes / nodes.per_node /
                              (nodes.inside.bytes_per_ns * ring.link));
  const Hops hops = hops_in_nodes(members, nodes.in_stages() ? 1 : nodes.on_node, true);
  const double hop = hop_ns(root, ring);
  const double across =
      wire + root.start_ns + hops.across * hop + hops.inside * std::min(hop, kHopInsideNs);
  return across + (nodes.in_stages() ? 2 * time_of(nodes.inside.line, sum.bytes, ring.link) : 0);
}

double time_of_all(const Trace& trace, std::span<const Transfer> sums, const AtRoot& root,
                   const Nodes& nodes) {
  double all = 0;
  for (const Transfer& one : sums) all += ring_ns(trace, one, root, nodes, kUsual);
  return all;
}

/// The faster way: a single ring, or sums inside the nodes before rings between them.
Nodes nodes_of(const Predictor& predictor, std::span<const Transfer> sums, const AtRoot& root) {
  const Trace& trace = predictor.trace();
  const Transfer& sum = sums.front();
  const DeviceId device = trace.streams[trace.device_ops.stream[sum.op.value].value].device;
  auto links = [&](std::string_view kind, int ranks) {
    return node_links(predictor, kind, ranks, trace.devices[device.value]);
  };
  const int on_node = std::max(1, ranks_per_node(trace));
  NodeLinks of_all = links("allreduce", sum.ranks);
  const bool known = !of_all.text.empty();
  if (on_node >= sum.ranks && known) return {sum.ranks, sum.ranks, sum.ranks, std::move(of_all)};
  const bool full = on_node < sum.ranks && sum.ranks % on_node == 0;
  Nodes ring{sum.ranks, 1, full ? on_node : 1, std::move(of_all)};
  if (on_node == 1 || !full || !known) return ring;
  Nodes stages{sum.ranks, on_node, on_node, links("reducescatter", on_node)};
  return time_of_all(trace, sums, root, ring) < time_of_all(trace, sums, root, stages) ? ring
                                                                                       : stages;
}

Scenario without_server(const Predictor& predictor, std::span<const Transfer> sums,
                        const AtRoot& root, const Nodes& nodes, const Ring& ring) {
  Editor editor(predictor);
  for (const Transfer& one : sums)
    editor.set_transfer(
        one.op,
        DurationNs{std::llround(one.wait + ring_ns(predictor.trace(), one, root, nodes, ring))},
        true);
  return editor.take();
}

Proposal propose(const Predictor& predictor) {
  const std::vector<Transfer> sums = sums_at_a_root(predictor);
  if (sums.empty()) return not_here("no sums of gradients go to one rank");
  const AtRoot root = at_root(sums);
  const Nodes nodes = nodes_of(predictor, sums, root);
  double before = 0;
  for (const Transfer& one : sums) before += one.ns;
  const double after = time_of_all(predictor.trace(), sums, root, nodes);
  const auto count = static_cast<double>(sums.size());
  Proposal proposal{
      true,
      fmt::format("{} sums at one of {} ranks become {}: {} → {} each", sums.size(), nodes.ranks,
                  nodes.in_stages() ? "sums inside nodes and rings between them" : "rings",
                  format_duration(DurationNs{std::llround(before / count)}),
                  format_duration(DurationNs{std::llround(after / count)})),
      without_server(predictor, sums, root, nodes, kUsual)};
  proposal.setting = nodes.in_stages() ? "--topology hierarchical" : "--topology flat";
  for (const Ring& ring : {kFast, kSlow})
    proposal.otherwise.push_back(without_server(predictor, sums, root, nodes, ring));
  return proposal;
}

}  // namespace

const Fix kRingAllReduce{
    "all-reduce-instead-of-parameter-server",
    "Sum gradients by all-reduce",
    "comm-exposed, comm-slow-link",
    FixKind::kModelled,
    0.25,
    "--topology flat",
    "A sum to one rank and back drops to 1/n as a ring of n ranks: the root's link carries n - 1 "
    "messages each way, a ring link (n-1)/n of one. Ranks on one node sum first where that is "
    "faster. Pieces up to 512 "
    "KiB run at half rate. A hop between nodes takes half of the fixed cost of a sum at the root "
    "beyond its start (8.4 µs), or 14 µs (up to "
    "100 µs) where sums have few sizes. Within one node, the link between its devices decides.",
    "network speed for small pieces, and one connection's share of the network and device links",
    propose};

}  // namespace headway::analyzer
