// SPDX-License-Identifier: MIT
#include "analyzer/whatif/more_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/transfers.h"
#include "common/text.h"

namespace headway::analyzer {

using namespace trace;

MoreRanks with_ranks(const Predictor& predictor, int ranks) {
  const Trace& trace = predictor.trace();
  int now = 0;
  for (const Collective& one : trace.collectives) now = std::max(now, one.ranks);
  now = std::max(now, trace.world_size);
  if (now < 2) return {{}, "the recording has one rank, so link times are unknown", false};
  std::map<std::string_view, std::vector<Transfer>> by_kind;
  for (const Transfer& one : transfers_of(predictor))
    if (one.matched && (one.ranks == 0 || one.ranks == now)) by_kind[one.kind].push_back(one);
  if (by_kind.empty())
    return {{},
            "no collective of all ranks with known bytes was matched; record all ranks, with "
            "NCCL's payloads",
            false};
  Editor editor(predictor);
  MoreRanks result{{}, {}, true};
  for (const auto& [kind, transfers] : by_kind) {
    const TransferModel model = model_transfers(predictor, transfers);
    const bool all_reduce = kind == "allreduce";
    const double latency = hops_of(ranks, all_reduce) / hops_of(now, all_reduce);
    const double bandwidth = moved_share(ranks) / moved_share(now);
    for (const Transfer& one : transfers) {
      // The part of this transfer that the line does not explain stays as recorded.
      const TransferLine line = model.line.at(one.bytes);
      const double rest = one.ns - line.of(one.bytes);
      const double ns = line.fixed * latency + line.per_byte * one.bytes * bandwidth + rest;
      editor.set_transfer(one.op, {std::llround(one.wait + std::max(0.0, ns))});
    }
    result.text +=
        fmt::format("{}{} {} of {} ranks: {}; for {}: latency × {:.2f}, time for bytes × {:.2f}",
                    result.text.empty() ? "" : "; ", transfers.size(), escape_terminal(kind), now,
                    model.text, ranks, latency, bandwidth);
  }
  result.text +=
      "; extrapolated: same work per rank, links between more nodes as fast as the recorded ones";
  result.scenario = editor.take();
  return result;
}

}  // namespace headway::analyzer
