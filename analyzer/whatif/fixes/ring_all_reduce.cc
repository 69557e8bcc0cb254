// SPDX-License-Identifier: MIT
// Gradients go to one rank and come back from it: in a ring each link carries a rank's share instead.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

/// Sums that go to a root, large enough to be gradients: what a parameter server does.
std::vector<Transfer> sums_at_a_root(const Predictor& predictor) {
  constexpr double kLeastBytes = 64 * 1024;
  std::vector<Transfer> sums = transfers_of(predictor);
  std::erase_if(sums, [](const Transfer& one) {
    return one.kind != "reduce" || one.ranks < 2 || one.bytes < kLeastBytes;
  });
  return sums;
}

/// What a ring cannot tell beforehand.
struct Ring {
  double small_pieces;  ///< the share of the rate that is lost to them, of what the formula says
  double connection;    ///< the share of a node's network that a ring's one connection gets
  double link;          ///< what the link of a device reaches, of what is reckoned with
};
constexpr Ring kUsual{1, 1, 1};
constexpr Ring kFast{0, 1, 1.75};
constexpr Ring kSlow{4, 0.6, 0.6};

/// How many times as long small pieces take: a slice of the protocol for large messages goes at half of the rate; the
/// protocol for small ones has half of the rate whatever they are.
double times_of(double piece, const Ring& ring) {
  // NCCL: NCCL_BUFFSIZE of 4 MiB in 8 steps.
  constexpr double kSliceBytes = 512 * 1024;
  return 1 + ring.small_pieces * std::min(1.0, kSliceBytes / piece);
}

/// The ranks of the job and of a node; as many where sums inside the nodes come first.
struct Nodes {
  int ranks = 0;
  int per_node =
      1;  ///< ranks of a node that sum up first, 1: one ring of all, `ranks`: there is one node
  NodeLinks inside = {};  ///< of the stages inside a node, or of the one ring there

  bool one() const { return per_node == ranks; }
  bool in_stages() const { return per_node > 1 && !one(); }
};

double time_of(const TransferLine& line, double bytes, double faster) {
  return line.fixed + line.per_byte * bytes / faster;
}

/// What the message takes without a server. Its node's link carries the message of each other rank, a ring's the share
/// of one rank, each way as often; with sums inside the nodes first, that of one node. A server may have its message in the
/// host's memory, a ring passes through each device's own link.
double ring_ns(const Transfer& sum, const Nodes& nodes, const Ring& ring) {
  // Over a network, with the protocol of large messages (NCCL src/include/tuning.h: hwLat).
  constexpr double kHopNs = 14'000;
  if (nodes.one()) return time_of(nodes.inside.line, sum.bytes, ring.link);
  const int members = nodes.ranks / nodes.per_node;
  const double once = sum.ns / (nodes.ranks - 1);  // the message over the root's link, both ways
  const double connection = nodes.in_stages() ? 1 : ring.connection;
  double wire = once * moved_share(members) * times_of(sum.bytes / nodes.ranks, ring) / connection;
  if (nodes.inside.bytes_per_ns > 0)
    wire = std::max(wire, 2 * moved_share(members) * sum.bytes / nodes.per_node /
                              (nodes.inside.bytes_per_ns * ring.link));
  const double across = wire + hops_of(members, true) * kHopNs;
  return across + (nodes.in_stages() ? 2 * time_of(nodes.inside.line, sum.bytes, ring.link) : 0);
}

Nodes nodes_of(const Predictor& predictor, const Transfer& sum) {
  const Trace& trace = predictor.trace();
  const DeviceId device = trace.streams[trace.device_ops.stream[sum.op.value].value].device;
  auto links = [&](std::string_view kind, int ranks) {
    return node_links(predictor, kind, ranks, trace.devices[device.value]);
  };
  const int per_node = ranks_per_node(trace);
  NodeLinks of_all = links("allreduce", sum.ranks);
  if (per_node >= sum.ranks && !of_all.text.empty())
    return {sum.ranks, sum.ranks, std::move(of_all)};
  if (per_node <= 1 || per_node >= sum.ranks || sum.ranks % per_node != 0 || of_all.text.empty())
    return {sum.ranks, 1, std::move(of_all)};
  return {sum.ranks, per_node, links("reducescatter", per_node)};
}

Scenario without_server(const Predictor& predictor, std::span<const Transfer> sums,
                        const Nodes& nodes, const Ring& ring) {
  Editor editor(predictor);
  for (const Transfer& one : sums)
    editor.set_transfer(one.op, DurationNs{std::llround(one.wait + ring_ns(one, nodes, ring))},
                        true);
  return editor.take();
}

Proposal propose(const Predictor& predictor) {
  const std::vector<Transfer> sums = sums_at_a_root(predictor);
  if (sums.empty()) return not_here("no sums of gradients go to one rank");
  const Nodes nodes = nodes_of(predictor, sums.front());
  double before = 0;
  double after = 0;
  for (const Transfer& one : sums) {
    before += one.ns;
    after += ring_ns(one, nodes, kUsual);
  }
  const auto count = static_cast<double>(sums.size());
  Proposal proposal{
      true,
      fmt::format("{} sums at one of {} ranks become {}: {} → {} each", sums.size(), nodes.ranks,
                  nodes.in_stages() ? "sums inside nodes and rings between them" : "rings",
                  format_duration(DurationNs{std::llround(before / count)}),
                  format_duration(DurationNs{std::llround(after / count)})),
      without_server(predictor, sums, nodes, kUsual)};
  proposal.setting = nodes.in_stages() ? "--topology hierarchical" : "--topology flat";
  for (const Ring& ring : {kFast, kSlow})
    proposal.otherwise.push_back(without_server(predictor, sums, nodes, ring));
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
    "messages each way, a ring link (n-1)/n of one. Ranks on one node sum first. Pieces up to 512 "
    "KiB run at half rate; a hop takes 14 µs. Within one node, the link between its devices "
    "decides.",
    "network speed for small pieces, and one connection's share of the network and device links",
    propose};

}  // namespace headway::analyzer
