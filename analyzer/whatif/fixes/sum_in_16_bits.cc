// SPDX-License-Identifier: MIT
// Gradients in 8 bits cannot be summed on the way, so each rank gathers those of all others.
// Sums in 16 bits move the same bytes for any number of ranks.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/transfers.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// "u8", "int8", "ncclUint8", "Byte".
bool has_one_byte(std::string_view dtype) {
  return dtype.ends_with("8") || dtype == "Byte" || dtype == "Char";
}

/// Time in ns of a sum in 16 bits in a ring of all ranks. It moves two bytes for each byte that a
/// rank gave to the gather (a gather's message has `ranks` parts), and passes the ring twice.
double sum_ns(const Transfer& gather, const TransferLine& line) {
  const double starts = hops_of(gather.ranks, true) / hops_of(gather.ranks, false);
  const double bytes = 2 * gather.bytes / gather.ranks;
  return starts * line.fixed + 2 * line.per_byte * bytes;
}

Scenario summed(const Predictor& predictor, const std::vector<Transfer>& gathers,
                const TransferLine& line) {
  Editor editor(predictor);
  for (const Transfer& one : gathers)
    editor.set_transfer(one.op, DurationNs{std::llround(one.wait + sum_ns(one, line))}, true);
  return editor.take();
}

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  std::vector<std::vector<Transfer>> exchange = stages_of_exchange(predictor);
  const bool gathers = exchange.size() == 1 && exchange.front().front().kind == "allgather" &&
                       exchange.front().front().ranks > 1;
  // Signs and largest values are also packed into bytes; the program's setting shows these.
  const std::string_view compressed = trace.setting("compress");
  const bool bytes = gathers && (compressed.empty() || compressed == "int8") &&
                     std::ranges::all_of(exchange.front(), [&](const Transfer& one) {
                       return has_one_byte(trace.strings[one.dtype]);
                     });
  if (!bytes) return not_here("no gradients of 8 bits are gathered");
  const std::vector<Transfer>& all = exchange.front();
  const TransferModel model = model_transfers(predictor, all);
  Proposal proposal{
      true,
      fmt::format("gathers of 8 bits among {} ranks become sums in 16 bits, {:.1f} times the bytes "
                  "over each link: {}",
                  all.front().ranks, 4.0 / all.front().ranks, model.text),
      summed(predictor, all, model.line)};
  for (const TransferLine& line : model.ends)
    proposal.otherwise.push_back(summed(predictor, all, line));
  return proposal;
}

}  // namespace

const Fix kSumIn16Bits{
    "sum-in-16-bits",
    "Sum gradients in 16 bits",
    "comm-exposed, comm-slow-link",
    FixKind::kModelled,
    0.3,
    "--compress fp16",
    "Each gather of 8-bit gradients becomes an all-reduce in 16 bits: latency of "
    "twice the hops, and 4/n of the gathered bytes over each link at the fitted "
    "rate. Kernels that round and widen are unchanged.",
    "whether kernels for 16 bits are shorter",
    propose};

}  // namespace headway::analyzer
