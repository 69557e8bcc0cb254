// SPDX-License-Identifier: MIT
#include "analyzer/whatif/transfers.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "analyzer/evidence/layer_exchanges.h"
#include "analyzer/ranks/job.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/exchange_rounds.h"

namespace headway::analyzer {

using namespace trace;

namespace {

/// For a trace of one rank: splits the op's time into the transfer that the job's analysis gives
/// for such collectives, and waiting.
void match_by_job(const JobAnalysis& job, Transfer& transfer) {
  for (const CollectiveFigures& figures : job.collectives) {
    if (figures.group.kind != transfer.kind || figures.transfer.ns <= 0 ||
        static_cast<double>(figures.bytes) != transfer.bytes ||
        (transfer.ranks != 0 && figures.ranks != transfer.ranks))
      continue;
    const double ns = std::min(transfer.ns, static_cast<double>(figures.transfer.ns));
    transfer.wait = transfer.ns - ns;
    transfer.ns = ns;
    transfer.matched = true;
    return;
  }
}

}  // namespace

std::vector<Transfer> transfers_of(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const Program& program = predictor.program();
  const Points& points = program.graph().points();
  std::vector<Transfer> all;
  const LayerExchanges of_layers = find_layer_exchanges(rule_context(predictor));
  for (const Collective& one : trace.collectives) {
    const std::string_view kind = trace.strings[one.kind];
    if (!one.op.valid() || one.bytes <= 0 || kind == "send" || kind == "recv") continue;
    Transfer transfer{one.op,    kind,      one.communicator,
                      one.dtype, one.ranks, static_cast<double>(one.bytes)};
    transfer.of_layer = of_layers.contains(trace, one);
    program.for_each(program.slot_of(end_of(points.task(one.op))), [&](const Constraint& to) {
      if (to.kind != EdgeKind::kTransfer && (to.kind != EdgeKind::kDuration || transfer.matched))
        return;
      transfer.matched = to.kind == EdgeKind::kTransfer;
      transfer.ns = static_cast<double>(to.lag.ns);
    });
    if (!transfer.matched && predictor.analysis().job)
      match_by_job(*predictor.analysis().job, transfer);
    all.push_back(transfer);
  }
  return all;
}

bool in_single_precision(std::string_view dtype) {
  if (dtype.empty()) return true;
  if (dtype.find("16") != std::string_view::npos || dtype.find("64") != std::string_view::npos ||
      dtype.find('8') != std::string_view::npos)
    return false;
  return dtype.find("32") != std::string_view::npos || dtype == "Float" || dtype == "float" ||
         dtype == "ncclFloat";
}

namespace {

template <class Which>
TransferLine fit_line(std::span<const Transfer> transfers, Which which) {
  double bytes = 0;
  double ns = 0;
  double count = 0;
  for (const Transfer& one : transfers) {
    if (!which(one)) continue;
    bytes += one.bytes;
    ns += one.ns;
    ++count;
  }
  double both = 0;
  double square = 0;
  for (const Transfer& one : transfers) {
    if (!which(one)) continue;
    both += (one.bytes - bytes / count) * (one.ns - ns / count);
    square += (one.bytes - bytes / count) * (one.bytes - bytes / count);
  }
  TransferLine line;
  line.per_byte = square > 0 ? std::max(0.0, both / square) : ns / std::max(1.0, bytes);
  line.fixed = std::max(0.0, ns / count - line.per_byte * bytes / count);
  return line;
}

/// Sum of the squared relative errors.
double error_of(const TransferLine& line, std::span<const Transfer> transfers) {
  double error = 0;
  for (const Transfer& one : transfers)
    error += std::pow((line.of(one.bytes) - one.ns) / std::max(1.0, one.ns), 2);
  return error;
}

}  // namespace

TransferLine fit_transfers(std::span<const Transfer> transfers) {
  constexpr std::size_t kEnough = 20;
  // Largest error of two lines as a share of one line's; largest share of the time of a byte.
  constexpr double kMuchLess = 0.25;
  constexpr double kFaster = 0.8;
  const TransferLine line = fit_line(transfers, [](const Transfer&) { return true; });
  std::set<double> sizes;
  for (const Transfer& one : transfers) sizes.insert(one.bytes);
  if (sizes.size() < 3 || transfers.size() < kEnough) return line;
  TransferLine best = line;
  double least = kMuchLess * error_of(line, transfers);
  for (auto bend = std::next(sizes.begin()); std::next(bend) != sizes.end(); ++bend) {
    const TransferLine small =
        fit_line(transfers, [&](const Transfer& one) { return one.bytes <= *bend; });
    TransferLine both =
        fit_line(transfers, [&](const Transfer& one) { return one.bytes >= *bend; });
    if (both.per_byte <= 0 || both.per_byte > kFaster * small.per_byte) continue;
    both.fixed_if_small = small.fixed;
    both.per_byte_if_small = small.per_byte;
    const double error = error_of(both, transfers);
    if (error >= least) continue;
    least = error;
    best = both;
  }
  return best;
}

bool differ_in_size(std::span<const Transfer> transfers) {
  return std::ranges::any_of(
      transfers, [&](const Transfer& one) { return one.bytes != transfers.front().bytes; });
}

namespace {

/// The transfers of one kind, of the communicator size that moved most bytes. Only matched ones if
/// there are any.
std::vector<Transfer> main_transfers(std::vector<Transfer> all, std::string_view kind) {
  const bool matched = std::ranges::any_of(
      all, [&](const Transfer& one) { return one.kind == kind && one.matched; });
  std::map<std::int32_t, double> bytes;
  std::erase_if(all,
                [&](const Transfer& one) { return one.kind != kind || (matched && !one.matched); });
  for (const Transfer& one : all) bytes[one.ranks] += one.bytes;
  const auto most = std::ranges::max_element(
      bytes, [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == bytes.end()) return all;
  std::erase_if(all, [&](const Transfer& one) { return one.ranks != most->first; });
  return all;
}

/// True if the stages alternate on each stream, so that they belong to one sum. The first and the
/// last may be cut off.
bool in_turns(const Trace& trace, const std::vector<Transfer>& staged) {
  std::map<StreamId, std::vector<int>> of_stream;
  for (const Transfer& one : staged)
    of_stream[trace.device_ops.stream[one.op.value]].push_back(one.kind == "reducescatter" ? 0
                                                               : one.kind == "allgather"   ? 2
                                                                                           : 1);
  std::size_t sums = 0;
  for (const auto& [stream, kinds] : of_stream) {
    for (std::size_t i = 1; i < kinds.size(); ++i) {
      const bool next = kinds[i - 1] == 2 ? kinds[i] == 0 : kinds[i] > kinds[i - 1];
      if (!next) return false;
      sums += kinds[i] == 2;
    }
  }
  return sums > 0;
}

}  // namespace

std::string_view name_without_number(const Trace& trace, DeviceOpId op) {
  const std::string_view name = trace.strings[trace.device_ops.name[op.value]];
  const std::size_t last = name.find_last_not_of("0123456789");
  return last != std::string_view::npos && name[last] == ' ' ? name.substr(0, last) : name;
}

std::vector<Transfer> main_all_reduces(const Predictor& predictor) {
  std::vector<Transfer> all = transfers_of(predictor);
  std::erase_if(all, &Transfer::of_layer);
  return main_transfers(std::move(all), "allreduce");
}

std::vector<std::vector<Transfer>> stages_of_exchange(const Predictor& predictor) {
  std::vector<Transfer> all = transfers_of(predictor);
  std::erase_if(all, [](const Transfer& one) {
    return one.kind != "reducescatter" && one.kind != "allgather" && one.kind != "allreduce" &&
           one.kind != "reduce";
  });
  std::erase_if(all, &Transfer::of_layer);
  const auto is_reduction = [](const Transfer& one) { return one.kind == "reduce"; };
  if (!std::ranges::all_of(all, is_reduction)) std::erase_if(all, is_reduction);
  if (in_turns(predictor.trace(), all)) {
    std::vector<std::vector<Transfer>> stages;
    for (const std::string_view kind : {"reducescatter", "allreduce", "allgather"}) {
      std::vector<Transfer> stage;
      std::ranges::copy_if(all, std::back_inserter(stage),
                           [&](const Transfer& one) { return one.kind == kind; });
      if (!stage.empty()) stages.push_back(std::move(stage));
    }
    return stages;
  }
  // Gradients compressed to their largest values or to signs are gathered, and each rank sums them
  // up. So if nothing else is exchanged, all-gathers carry gradients, and reductions to one rank
  // are those of a parameter server.
  if (all.empty()) return {};
  const std::string_view only = all.front().kind;
  const bool alone = only != "reducescatter" && std::ranges::all_of(all, [&](const Transfer& one) {
                       return one.kind == only;
                     });
  std::vector<Transfer> sums = main_transfers(std::move(all), alone ? only : "allreduce");
  if (sums.empty()) return {};
  return in_rounds(predictor.trace(), std::move(sums));
}

double time_of_small_piece(const Trace& trace, DeviceOpId collective, double bytes) {
  constexpr double kSliceBytes = 512 * 1024;
  const DeviceId device = trace.streams[trace.device_ops.stream[collective.value].value].device;
  if (trace.devices[device.value].type == DeviceType::kHost) return 1;
  return 1 + std::min(1.0, kSliceBytes / bytes);
}

double hops_of(int ranks, bool all_reduce) {
  const double ring = ranks - 1;
  if (!all_reduce) return ring;
  const double tree = 2 * std::ceil(std::log2(std::max(2, ranks)));
  return 2 * std::min(ring, tree);
}

Hops hops_in_nodes(int ranks, int per_node, bool all_reduce) {
  const double hops = hops_of(ranks, all_reduce);
  const double across = ranks <= per_node ? 0 : hops / per_node;
  return {hops - across, across};
}

double moved_share(int ranks) {
  return static_cast<double>(ranks - 1) / ranks;
}

}  // namespace headway::analyzer
