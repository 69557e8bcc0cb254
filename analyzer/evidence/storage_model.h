// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "common/time.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// Transfers at such a rate, in bytes/s, were too short to show any.
inline constexpr double kFasterThanShows = 1e12;

/// A recorded read and what it is made of.
struct StorageRead {
  trace::ThreadId thread;
  Interval time;
  std::int64_t bytes = 0;
  DurationNs alone;     ///< requests, latency, processor: other readers do not change it
  DurationNs held;      ///< the same, but with a place at the storage that others wait for
  DurationNs transfer;  ///< of the bytes, with the storage to itself; others wait for it
  bool queued = false;  ///< other readers decided when it ended
};

/// The storage that a loader reads from, as a server that was fitted to the recorded reads. A read ends
/// when its own time is over and when its turn is: `held` and `transfer`, at one of `places`. Either all
/// readers share one transfer, and requests go beside it, or so many reads are served at once and all
/// of a read takes a place. Immutable once made.
struct StorageModel {
  enum class Basis : std::uint8_t {
    kNone,        ///< no read says its size
    kAssumed,     ///< nothing shows a limit: the rate of the best large read, or what disks reach
    kCalls,       ///< what reads took beyond opens, by the calls on files: a request costs an open
    kContention,  ///< reads take longer the more of them are open
  };
  Basis basis = Basis::kNone;
  double bytes_per_s = 0;  ///< of the transfer
  double error_ns = 0;     ///< mean distance of the recorded ends of reads from the fitted ones
  int places = 1;          ///< reads that are served at once
  bool in_turns = false;   ///< calls on files show that there is one place: they never overlap
  std::optional<DurationNs> request;  ///< what one costs, as opens on files show
  double requests_in_read = 1;        ///< calls on files, opens included, that a read stands for
  std::vector<StorageRead> reads;     ///< by begin
  DurationNs total;                   ///< time of all reads, readers added up
  DurationNs turns;                   ///< of all reads together, at all places in parallel
  /// How much of the reading time is left, 0 to 1 ...
  double left_if_packed = 1;  ///< ... if requests cost nothing: small files in shards
  double left_if_fast = 1;    ///< ... if transfers cost nothing: faster storage

  /// ... if each read brought so many times the bytes; more than 1 for more bytes.
  double left_with_bytes(double times) const { return 1 + (times - 1) * (1 - left_if_fast); }

  /// Of reads that are all of one size, how much of their service may be for the request, 0 to 1: nothing of what they took
  /// tells it from what is for the bytes. Nothing where sizes differ.
  struct OfRequests {
    double likely = 0;
    double most = 0;
  };
  std::optional<OfRequests> of_requests() const;

  /// The recorded reads show that they share the storage.
  bool limited() const { return basis == Basis::kContention; }
  /// Something is known of what they share.
  bool shared() const { return basis == Basis::kContention || basis == Basis::kCalls; }
  /// How likely so many times as many readers are served as fast as these, 0 to 1, where reading takes this share of
  /// their work. Where the reads show no limit, that they never met one says nothing of more readers.
  double serves(double times_readers, double share_of_reading) const;
  /// How much of `window` all places are taken, 0 to 1; from the first read to the last.
  double load(Interval window) const;
};

/// Linear in the number of reads, but for a sort; the fit looks at the first few hundred. Of the reads from `since` on
/// (Steps::warm_from), of some threads or of all.
StorageModel storage_model(const trace::Trace& trace, TimeNs since,
                           const std::set<trace::ThreadId>& threads = {});

/// The storage of all reads; or, where the reads of each process show that they take turns and those of all do not, that of the
/// process whose storage is the busiest in `window`.
StorageModel busiest_storage(const trace::Trace& trace, TimeNs since, Interval window);

/// The reads of `thread` that begin in `window`, by begin.
std::vector<const StorageRead*> reads_of(const StorageModel& model, trace::ThreadId thread,
                                         Interval window);

}  // namespace headway::analyzer
