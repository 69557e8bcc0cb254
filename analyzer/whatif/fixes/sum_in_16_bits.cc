// SPDX-License-Identifier: MIT
// One sum of gradients in 16 bits in place of a stronger compression that takes longer: gathers of 8
// bits, because gradients in 8 bits cannot be summed on the way, so each rank gets those of all others;
// or several rounds of sums, whose fixed costs add up (low-rank matrices).
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

/// A byte of messages this many times the largest recorded one takes half the time: libraries send
/// those by another protocol (TransferModel::may_go_faster_beyond).
constexpr double kMuchLarger = 4;

/// Each bucket's rounds become the last one, with the gradients in 16 bits. The kernels before the
/// first round and after the last stay; those between go. `faster`: from this multiple of the largest
/// recorded message on.
Scenario in_one_round(const Predictor& predictor, const std::vector<std::vector<Transfer>>& rounds,
                      const TransferModel& model, const TransferLine& line, double faster) {
  constexpr double kHalf = 0.5;
  const Trace& trace = predictor.trace();
  const DeviceOps& ops = trace.device_ops;
  Editor editor(predictor);
  for (std::size_t i = 0; i < rounds.front().size(); ++i) {
    const Transfer& first = rounds.front()[i];
    const Transfer& last = rounds.back()[i];
    for (std::size_t r = 0; r + 1 < rounds.size(); ++r) editor.drop_collective(rounds[r][i].op);
    const auto its = trace.ops_of_stream[ops.stream[first.op.value]];
    auto op = std::ranges::lower_bound(its, ops.end[first.op.value], {},
                                       [&](DeviceOpId one) { return ops.start[one.value]; });
    for (; op != its.end() && ops.start[op->value] < ops.start[last.op.value]; ++op)
      if (ops.kind[op->value] == DeviceOpKind::kKernel) editor.drop_op(*op);
    const double bytes = kHalf * first.gradients;
    const bool beyond = model.may_go_faster_beyond() && bytes > faster * model.largest;
    const double ns = beyond ? faster_beyond(line, bytes, model.largest) : line.of(bytes);
    editor.set_transfer(last.op, DurationNs{std::llround(last.wait + ns)}, true);
  }
  return editor.take();
}

Proposal instead_of_rounds(const Predictor& predictor,
                           const std::vector<std::vector<Transfer>>& rounds) {
  std::vector<Transfer> all;
  for (const std::vector<Transfer>& round : rounds) {
    if (round.size() != rounds.front().size())
      return not_here("the recording cuts off rounds of a sum");
    all.insert(all.end(), round.begin(), round.end());
  }
  const TransferModel model = model_transfers(predictor, all);
  const auto with = [&](const TransferLine& line, double faster) {
    return in_one_round(predictor, rounds, model, line, faster);
  };
  Proposal proposal{
      true, fmt::format("{} rounds of sums become one in 16 bits: {}", rounds.size(), model.text),
      with(model.line, kMuchLarger)};
  for (const TransferLine& line : model.ends) proposal.otherwise.push_back(with(line, kMuchLarger));
  if (model.may_go_faster_beyond())
    for (const double faster : {1.0, 1e9}) proposal.otherwise.push_back(with(model.line, faster));
  return proposal;
}

/// True for the rounds of one sum, of which it is known how many bytes of gradients they are for.
bool are_rounds(const std::vector<std::vector<Transfer>>& exchange) {
  return exchange.size() > 1 &&
         std::ranges::all_of(exchange,
                             [](const auto& round) { return round.front().kind == "allreduce"; }) &&
         std::ranges::all_of(exchange.front(),
                             [](const Transfer& one) { return one.gradients > 0; });
}

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  std::vector<std::vector<Transfer>> exchange = stages_of_exchange(predictor);
  if (are_rounds(exchange)) return instead_of_rounds(predictor, exchange);
  const bool gathers = exchange.size() == 1 && exchange.front().front().kind == "allgather" &&
                       exchange.front().front().ranks > 1;
  // Signs and largest values are also packed into bytes; the program's setting shows these.
  const std::string_view compressed = trace.setting("compress");
  const bool bytes = gathers && (compressed.empty() || compressed == "int8") &&
                     std::ranges::all_of(exchange.front(), [&](const Transfer& one) {
                       return has_one_byte(trace.strings[one.dtype]);
                     });
  if (!bytes) return not_here("no gradients of 8 bits are gathered, nor are any summed in rounds");
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
    "Each gather of 8-bit gradients becomes an all-reduce in 16 bits: latency by the hops of both, "
    "and 4/n of the gathered bytes over each link at the fitted rate. Several rounds of one sum "
    "become the last one, with all gradients in 16 bits and without the kernels between. Kernels "
    "that round and widen are unchanged.",
    "whether kernels for 16 bits are shorter",
    propose};

}  // namespace headway::analyzer
