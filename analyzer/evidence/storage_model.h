// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "common/time.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// A rate of this much or more, in bytes/s, means that transfers were too short to measure.
inline constexpr double kFasterThanShows = 1e12;

/// A recorded read and its parts.
struct StorageRead {
  trace::ThreadId thread;
  Interval time;
  std::int64_t bytes = 0;
  DurationNs alone;     ///< requests, latency, processor; independent of other readers
  DurationNs held;      ///< the same, but it occupies a place at the storage; others wait for it
  DurationNs transfer;  ///< time of the bytes with the storage to itself; others wait for it
  bool queued = false;  ///< it ended later because of other readers
};

/// The storage that a loader reads from, modelled as a server that is fitted to the recorded reads.
/// A read ends when both its own time and its turn (`held` and `transfer`, at one of `places`) are
/// over. Either all readers share one transfer, and requests run beside it; or `places` reads are
/// served at once, and each occupies its place for its whole service. Immutable once made.
struct StorageModel {
  enum class Basis : std::uint8_t {
    kNone,        ///< no read has a known size
    kAssumed,     ///< nothing shows a limit: the best large read's rate, or a slow disk's rate
    kCalls,       ///< from calls on files: the time of reads beyond that of opens (requests)
    kContention,  ///< reads take longer if more of them are open
  };
  Basis basis = Basis::kNone;
  double bytes_per_s = 0;  ///< of the transfer
  double error_ns = 0;     ///< mean distance of the recorded ends of reads from the fitted ones
  int places = 1;          ///< reads that are served at once
  bool in_turns = false;   ///< calls on files never overlap, so there is one place
  std::optional<DurationNs> request;  ///< time of a request, measured by opens of files
  double requests_in_read = 1;        ///< calls on files per read, including opens
  std::vector<StorageRead> reads;     ///< by begin
  DurationNs total;                   ///< sum of the durations of all reads
  DurationNs turns;                   ///< time of all turns, with all places in parallel
  /// Remaining share of the reading time, 0 to 1 ...
  double left_if_packed = 1;  ///< ... if requests cost nothing: small files in shards
  double left_if_fast = 1;    ///< ... if transfers cost nothing: faster storage

  /// ... if each read has `times` its bytes; above 1 for more bytes.
  double left_with_bytes(double times) const { return 1 + (times - 1) * (1 - left_if_fast); }

  /// The share of the reads' service, 0 to 1, that requests may take if all reads have one size:
  /// then their times do not separate requests from bytes. Nothing if sizes differ.
  struct OfRequests {
    double likely = 0;
    double most = 0;
  };
  std::optional<OfRequests> of_requests() const;

  /// True if the recorded reads show that they share the storage.
  bool limited() const { return basis == Basis::kContention; }
  /// True if the recording shows what readers would share.
  bool shared() const { return basis == Basis::kContention || basis == Basis::kCalls; }
  /// Certainty, 0 to 1, that `times_readers` times the readers are served as fast as these, if
  /// reading takes `share_of_reading` of their work. It is below 1 if the reads show no limit,
  /// because more readers could meet one. 1 if the fitted model has the limit.
  double serves(double times_readers, double share_of_reading) const;
  /// Share of `window`, 0 to 1, in which all places are occupied; only the time from the first read
  /// to the last counts.
  double load(Interval window) const;
};

/// The model of the reads that begin at or after `since` (Steps::warm_from), by `threads` (empty:
/// all threads). Linear in the number of reads, except for a sort; the fit looks at the first few
/// hundred.
StorageModel storage_model(const trace::Trace& trace, TimeNs since,
                           const std::set<trace::ThreadId>& threads = {});

/// The storage of all reads. But if the reads of each process take turns (StorageModel::in_turns)
/// and all reads together do not, the storage of the process that is busiest in `window`.
StorageModel busiest_storage(const trace::Trace& trace, TimeNs since, Interval window);

/// The reads of `thread` that begin in `window`, by begin.
std::vector<const StorageRead*> reads_of(const StorageModel& model, trace::ThreadId thread,
                                         Interval window);

}  // namespace headway::analyzer
