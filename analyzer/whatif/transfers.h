// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/replay/predictor.h"
#include "analyzer/whatif/time_of_bytes.h"

namespace headway::analyzer {

/// One rank's part in a recorded collective: its bytes and the duration of its transfer.
struct Transfer {
  trace::DeviceOpId op;
  std::string_view kind;  ///< "allreduce"
  trace::StringId communicator;
  trace::StringId dtype;
  std::int32_t ranks = 0;  ///< members of the communicator; 0 unknown
  double bytes = 0;        ///< of the full message, over 0
  double ns = 0;           ///< after all ranks arrived; if not matched, after this rank arrived
  double gradients = 0;    ///< of a compressed message: bytes of the original gradients; 0 unknown
  double wait = 0;         ///< ns before the transfer, if it is part of the op's time in this trace
  bool of_layer =
      false;  ///< activations of a layer that ranks share (layer_exchanges.h), not gradients
  bool matched = false;  ///< with the parts of other ranks, in this trace or by the job's analysis
};
/// The collectives of known size that have a device op, by start. Point-to-point messages are left
/// out.
std::vector<Transfer> transfers_of(const Predictor& predictor);

/// A kernel's name without the number of what it handles: "pack bucket", of "pack bucket 1" as
/// headway-train's kernels on a processor are called.
std::string_view name_without_number(const trace::Trace& trace, trace::DeviceOpId op);

/// True for "f32", "Float", "ncclFloat32" and the like, and for an empty name.
bool in_single_precision(std::string_view dtype);

/// time = fixed + bytes · per_byte, in ns. Libraries send small messages by another protocol (LL of
/// NCCL) with a shorter start and half the rate; then there are two lines, and the smaller time
/// counts.
struct TransferLine {
  double fixed = 0;
  double per_byte = 0;
  double fixed_if_small = 0;
  double per_byte_if_small = 0;  ///< 0: one line for all
  double of(double bytes) const {
    const double large = fixed + per_byte * bytes;
    return per_byte_if_small > 0 ? std::min(large, fixed_if_small + per_byte_if_small * bytes)
                                 : large;
  }
  /// The single line that gives the smaller time at this size.
  TransferLine at(double bytes) const {
    const bool small = of(bytes) < fixed + per_byte * bytes;
    return small ? TransferLine{fixed_if_small, per_byte_if_small} : TransferLine{fixed, per_byte};
  }
};
/// Time of a message by the line, if a byte beyond `known` takes half as long: by the library's protocol for
/// large messages.
inline double faster_beyond(const TransferLine& line, double bytes, double known) {
  return line.of(bytes) - line.per_byte * std::max(0.0, bytes - known) / 2;
}
/// Least-squares fit with all values at least 0. Two lines if at least three sizes show that a byte
/// of large messages takes less time. With one size, latency and bandwidth cannot be separated, and
/// all time counts as bandwidth.
TransferLine fit_transfers(std::span<const Transfer> transfers);
/// True if the transfers have at least two sizes.
bool differ_in_size(std::span<const Transfer> transfers);

/// Hops of a collective: of an all-reduce, those of the better of a ring and a double tree; of gathers and
/// scatters those of a ring, the only way that NCCL has for them in general.
double hops_of(int ranks, bool all_reduce);
/// The same hops apart. Over all ranks, a ring leaves each node once.
Hops hops_in_nodes(int ranks, int per_node, bool all_reduce);
/// The share of a message that each rank of a ring passes on in one round: (n-1)/n. An all-reduce has two.
double moved_share(int ranks);
/// Factor on the time of a piece of `bytes` that the ring of a collective passes on. Pieces up to a
/// slice of NCCL's protocol (NCCL_BUFFSIZE of 4 MiB in 8 steps) move at half the rate; libraries for
/// processors have no such slices.
double time_of_small_piece(const trace::Trace& trace, trace::DeviceOpId collective, double bytes);

/// The all-reduces of gradients: those of the communicator size that moved most bytes. Only matched
/// ones if there are any.
std::vector<Transfer> main_all_reduces(const Predictor& predictor);

/// The collectives that exchange gradients, one list for each stage, by start; the i-th of each
/// list belong to one bucket. The stages are: all-reduces alone; or, for sums in stages,
/// reduce-scatters inside the nodes, all-reduces between nodes (if there are several), and
/// all-gathers; or, for compressed gradients, the rounds of their sums (exchange_rounds.h), or
/// all-gathers alone; or, with a parameter server, reductions to it. Empty if the recording has no
/// such collectives of known size.
std::vector<std::vector<Transfer>> stages_of_exchange(const Predictor& predictor);

/// A calibrated collective, converted to `ranks` ranks by the hops and moved shares of rings and
/// trees.
TransferLine line_of(const MeasuredCollective& measured, int ranks);

/// The time of messages of one kind, and its source.
struct TransferModel {
  TransferLine line;        ///< the likeliest
  bool told_apart = false;  ///< different sizes, or a calibration, separate latency from bandwidth
  /// The ends of the likely range: as much time as possible for bytes, then for latency. Empty if
  /// the separation is good; noise may exceed the effect of the sizes. All three lines pass through
  /// the mean transfer.
  std::vector<TransferLine> ends = {};
  double largest = 0;  ///< bytes of the largest recorded message; 0: the line is calibrated
  /// True if larger messages may be faster than the line. Libraries send them by another protocol,
  /// which moves up to twice the bytes in the same time, and a single line does not show where that
  /// begins.
  bool may_go_faster_beyond() const { return largest > 0 && line.per_byte_if_small <= 0; }
  const TransferLine& most_bytes() const { return ends.empty() ? line : ends.front(); }
  const TransferLine& most_latency() const { return ends.empty() ? line : ends.back(); }
  /// "latency 65.0 µs, 0.6 GB/s, fitted to 1920 all-reduces", or "…, measured 2026-11-22 on AMD EPYC (shm, 2
  /// ranks) and scaled to the 60 recorded all-reduces".
  std::string text;
};
/// The model of transfers of one kind and number of ranks. It is fitted to the recorded transfers
/// if they are at least 20 of at least two sizes. Else it is a calibration of the recorded machine
/// if there is one, scaled to the mean of the recorded transfers; else a fit with the ends of its
/// range.
TransferModel model_transfers(const Predictor& predictor, std::span<const Transfer> transfers);

}  // namespace headway::analyzer
