// SPDX-License-Identifier: MIT
// Gradients travel in fewer than 16 bits: as 8-bit integers, as their largest values, as low-rank
// matrices, or as signs. Each way replaces an all-reduce by its own collectives, which follow from
// the fitted all-reduces by their hops and the bytes over each link, and adds its kernels.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/evidence/communication.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/gradient_kernels.h"
#include "analyzer/whatif/step_exchange.h"
#include "analyzer/whatif/transfers.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

enum class Kind { kAllReduce, kAllGather, kAllToAll };

/// One collective of a compressed exchange.
struct Round {
  Kind kind;
  double bytes;  ///< of the full message, per gradient value
};

/// A way to exchange gradients, per value.
struct Way {
  std::vector<Round> rounds;
  double kernel_bytes = 0;  ///< that its kernels read and write
  int kernels = 0;
  std::string text;  ///< how many bytes go
};

/// The ranks of a sum and of a node.
struct Ranks {
  int all = 0;
  int per_node = 1;
};

/// An 8-bit integer per value and a scale per 1024. Each rank gathers and sums the messages of all.
Way integers(const Ranks& ranks) {
  constexpr double kMessage = 1 + 4.0 / 1024;
  constexpr double kCompress = 17;
  return {{{Kind::kAllGather, kMessage * ranks.all}},
          kCompress + kMessage * ranks.all + kGradientBytes,
          2,
          "8 bits per value, gathered"};
}

/// Index and value of one value in a hundred, which is headway-train's default. Adding up and
/// selecting reads and writes 28 bytes per value, adding an entry to the sums 16.
Way largest(const Ranks& ranks) {
  constexpr double kDensity = 0.01;
  constexpr double kEntry = 8;
  constexpr double kCompress = 28;
  return {{{Kind::kAllGather, kDensity * kEntry * ranks.all}},
          kCompress + kGradientBytes + 16 * kDensity * ranks.all,
          2,
          "1 % of the values with their places, gathered"};
}

/// A bit per value and two means per 1024. An all-to-all brings each rank its part of all messages,
/// the sums are gathered the same way.
Way signs(const Ranks& ranks) {
  constexpr double kMessage = 1.0 / 8 + 8.0 / 1024;
  constexpr double kCompress = 12 + kMessage;
  return {{{Kind::kAllToAll, kMessage}, {Kind::kAllGather, kMessage}},
          kCompress + (kMessage * ranks.all + kGradientBytes) / ranks.all + kCompress / ranks.all +
              kMessage + kGradientBytes,
          4,
          "a bit per value, to the rank that sums it and back"};
}

/// "512x2048" as rows and the product of the rest; nothing for a vector.
std::optional<std::pair<double, double>> matrix_of(std::string_view shape) {
  std::vector<double> extents;
  for (const char* at = shape.data(); at < shape.data() + shape.size();) {
    double extent = 0;
    const auto [end, error] = std::from_chars(at, shape.data() + shape.size(), extent);
    if (error != std::errc()) return std::nullopt;
    extents.push_back(extent);
    at = end + 1;
  }
  if (extents.size() < 2) return std::nullopt;
  double columns = 1;
  for (std::size_t i = 1; i < extents.size(); ++i) columns *= extents[i];
  return std::pair(extents.front(), columns);
}

/// The gradients of matrices in the op graph: results of the backward pass that no op of it reads.
std::vector<std::pair<double, double>> gradient_matrices(const Trace& trace) {
  std::vector<std::pair<double, double>> matrices;
  if (trace.graph_ops.empty()) return matrices;
  const ProcessId process = trace.graph_ops.front().process;
  std::set<std::int64_t> read;
  for (const GraphOp& op : trace.graph_ops)
    if (op.process == process && op.phase == Phase::kBackward)
      read.insert(op.inputs.begin(), op.inputs.end());
  for (const GraphOp& op : trace.graph_ops) {
    if (op.process != process || op.phase != Phase::kBackward || read.contains(op.op)) continue;
    if (const auto matrix = matrix_of(op.shape)) matrices.push_back(*matrix);
  }
  return matrices;
}

/// Two sums of narrow matrices (rank 2, headway-train's default). Vectors, and matrices for which
/// that saves less than half, go in full with the second. `values`: of all gradients of a step.
std::optional<Way> low_rank(const Trace& trace, double values) {
  constexpr double kRank = 2;
  constexpr double kCompress = 12 + 8 + 12;
  double first = 0;
  double second = values;
  for (const auto& [rows, columns] : gradient_matrices(trace)) {
    if (rows < 2 || columns < 2 || 2 * kRank * (rows + columns) >= rows * columns) continue;
    first += kRank * rows;
    second += kRank * columns - rows * columns;
  }
  if (first == 0 || second < 0) return std::nullopt;
  return Way{{{Kind::kAllReduce, kGradientBytes * first / values},
              {Kind::kAllReduce, kGradientBytes * second / values}},
             kCompress,
             3,
             fmt::format("{:.1f} % of the values in two sums", 100 * (first + second) / values)};
}

/// Time in ns of a collective of `bytes`, from the line of all-reduces: by its hops, and by the
/// bytes that it moves over a link. An all-reduce passes the ring twice, a gather once. In an
/// all-to-all each rank of a node sends what other nodes get over the network that they share.
double time_of(Kind kind, double bytes, const Ranks& ranks, const TransferLine& all_reduces) {
  const TransferLine line = all_reduces.at(bytes);
  const double hops = hops_of(ranks.all, true);
  switch (kind) {
    case Kind::kAllReduce:
      return line.fixed + line.per_byte * bytes;
    case Kind::kAllGather:
      return line.fixed * hops_of(ranks.all, false) / hops + line.per_byte / 2 * bytes;
    case Kind::kAllToAll:
      break;
  }
  const double shared =
      ranks.all <= ranks.per_node
          ? 1
          : static_cast<double>(ranks.per_node) * (ranks.all - ranks.per_node) / (ranks.all - 1);
  return line.fixed / hops + line.per_byte / 2 * bytes * shared;
}

/// The exchange this way. Empty if the rate of its kernels is not known.
Scenario exchanged(const Predictor& predictor, const std::vector<Transfer>& sums, const Way& way,
                   const Ranks& ranks, const TransferLine& line) {
  const Trace& trace = predictor.trace();
  const DurationNs least = shortest_kernel(trace.device_ops);
  const int ops = way.kernels + static_cast<int>(way.rounds.size()) - 1;
  Editor editor(predictor);
  for (const Transfer& one : sums) {
    const DeviceId device = trace.streams[trace.device_ops.stream[one.op.value].value].device;
    const double rate = gradient_bytes_per_ns(predictor, device);
    if (rate <= 0) return {};
    const double values = one.bytes / kGradientBytes;
    double ns = one.wait + values * way.kernel_bytes / rate;
    for (const Round& round : way.rounds)
      ns += time_of(round.kind, values * round.bytes, ranks, line);
    const DurationNs starts =
        (least + predictor.program().graph().calibration().stream(device)) * ops;
    editor.set_transfer(one.op, starts + DurationNs{std::llround(ns)}, true);
    launch_more(predictor, one.op, ops, editor);
  }
  return editor.take();
}

/// The gradients of a step, in values, as one rank exchanges them.
double values_of_step(const Predictor& predictor, const std::vector<Transfer>& sums) {
  const DevicePartition& partition = predictor.analysis().partitions[predictor.steps().partition];
  double most = 0;
  for_each_step_exchange(predictor, partition, {sums}, [&](const StepStages& stages, Interval) {
    double bytes = 0;
    for (const Transfer& one : stages.front()) bytes += one.bytes;
    most = std::max(most, bytes / kGradientBytes);
  });
  return most;
}

Proposal propose(const Predictor& predictor, auto way_of) {
  const std::vector<Transfer> sums = main_all_reduces(predictor);
  if (sums.empty()) return not_here("no all-reduce of known size was recorded");
  if (stages_of_exchange(predictor).size() > 1)
    return not_here("gradients are summed in stages, or are already compressed");
  const Trace& trace = predictor.trace();
  if (std::ranges::any_of(sums, [&](const Transfer& one) {
        return !in_single_precision(trace.strings[one.dtype]);
      }))
    return not_here("gradients do not travel in single precision");
  Ranks ranks{sums.front().ranks > 0 ? sums.front().ranks : trace.world_size, 1};
  if (ranks.all < 2) return not_here("the number of ranks is unknown");
  ranks.per_node = std::clamp(ranks_per_node(trace), 1, ranks.all);
  const std::optional<Way> way = way_of(ranks, sums);
  if (!way) return not_here("the shapes of the gradients are unknown: no op graph was recorded");
  const TransferModel model = model_transfers(predictor, sums);
  Proposal proposal{
      true, fmt::format("{}; {}, plus {} kernels per message", model.text, way->text, way->kernels),
      exchanged(predictor, sums, *way, ranks, model.line)};
  if (proposal.scenario.edits.empty())
    return not_here("the device's memory bandwidth is unknown and not calibrated");
  for (const TransferLine& line : model.ends)
    proposal.otherwise.push_back(exchanged(predictor, sums, *way, ranks, line));
  return proposal;
}

template <Way (*kWay)(const Ranks&)>
Proposal propose_way(const Predictor& predictor) {
  return propose(predictor, [](const Ranks& ranks, const std::vector<Transfer>&) {
    return std::optional<Way>(kWay(ranks));
  });
}

Proposal propose_low_rank(const Predictor& predictor) {
  return propose(predictor, [&](const Ranks&, const std::vector<Transfer>& sums) {
    return low_rank(predictor.trace(), values_of_step(predictor, sums));
  });
}

constexpr std::string_view kRules = "comm-exposed, comm-slow-link";
constexpr std::string_view kUnknown =
    "model quality, whether the kernels overlap compute, and, with a single message size, the "
    "split between bytes and latency";

}  // namespace

const Fix kCompressTo8Bits{
    "compress-to-8-bits",
    "Exchange gradients as 8-bit integers",
    kRules,
    FixKind::kModelled,
    0.25,
    "--compress int8",
    "Each all-reduce becomes a gather of 8 bits per value from all ranks, half of an all-reduce's "
    "time per byte at its fitted rate; the gathered bytes grow with the ranks. Kernels read and "
    "write 21 bytes per value, and one for each rank.",
    kUnknown,
    propose_way<integers>,
    true};

const Fix kSendLargestGradients{
    "send-largest-gradients",
    "Exchange the largest gradients only",
    kRules,
    FixKind::kModelled,
    0.25,
    "--compress dgc",
    "Each all-reduce becomes a gather of 1 % of the values, 8 bytes each, from all ranks, half of "
    "an all-reduce's time per byte at its fitted rate. Kernels read and write 32 bytes per value. "
    "After warm-up, which sends more.",
    kUnknown,
    propose_way<largest>,
    true};

const Fix kLowRankGradients{
    "low-rank-gradients",
    "Exchange gradients as low-rank matrices",
    kRules,
    FixKind::kModelled,
    0.25,
    "--compress powersgd",
    "Each all-reduce becomes two, of two columns for each row and column of a gradient's matrix, "
    "and of vectors. Kernels read and write 32 bytes per value. Shapes are those of the "
    "op graph.",
    kUnknown,
    propose_low_rank,
    true};

const Fix kGradientsAsSigns{
    "gradients-as-signs",
    "Exchange the signs of gradients",
    kRules,
    FixKind::kModelled,
    0.25,
    "--compress onebit",
    "Each all-reduce becomes an all-to-all and a gather of a bit per value and two means per 1024, "
    "each half of an all-reduce's time per byte at its fitted rate; ranks of a node share its "
    "network in the all-to-all. Kernels read and write 16 bytes per value, and 16 more per value "
    "of the part that the rank sums.",
    kUnknown,
    propose_way<signs>,
    true};

}  // namespace headway::analyzer
