// SPDX-License-Identifier: MIT
// Gradients go to one rank and come back from it: in a ring each link carries a rank's share instead.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/evidence/communication.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
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
    return one.kind != "reduce" || one.ranks < 3 || one.bytes < kLeastBytes;
  });
  return sums;
}

/// What a ring takes for the message. The root's link carries the message of each other
/// rank, a ring's the share of one rank, each way as often; but its pieces pass every rank, in slices.
double ring_ns(const Transfer& sum) {
  // NCCL: NCCL_BUFFSIZE of 4 MiB in 8 steps; a piece of one slice is sent at half of the rate.
  constexpr double kSliceBytes = 512 * 1024;
  // Over a network, with the protocol of large messages (NCCL src/include/tuning.h: hwLat).
  constexpr double kHopNs = 14'000;
  const double piece = sum.bytes / sum.ranks;
  return sum.ns * moved_share(sum.ranks) / (sum.ranks - 1) * (piece + kSliceBytes) / piece +
         hops_of(sum.ranks, true) * kHopNs;
}

Proposal propose(const Predictor& predictor) {
  const std::vector<Transfer> sums = sums_at_a_root(predictor);
  if (sums.empty()) return not_here("no sums of gradients go to one of three ranks or more");
  Editor editor(predictor);
  double before = 0;
  double after = 0;
  for (const Transfer& one : sums) {
    const double ring = ring_ns(one);
    before += one.ns;
    after += ring;
    editor.set_transfer(one.op, DurationNs{std::llround(one.wait + ring)}, true);
  }
  const auto count = static_cast<double>(sums.size());
  Proposal proposal{
      true,
      fmt::format("{} sums at one of {} ranks become rings: {} → {} each", sums.size(),
                  sums.front().ranks, format_duration(DurationNs{std::llround(before / count)}),
                  format_duration(DurationNs{std::llround(after / count)})),
      editor.take()};
  const int per_node = ranks_per_node(predictor.trace());
  proposal.setting =
      per_node > 1 && per_node < sums.front().ranks ? "--topology hierarchical" : "--topology flat";
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
    "A sum that goes to one rank and back takes 1/n of its time as a ring of n ranks: the root's "
    "link carries n - 1 messages each way, a ring's (n-1)/n of one. A piece of 512 KiB goes at "
    "half "
    "of the rate, and a hop takes 14 µs.",
    "whether the network carries a ring as fast as it carries the root's messages",
    propose};

}  // namespace headway::analyzer
