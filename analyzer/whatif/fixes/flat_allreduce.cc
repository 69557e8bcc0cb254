// SPDX-License-Identifier: MIT
// Sums in stages (inside the nodes, between nodes, back) become one ring over all ranks. It
// crosses each node's network once and has it to itself. It saves the start of two more
// collectives per sum, which dominates small sums.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/transfers.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Figures that the recording does not show. They do not matter if each node has one rank, because
/// the stages inside a node are then empty.
struct Unknown {
  double
      network;  ///< rate of a ring's one connection, as a share of that of all a node's connections
  double start;  ///< factor on kCollectiveStartNs
};
constexpr Unknown kUsual{kOneConnection, 1};
constexpr std::array<Unknown, 4> kOther{
    {{0.5, 1}, {1, 1}, {kOneConnection, 0.5}, {kOneConnection, 3}}};

/// The sums in stages, the i-th of each for one bucket.
struct Staged {
  std::vector<Transfer> scatter;
  std::vector<Transfer> across;  ///< empty: all ranks are on one node
  std::vector<Transfer> gather;
  TransferLine line = {};  ///< of `across`

  int per_node() const { return scatter.front().ranks; }
  int nodes() const { return across.empty() ? 1 : across.front().ranks; }
};

/// True if no kernel is launched between the stages of a sum. A kernel in between (an update of
/// sharded parameters) needs the separate stages.
bool is_one_sum(const Trace& trace, const Transfer& scatter, const Transfer& gather) {
  const CallId first = trace.device_ops.call[scatter.op.value];
  const CallId last = trace.device_ops.call[gather.op.value];
  if (!first.valid() || !last.valid() ||
      trace.calls.thread[first.value] != trace.calls.thread[last.value])
    return false;
  const auto calls = trace.calls_of_thread[trace.calls.thread[first.value]];
  auto call = std::ranges::upper_bound(calls, trace.calls.start[first.value], {},
                                       [&](CallId one) { return trace.calls.start[one.value]; });
  for (; call != calls.end() && *call != last; ++call) {
    const DeviceOpId op = trace.calls.op[call->value];
    if (op.valid() && trace.device_ops.kind[op.value] == DeviceOpKind::kKernel) return false;
  }
  return call != calls.end();
}

double one_ring_ns(const Staged& staged, std::size_t i, const Unknown& unknown) {
  const double bytes = staged.scatter[i].bytes;
  const int ranks = staged.nodes() * staged.per_node();
  const double stages = staged.scatter[i].ns + staged.gather[i].ns;
  // Inside a node, the ring has as many hops as both stages there, but moves a larger share of each
  // message over each link.
  const double starts = staged.across.empty() ? 1 : 2;
  const double inside = std::max(0.0, stages - starts * kCollectiveStartNs * unknown.start) *
                        moved_share(ranks) / moved_share(staged.per_node());
  if (staged.across.empty()) return inside;
  const TransferLine across = staged.line.at(staged.across[i].bytes);
  const double network = across.per_byte * bytes / (staged.per_node() * unknown.network) *
                         moved_share(ranks) / moved_share(staged.nodes());
  return across.fixed + std::max(inside, network);
}

Scenario in_one_ring(const Predictor& predictor, const Staged& staged, const Unknown& unknown) {
  Editor editor(predictor);
  for (std::size_t i = 0; i < staged.scatter.size(); ++i) {
    editor.drop_op(staged.gather[i].op);
    if (staged.per_node() == 1) {
      editor.drop_op(staged.scatter[i].op);
      continue;
    }
    const double ns = one_ring_ns(staged, i, unknown);
    editor.set_transfer(staged.scatter[i].op, DurationNs{std::llround(staged.scatter[i].wait + ns)},
                        true);
    if (!staged.across.empty()) editor.drop_op(staged.across[i].op);
  }
  return editor.take();
}

Proposal propose(const Predictor& predictor) {
  std::vector<std::vector<Transfer>> stages = stages_of_exchange(predictor);
  const bool known = stages.size() > 1 && stages.front().front().kind == "reducescatter" &&
                     stages.back().front().kind == "allgather" &&
                     std::ranges::all_of(stages, [&](const std::vector<Transfer>& stage) {
                       return stage.size() == stages.front().size();
                     });
  if (!known) return not_here("no hierarchical sums of known size were recorded");
  Staged staged{std::move(stages.front()), {}, std::move(stages.back())};
  if (stages.size() == 3) staged.across = std::move(stages[1]);
  const Trace& trace = predictor.trace();
  for (std::size_t i = 0; staged.across.empty() && i < staged.scatter.size(); ++i)
    if (!is_one_sum(trace, staged.scatter[i], staged.gather[i]))
      return not_here("other work runs between a reduce-scatter and its all-gather");
  if (staged.per_node() < 1 || (staged.per_node() == 1 && staged.across.empty()))
    return not_here("the ranks per stage are unknown");
  const TransferModel model = model_transfers(predictor, staged.across);
  staged.line = model.line;
  Proposal proposal{true,
                    fmt::format("{} hierarchical sums become one ring each over {} ranks",
                                staged.scatter.size(), staged.nodes() * staged.per_node()),
                    in_one_ring(predictor, staged, kUsual)};
  for (const Unknown& unknown : kOther)
    proposal.otherwise.push_back(in_one_ring(predictor, staged, unknown));
  for (const TransferLine& line : model.ends) {
    staged.line = line;
    proposal.otherwise.push_back(in_one_ring(predictor, staged, kUsual));
  }
  return proposal;
}

}  // namespace

const Fix kFlatAllReduce{
    "flat-allreduce",
    "Sum in one ring over all ranks",
    "comm-too-small, comm-exposed",
    FixKind::kModelled,
    0.2,
    "--topology flat",
    "One collective replaces the stages of a sum. It takes the fitted inter-node latency plus the "
    "longer of two times: both intra-node stages without startup (8.4 µs each), or its bytes over "
    "the node's network.",
    "the network share of one connection (assumed three quarters; interval from half to all)",
    propose};

}  // namespace headway::analyzer
