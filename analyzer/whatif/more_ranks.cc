// SPDX-License-Identifier: MIT
#include "analyzer/whatif/more_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "analyzer/whatif/editor.h"
#include "common/format.h"
#include "common/text.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// A recorded collective: what it moved, and how long the transfer took once all ranks had come.
struct Transfer {
  DeviceOpId op;
  double bytes = 0;
  double ns = 0;
};

/// time = fixed + bytes · per_byte, by least squares; both at least 0.
struct Line {
  double fixed = 0;
  double per_byte = 0;
};

Line fit(const std::vector<Transfer>& transfers) {
  double bytes = 0;
  double ns = 0;
  for (const Transfer& one : transfers) {
    bytes += one.bytes;
    ns += one.ns;
  }
  const auto count = static_cast<double>(transfers.size());
  double both = 0;
  double square = 0;
  for (const Transfer& one : transfers) {
    both += (one.bytes - bytes / count) * (one.ns - ns / count);
    square += (one.bytes - bytes / count) * (one.bytes - bytes / count);
  }
  Line line;
  // Of one size alone nothing tells latency from bandwidth: all is taken to be bandwidth.
  line.per_byte = square > 0 ? std::max(0.0, both / square) : ns / std::max(1.0, bytes);
  line.fixed = std::max(0.0, ns / count - line.per_byte * bytes / count);
  return line;
}

double hops(int ranks, bool all_reduce) {
  const double ring = ranks - 1;
  const double tree = 2 * std::ceil(std::log2(std::max(2, ranks)));
  return all_reduce ? std::min(2 * ring, 2 * tree) : std::min(ring, tree);
}

double moved(int ranks) {
  return static_cast<double>(ranks - 1) / ranks;
}

}  // namespace

MoreRanks with_ranks(const Predictor& predictor, int ranks) {
  const Trace& trace = predictor.trace();
  const Program& program = predictor.program();
  const Points& points = program.graph().points();
  int now = 0;
  for (const Collective& one : trace.collectives) now = std::max(now, one.ranks);
  now = std::max(now, trace.world_size);
  if (now < 2)
    return {{}, "the recording has one rank: nothing tells what the link would take", false};
  std::map<std::string_view, std::vector<Transfer>> by_kind;
  for (const Collective& one : trace.collectives) {
    const std::string_view kind = trace.strings[one.kind];
    if (!one.op.valid() || one.bytes <= 0 || kind == "send" || kind == "recv") continue;
    if (one.ranks != 0 && one.ranks != now) continue;
    program.for_each(
        program.slot_of(end_of(points.task(one.op))), [&](const Constraint& constraint) {
          if (constraint.kind == EdgeKind::kTransfer)
            by_kind[kind].push_back(
                {one.op, static_cast<double>(one.bytes), static_cast<double>(constraint.lag.ns)});
        });
  }
  if (by_kind.empty())
    return {{},
            "no collective of all ranks with known bytes was matched between ranks; record all of "
            "them, "
            "with NCCL's payloads",
            false};
  Editor editor(predictor);
  MoreRanks result{{}, {}, true};
  for (const auto& [kind, transfers] : by_kind) {
    const Line line = fit(transfers);
    const bool all_reduce = kind == "allreduce";
    const double latency = hops(ranks, all_reduce) / hops(now, all_reduce);
    const double bandwidth = moved(ranks) / moved(now);
    for (const Transfer& one : transfers) {
      // What the line does not explain of this one stays.
      const double rest = one.ns - line.fixed - line.per_byte * one.bytes;
      const double ns = line.fixed * latency + line.per_byte * one.bytes * bandwidth + rest;
      program.for_each(program.slot_of(end_of(points.task(one.op))),
                       [&](const Constraint& constraint) {
                         if (constraint.kind == EdgeKind::kTransfer)
                           editor.set_lag(constraint.id, {std::llround(std::max(0.0, ns))});
                       });
    }
    result.text +=
        fmt::format("{}{} {} of {} ranks: {} + bytes at {:.1f} GB/s; for {}: × {:.2f} and × {:.2f}",
                    result.text.empty() ? "" : "; ", transfers.size(), escape_terminal(kind), now,
                    format_duration({std::llround(line.fixed)}),
                    line.per_byte > 0 ? 1 / line.per_byte : 0.0, ranks, latency, bandwidth);
  }
  result.text +=
      "; extrapolated: each rank works as now, links between more nodes are as fast as the "
      "recorded ones";
  result.scenario = editor.take();
  return result;
}

}  // namespace headway::analyzer
