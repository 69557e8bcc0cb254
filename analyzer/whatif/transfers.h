// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/replay/predictor.h"

namespace headway::analyzer {

/// One rank's part in a recorded collective: what it moved, and how long the transfer took.
struct Transfer {
  trace::DeviceOpId op;
  std::string_view kind;  ///< "allreduce"
  trace::StringId communicator;
  trace::StringId dtype;
  std::int32_t ranks = 0;  ///< members of the communicator; 0 unknown
  double bytes = 0;        ///< of the full message, over 0
  double ns = 0;           ///< once all ranks had come; of an unmatched one, since this one came
  double gradients =
      0;            ///< of a message that is compressed: bytes of what it stands for; 0 unknown
  double wait = 0;  ///< before, in ns, where that is part of the op's own time in this trace
  bool of_layer =
      false;  ///< activations of a layer that ranks share (layer_exchanges.h), not gradients
  bool matched = false;  ///< with the parts of other ranks, in this trace or by the job's analysis
};
/// The collectives of known size that have a device op, by their start. Points from rank to rank are no
/// collectives.
std::vector<Transfer> transfers_of(const Predictor& predictor);

/// By the name of a number type: "f32", "Float", "ncclFloat32"; what is not said is taken to be.
bool in_single_precision(std::string_view dtype);

/// time = fixed + bytes · per_byte, in ns. Libraries send what is small by another protocol (LL of NCCL), which starts sooner and
/// has half of the rate: then the sooner of two lines.
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
  /// The line that is the sooner at this size, alone.
  TransferLine at(double bytes) const {
    const bool small = of(bytes) < fixed + per_byte * bytes;
    return small ? TransferLine{fixed_if_small, per_byte_if_small} : TransferLine{fixed, per_byte};
  }
};
/// Least squares; all at least 0. Two lines where three sizes or more show that bytes of large messages take less. Of one size
/// alone nothing tells latency from bandwidth: all is taken to be bandwidth.
TransferLine fit_transfers(std::span<const Transfer> transfers);
/// Whether they have two sizes or more.
bool differ_in_size(std::span<const Transfer> transfers);

/// Hops of the better of a ring and a double tree.
double hops_of(int ranks, bool all_reduce);
/// The share of a message that each rank of a ring passes on in one round: (n-1)/n. An all-reduce has two.
double moved_share(int ranks);

/// The all-reduces of gradients: of the communicators of one size, that which moved most bytes.
/// Matched ones where there are any.
std::vector<Transfer> main_all_reduces(const Predictor& predictor);

/// The collectives that exchange gradients, one list for each stage, by their start: all-reduces alone; or, where
/// sums are made in stages, reduce-scatters inside the nodes, all-reduces between them (where there are several), and
/// all-gathers, the i-th of each for one bucket; or, of compressed gradients, the rounds of their sums (exchange_rounds.h),
/// or all-gathers alone; or, with a parameter server, reductions to it. Empty where the recording has none of known size.
std::vector<std::vector<Transfer>> stages_of_exchange(const Predictor& predictor);

/// A calibrated collective among `ranks`, by the hops and shares of rings and trees.
TransferLine line_of(const MeasuredCollective& measured, int ranks);

/// What messages of one kind take, and what tells it.
struct TransferModel {
  TransferLine line;        ///< the likeliest
  bool told_apart = false;  ///< sizes that differ, or a calibration, tell latency from bandwidth
  /// Where they do so badly or not at all, as noise is larger than what the sizes make of it: as much as may be is for bytes; for
  /// latency. All three pass through the mean transfer.
  std::vector<TransferLine> ends = {};
  double largest = 0;  ///< bytes of a recorded message; 0: the line is of measurements beyond
  /// Libraries send large messages by another protocol, which moves up to twice the bytes in the same time. One line through all
  /// recorded ones does not tell where that begins.
  bool may_go_faster_beyond() const { return largest > 0 && line.per_byte_if_small <= 0; }
  const TransferLine& most_bytes() const { return ends.empty() ? line : ends.front(); }
  const TransferLine& most_latency() const { return ends.empty() ? line : ends.back(); }
  /// "latency 65.0 µs, 0.6 GB/s, fitted to 1920 all-reduces", or "…, measured 2026-11-22 on AMD EPYC (shm, 2
  /// ranks) and scaled to the 60 recorded all-reduces".
  std::string text;
};
/// The recorded transfers, of one kind and number of ranks, tell it where they are at least 20 of two sizes or more; else a
/// calibration of the recorded machine where it has them, through the mean of the recorded ones; else they do as far as they can.
TransferModel model_transfers(const Predictor& predictor, std::span<const Transfer> transfers);

}  // namespace headway::analyzer
