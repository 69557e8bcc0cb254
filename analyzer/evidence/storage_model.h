// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/time.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// A recorded read and what it is made of: time that other readers do not change, and a turn at
/// the transfer, which all readers share.
struct StorageRead {
  trace::ThreadId thread;
  Interval time;
  std::int64_t bytes = 0;
  DurationNs alone;     ///< requests, latency, processor; at most `time` less `transfer`
  DurationNs transfer;  ///< with the storage to itself
  bool queued = false;  ///< the turns of other readers decided when it ended
};

/// The storage that a loader reads from, as a server: every read takes a time of its own, and its
/// bytes pass one transfer that is shared by all readers. Fitted from the recorded reads alone: a
/// read ends when both its own time and its turn are over. Immutable once made.
struct StorageModel {
  enum class Basis : std::uint8_t {
    kNone,        ///< no read says its size
    kAssumed,     ///< nothing shows a limit: the rate of the best large read, or what disks reach
    kContention,  ///< reads take longer the more of them are open
  };
  Basis basis = Basis::kNone;
  double bytes_per_s = 0;          ///< of the shared transfer
  std::vector<StorageRead> reads;  ///< by begin
  DurationNs total;                ///< time of all reads, readers added up
  DurationNs transfers;            ///< of all reads, one after the other
  /// How much of the reading time is left, 0 to 1 ...
  double left_if_packed = 1;  ///< ... if requests cost nothing: small files in shards
  double left_if_fast = 1;    ///< ... if transfers cost nothing: faster storage

  bool limited() const { return basis == Basis::kContention; }
  /// Mean turn of a read.
  DurationNs mean_transfer() const {
    return reads.empty() ? DurationNs{} : transfers / static_cast<std::int64_t>(reads.size());
  }
  /// The transfer's load while `window` lasts, 0 to 1.
  double load(Interval window) const;
};

/// Linear in the number of reads, but for a sort; the fit looks at the first few thousand.
StorageModel storage_model(const trace::Trace& trace);

/// The reads of `thread` that begin in `window`, by begin.
std::vector<const StorageRead*> reads_of(const StorageModel& model, trace::ThreadId thread,
                                         Interval window);

}  // namespace headway::analyzer
