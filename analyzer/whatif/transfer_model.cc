// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "analyzer/evidence/communication.h"
#include "analyzer/whatif/time_of_bytes.h"
#include "analyzer/whatif/transfers.h"
#include "common/format.h"
#include "common/text.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// As for delays: a recording that shows it so often tells it itself.
constexpr std::size_t kEnough = 20;

double number(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// The backend that moves bytes between processes without devices; empty if the recording does not
/// name it or if its links are emulated.
std::string_view host_backend(const Trace& trace) {
  for (const char* link : {"node_gb_per_s", "network_gb_per_s", "network_us"})
    if (number(trace.setting(link)) > 0) return {};
  const std::string_view said = trace.setting("comm");
  if (said != "auto") return said;
  const bool by_mpirun = !trace.meta_value("env.OMPI_COMM_WORLD_SIZE").empty() ||
                         !trace.meta_value("env.PMI_SIZE").empty();
  return by_mpirun ? "mpi" : "shm";
}

std::optional<CollectiveFact> calibrated(const Predictor& predictor, const Transfer& transfer) {
  const Trace& trace = predictor.trace();
  const StreamId stream = trace.device_ops.stream[transfer.op.value];
  const Device& device = trace.devices[trace.streams[stream.value].device.value];
  const int ranks = transfer.ranks > 0 ? transfer.ranks : trace.world_size;
  if (ranks < 2) return std::nullopt;
  if (device.type != DeviceType::kHost)
    return predictor.machine().collective(device, "nccl", transfer.kind, ranks);
  const std::string_view backend = host_backend(trace);
  if (backend.empty()) return std::nullopt;
  return predictor.machine().host_collective(trace, backend, transfer.kind, ranks);
}

/// The calibrated line for the recorded number of ranks, scaled to the mean of the recorded
/// transfers, which include the load of the machine. Not scaled if a transfer is unmatched, because
/// its time includes waiting.
TransferLine through_recorded(const MeasuredCollective& measured,
                              std::span<const Transfer> transfers, int ranks) {
  TransferLine line = line_of(measured, ranks);
  double recorded = 0;
  double expected = 0;
  for (const Transfer& one : transfers) {
    if (!one.matched) return line;
    recorded += one.ns;
    expected += line.of(one.bytes);
  }
  if (expected <= 0) return line;
  line.fixed *= recorded / expected;
  line.per_byte *= recorded / expected;
  return line;
}

std::string figures(const TransferLine& line) {
  return fmt::format("latency {}, {}", format_duration({std::llround(line.fixed)}),
                     line.per_byte > 0 ? fmt::format("{:.1f} GB/s", 1 / line.per_byte)
                                       : "no transfer time per byte");
}

std::string name_of(std::string_view kind) {
  return kind == "allreduce" ? "all-reduces" : fmt::format("{}s", escape_terminal(kind));
}

struct Mean {
  double bytes = 0;
  double ns = 0;
};

Mean mean_of(std::span<const Transfer> transfers) {
  Mean sum;
  for (const Transfer& one : transfers) {
    sum.bytes += one.bytes;
    sum.ns += one.ns;
  }
  const auto count = static_cast<double>(transfers.size());
  return {sum.bytes / count, sum.ns / count};
}

/// Twice the standard error of the time per byte (White's, because long messages scatter more). The
/// ranks' parts in one transfer count as one observation.
double off_per_byte(std::span<const Transfer> transfers, const TransferLine& line, const Mean& mean,
                    int ranks) {
  double square = 0;
  double scatter = 0;
  for (const Transfer& one : transfers) {
    const double apart = one.bytes - mean.bytes;
    square += apart * apart;
    scatter += std::pow(apart * (one.ns - line.of(one.bytes)), 2);
  }
  return square > 0 ? 2 * std::sqrt(scatter * ranks) / square : 0;
}

TransferLine through(const Mean& mean, double for_bytes) {
  return {mean.ns - for_bytes, for_bytes / mean.bytes};
}

/// Sets the ends of the range, if the recorded transfers leave open how much of their time is for
/// bytes.
void open_up(const Predictor& predictor, std::span<const Transfer> transfers,
             TransferModel& model) {
  // A range below this share of the mean transfer's time needs no ends.
  constexpr double kWell = 0.1;
  if (model.line.per_byte_if_small > 0) return;  // three or more sizes show it
  const Trace& trace = predictor.trace();
  const Transfer& first = transfers.front();
  const DeviceId device = trace.streams[trace.device_ops.stream[first.op.value].value].device;
  const int ranks = std::max(2, first.ranks > 0 ? first.ranks : trace.world_size);
  const bool all_reduce = first.kind == "allreduce";
  const Mean mean = mean_of(transfers);
  // A parameter server's link carries the messages of all other ranks, and its answers.
  const double moved =
      mean.bytes *
      (first.kind == "reduce" ? 2 * (ranks - 1.0) : moved_share(ranks) * (1 + all_reduce));
  // Hops not known to be inside a node count as between nodes.
  const int per_node = ranks == trace.world_size ? std::max(1, ranks_per_node(trace)) : 1;
  Hops hops = hops_in_nodes(ranks, per_node, all_reduce);
  if (first.kind == "reduce")
    hops = ranks > per_node ? Hops{0, 2} : Hops{2, 0};  // to a server and back
  TimeOfBytes bytes =
      time_of_bytes(moved, hops, mean.ns, trace.devices[device.value].type == DeviceType::kHost);
  if (model.told_apart) {
    const double fitted = model.line.per_byte * mean.bytes;
    const double off = mean.bytes * off_per_byte(transfers, model.line, mean, ranks);
    bytes.least = std::clamp(fitted - off, bytes.least, bytes.most);
    bytes.most = std::clamp(fitted + off, bytes.least, bytes.most);
    // The fit is the likeliest line, unless it violates a bound.
    if (bytes.most - bytes.least < kWell * mean.ns) return;
    model.line = through(mean, std::clamp(fitted, bytes.least, bytes.most));
  } else {
    model.line = through(mean, bytes.by(BytesTake::kLikely));
  }
  model.ends = {through(mean, bytes.most), through(mean, bytes.least)};
}

}  // namespace

TransferLine line_of(const MeasuredCollective& measured, int ranks) {
  const bool all_reduce = measured.kind == "allreduce";
  return {measured.latency_ns * hops_of(ranks, all_reduce) / hops_of(measured.ranks, all_reduce),
          1e9 / measured.bytes_per_s * moved_share(ranks) / moved_share(measured.ranks)};
}

TransferModel model_transfers(const Predictor& predictor, std::span<const Transfer> transfers) {
  TransferModel model;
  if (transfers.empty()) return model;
  const Transfer& first = transfers.front();
  model.line = fit_transfers(transfers);
  model.told_apart = differ_in_size(transfers);
  for (const Transfer& one : transfers) model.largest = std::max(model.largest, one.bytes);
  open_up(predictor, transfers, model);
  model.text = fmt::format("{}, fitted to {} {}", figures(model.line), transfers.size(),
                           name_of(first.kind));
  if (model.told_apart && transfers.size() >= kEnough) return model;
  const auto fact = calibrated(predictor, first);
  if (!fact) return model;
  const int ranks = first.ranks > 0 ? first.ranks : predictor.trace().world_size;
  model.line = through_recorded(fact->value, transfers, ranks);
  model.told_apart = true;
  model.ends.clear();
  model.largest = 0;
  model.text = fmt::format(
      "{}, {} ({}, {} ranks{}){}", figures(model.line), fact->source,
      escape_terminal(fact->value.backend), fact->value.ranks,
      fact->value.ranks == ranks ? "" : fmt::format(", by hops and shares for {}", ranks),
      first.matched
          ? fmt::format(" and scaled to the {} recorded {}", transfers.size(), name_of(first.kind))
          : "");
  return model;
}

}  // namespace headway::analyzer
