// SPDX-License-Identifier: MIT
#include "analyzer/evidence/storage_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <span>
#include <utility>

#include "analyzer/evidence/loader.h"
#include "analyzer/evidence/storage_fit.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

double ns_of(DurationNs time) {
  return static_cast<double>(time.ns);
}

/// True if no two calls overlap: then none waited for another.
bool one_at_a_time(std::vector<Interval> calls) {
  std::ranges::sort(calls, {}, &Interval::begin);
  return std::ranges::adjacent_find(calls, [](const Interval& one, const Interval& next) {
           return next.begin < one.end;
         }) == calls.end();
}

/// Time of a call that does not wait for other readers: a low quantile. If calls never overlap
/// (`alone`), the mean, because none of them waited.
std::optional<double> undisturbed(std::vector<double> values, bool alone) {
  constexpr std::size_t kOneIn = 20;
  if (values.empty()) return std::nullopt;
  if (alone)
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  const auto at = static_cast<std::ptrdiff_t>(values.size() / kOneIn);
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

/// Times of calls on files without waits for other readers.
struct ByCalls {
  std::optional<double> request;      ///< time of an open, ns
  std::optional<double> ns_per_byte;  ///< of reads, minus the time of an open for each request
};

/// Mean number of calls on files per read: a read that a range shows contains an open and the reads
/// of a file.
double requests_in_read(const trace::Trace& trace, TimeNs since,
                        const std::set<trace::ThreadId>& threads, std::size_t reads) {
  std::int64_t requests = 0;
  for_each_call_on_file(trace, since, [&](const FileCalls& one) {
    if (threads.empty() || threads.contains(one.thread)) requests += one.calls;
  });
  return std::max(1.0, static_cast<double>(requests) / static_cast<double>(reads));
}

ByCalls by_calls_on_files(const trace::Trace& trace, TimeNs since) {
  ByCalls result;
  std::vector<double> opens;
  std::vector<Interval> calls;
  for_each_call_on_file(trace, since, [&](const FileCalls& one) {
    if (!one.read) opens.push_back(ns_of(one.busy) / static_cast<double>(one.calls));
    calls.push_back({one.time.begin, one.time.begin + one.busy});
  });
  const bool alone = one_at_a_time(std::move(calls));
  result.request = undisturbed(std::move(opens), alone);
  if (!result.request) return result;
  std::vector<double> rates;
  for_each_call_on_file(trace, since, [&](const FileCalls& one) {
    if (!one.read || one.bytes <= 0) return;
    const double beyond = ns_of(one.busy) - *result.request * static_cast<double>(one.calls);
    rates.push_back(std::max(0.0, beyond) / static_cast<double>(one.bytes));
  });
  result.ns_per_byte = undisturbed(std::move(rates), alone);
  return result;
}

using CallsOnFiles = std::vector<FileCalls>;

TimeNs end_of(const FileCalls& one) {
  return one.time.begin + one.busy;
}

/// Rows of one call each, by `threads` (empty: all threads), in order of their ends.
CallsOnFiles single_calls(const trace::Trace& trace, TimeNs since,
                          const std::set<trace::ThreadId>& threads) {
  CallsOnFiles calls;
  for_each_call_on_file(trace, since, [&](const FileCalls& one) {
    if (one.calls == 1 && (threads.empty() || threads.contains(one.thread))) calls.push_back(one);
  });
  std::ranges::sort(calls, {}, end_of);
  return calls;
}

/// Times of calls if `places` reads are served at once and readers always wait for a place, so that
/// no call is undisturbed. The service of an open (with one place, also of a read) begins when
/// another reader's read ends, for which it waited.
ByCalls by_calls_at_places(const CallsOnFiles& calls, int places) {
  std::vector<double> opens;
  std::vector<std::pair<double, std::int64_t>> reads;  // ns, bytes
  // The two latest ends of reads, of different threads.
  trace::ThreadId last;
  TimeNs ended = TimeNs::min();
  TimeNs other_ended = TimeNs::min();
  for (const FileCalls& one : calls) {
    const TimeNs free = one.thread == last ? other_ended : ended;
    const bool waits = !one.read || places == 1;
    const double served =
        ns_of(end_of(one) - (waits ? std::max(one.time.begin, free) : one.time.begin));
    if (!one.read) opens.push_back(served);
    if (!one.read || one.bytes <= 0) continue;
    reads.emplace_back(served, one.bytes);
    if (one.thread != last) other_ended = ended;
    last = one.thread;
    ended = end_of(one);
  }
  ByCalls result;
  if (opens.empty() || reads.empty()) return result;
  result.request = median(opens);
  std::vector<double> rates;
  for (const auto& [served, bytes] : reads)
    rates.push_back(std::max(0.0, served - *result.request) / static_cast<double>(bytes));
  result.ns_per_byte = median(rates);
  return result;
}

/// True if several readers take turns at one place: their reads take most of the time and never
/// overlap, and opens wait for the read before. Without that waiting, reads could miss each other
/// only because they come at even intervals.
bool reads_take_turns(const CallsOnFiles& calls, const ByCalls& at_one_place) {
  constexpr std::size_t kLeastReads = 20;
  constexpr double kMostOverlap = 0.01;  // of the reads' time
  constexpr double kLeastBusy = 0.5;     // of the time from the first read to the last
  constexpr double kMostServed = 0.5;    // of an open; it waits for the rest
  std::set<trace::ThreadId> readers;
  std::size_t reads = 0;
  double sum = 0;
  double overlap = 0;
  TimeNs first;
  TimeNs until = TimeNs::min();
  std::vector<double> opens;
  for (const FileCalls& one : calls) {
    if (!one.read) opens.push_back(ns_of(one.busy));
    if (!one.read || one.bytes <= 0) continue;
    if (reads++ == 0) first = one.time.begin;
    readers.insert(one.thread);
    sum += ns_of(one.busy);
    if (until > one.time.begin) overlap += ns_of(until - one.time.begin);
    until = end_of(one);
  }
  return at_one_place.request && *at_one_place.request <= kMostServed * median(opens) &&
         reads >= kLeastReads && readers.size() > 1 && overlap <= kMostOverlap * sum &&
         sum >= kLeastBusy * ns_of(until - first);
}

std::vector<StorageRead> reads_with_sizes(const trace::Trace& trace, TimeNs since,
                                          const std::set<trace::ThreadId>& threads) {
  std::vector<StorageRead> reads;
  for_each_read(trace, since, [&](trace::ThreadId thread, Interval time, std::int64_t bytes) {
    if (!threads.empty() && !threads.contains(thread)) return;
    if (time.length().ns > 0) reads.push_back({thread, time, bytes, {}, {}, {}, false});
  });
  // If reads began together, the storage first served the one that ended first.
  std::ranges::stable_sort(
      reads, {}, [](const StorageRead& read) { return std::pair(read.time.begin, read.time.end); });
  return reads;
}

/// Splits each read into its parts according to the fit. `own_ns_per_byte`: time of a byte for an
/// undisturbed reader, whose own connection may be slower than the shared storage.
void share_out(StorageModel& model, const StorageFit& fit, double ns_per_byte,
               double own_ns_per_byte) {
  const std::vector<double> over = turn_ends(model.reads, fit);
  double if_packed = 0;
  double if_fast = 0;
  double turns = 0;
  const bool places = fit.sharing == Sharing::kPlaces;
  for (std::size_t i = 0; i < model.reads.size(); ++i) {
    StorageRead& read = model.reads[i];
    const DurationNs time = read.time.length();
    const auto bytes = static_cast<double>(read.bytes);
    const double own = fit.own + fit.ns_per_byte * bytes;
    read.queued = fit.sharing != Sharing::kNone && over[i] > own * (1 + 1e-9);
    // A read that waited for a place used the rest of its time itself. For a read that waited for
    // the shared transfer, its own part is taken from the fit.
    const double by_itself = places ? ns_of(time) - (over[i] - own) : own;
    const DurationNs undisturbed =
        read.queued ? std::clamp(DurationNs{std::llround(by_itself)}, DurationNs{0}, time) : time;
    read.transfer = std::min(undisturbed, DurationNs{std::llround(ns_per_byte * bytes)});
    (places ? read.held : read.alone) = undisturbed - read.transfer;
    model.total += time;
    turns += ns_of(read.held + read.transfer) / model.places;
    // A waiting read waits for the others' transfers or, with places, for their whole service.
    const double by_others = ns_of(time - undisturbed);
    const double transfers = places ? ratio(read.transfer, undisturbed) : 1;
    const double moving =
        std::clamp(own_ns_per_byte * bytes, ns_of(read.transfer), ns_of(undisturbed));
    if_packed += moving + by_others * transfers;
    if (read.queued && !places)  // the queue hides requests
      if_packed += std::max(0.0, ns_of(read.transfer + read.alone) - moving);
    if_fast += ns_of(undisturbed) - moving + by_others * (1 - transfers);
  }
  const double total = std::max(1.0, ns_of(model.total));
  model.turns = {std::llround(turns)};
  model.left_if_packed = std::min(1.0, if_packed / total);
  model.left_if_fast = if_fast / total;
}

void apply(const StorageFit& fit, const std::optional<double>& by_calls, double large_read_rate,
           StorageModel& model) {
  double ns_per_byte = by_calls.value_or(1e9 / large_read_rate);
  model.basis = by_calls ? StorageModel::Basis::kCalls : StorageModel::Basis::kAssumed;
  if (fit.sharing != Sharing::kNone) {
    model.basis = StorageModel::Basis::kContention;
    model.places = fit.places;
    if (fit.sharing != Sharing::kPlaces) ns_per_byte = fit.ns_per_byte;
  } else if (by_calls) {
    ns_per_byte = std::min(*by_calls, fit.most_ns_per_byte);
  }
  model.error_ns = fit.error;
  model.bytes_per_s = 1e9 / std::max(ns_per_byte, 1e-6);
  share_out(model, fit, ns_per_byte, std::max(ns_per_byte, by_calls.value_or(0)));
}

/// True if the model's turns take longer than the time in which all reads were served. The fit
/// looks at only some reads; then the others did not meet its limit (for example, a page cache held
/// them).
bool is_refuted(const StorageModel& model) {
  constexpr double kMuchMore = 1.25;
  TimeNs end = model.reads.front().time.end;
  for (const StorageRead& read : model.reads) end = std::max(end, read.time.end);
  return ns_of(model.turns) > kMuchMore * ns_of(end - model.reads.front().time.begin);
}

}  // namespace

StorageModel storage_model(const trace::Trace& trace, TimeNs since,
                           const std::set<trace::ThreadId>& threads) {
  StorageModel model;
  model.reads = reads_with_sizes(trace, since, threads);
  if (model.reads.empty()) return model;
  std::vector<StorageRead> sized;
  for (const StorageRead& read : model.reads)
    if (read.bytes > 0) sized.push_back(read);
  const CallsOnFiles single = single_calls(trace, since, threads);
  const ByCalls at_one_place = by_calls_at_places(single, 1);
  model.in_turns = reads_take_turns(single, at_one_place);
  ByCalls calls = model.in_turns ? at_one_place : by_calls_on_files(trace, since);
  const double large_read_rate = sum_reads(trace, since).large_read_rate;
  const double in_read = requests_in_read(trace, since, threads, model.reads.size());
  const auto made_by = [&](const StorageFit& fit) {
    StorageModel one = model;
    if (calls.request) one.request = DurationNs{std::llround(*calls.request)};
    one.requests_in_read = in_read;
    apply(fit, calls.ns_per_byte, large_read_rate, one);
    return one;
  };
  const StorageFit fit = model.in_turns
                             ? fit_places(sized, 1, in_read * *calls.request, *calls.ns_per_byte)
                             : fit_storage(sized, calls.ns_per_byte);
  if (!model.in_turns && fit.sharing == Sharing::kPlaces && calls.request) {
    const ByCalls waiting = by_calls_at_places(single, fit.places);
    if (waiting.request && *waiting.request < *calls.request) calls = waiting;
  }
  StorageModel fitted = made_by(fit);
  // Reads from memory wait for processors (SharedProcessors), not for a storage.
  if (!fitted.limited() || !(is_refuted(fitted) || reads_come_from_memory(trace, since)))
    return fitted;
  StorageFit without;
  without.most_ns_per_byte = std::numeric_limits<double>::infinity();
  return made_by(without);
}

std::optional<StorageModel::OfRequests> StorageModel::of_requests() const {
  /// Most time of a request: a seek and half a turn of the slowest disk (held), or a round trip to
  /// a distant storage (alone).
  constexpr double kMostHeldNs = 20e6;
  constexpr double kMostAloneNs = 150e6;
  double service = 0;
  bool held = false;
  std::int64_t bytes = 0;
  for (const StorageRead& read : reads) {
    if (read.bytes == 0) continue;  // an open
    if (bytes != 0 && read.bytes != bytes) return std::nullopt;
    bytes = read.bytes;
    held |= read.held.ns > 0;
    service += ns_of(limited() ? read.held + read.transfer : read.time.length());
  }
  const auto sized =
      std::ranges::count_if(reads, [](const StorageRead& read) { return read.bytes > 0; });
  if (service <= 0) return std::nullopt;
  service /= static_cast<double>(sized);
  const double most = std::min(1.0, (limited() ? kMostHeldNs : kMostAloneNs) / service);
  // With places, all requests of a read take service time. With a shared transfer, one request per
  // read is assumed.
  const double requests = held ? requests_in_read : 1;
  const double likely = request ? requests * ns_of(*request) / service : most / 2;
  return OfRequests{std::min(likely, most), most};
}

double StorageModel::serves(double times_readers, double share_of_reading) const {
  constexpr double kNeverSeen = 0.5;
  if (limited() || times_readers <= 1) return 1;
  return 1 - kNeverSeen * std::min(1.0, share_of_reading) * (1 - 1 / times_readers);
}

double StorageModel::load(Interval window) const {
  const auto served = [](const StorageRead& read) {
    return Interval{read.time.end - (read.held + read.transfer), read.time.end};
  };
  // Earlier reads are not known, and after the last batch is read, steps go on without the storage.
  Interval known{TimeNs::max(), TimeNs::min()};
  for (const StorageRead& read : reads)
    known = {std::min(known.begin, served(read).begin), std::max(known.end, read.time.end)};
  window = intersect(window, known);
  double busy = 0;
  for (const StorageRead& read : reads)
    busy += ns_of(intersect(served(read), window).length()) / places;
  return window.empty() ? 0 : std::min(1.0, busy / ns_of(window.length()));
}

StorageModel busiest_storage(const trace::Trace& trace, TimeNs since, Interval window) {
  StorageModel all = storage_model(trace, since);
  if (all.in_turns) return all;
  std::map<trace::ProcessId, std::set<trace::ThreadId>> readers;
  for (const StorageRead& read : all.reads)
    readers[trace.threads[read.thread.value].process].insert(read.thread);
  if (readers.size() < 2) return all;
  std::optional<StorageModel> busiest;
  for (const auto& [process, threads] : readers) {
    StorageModel own = storage_model(trace, since, threads);
    if (!own.in_turns) return all;
    if (!busiest || own.load(window) > busiest->load(window)) busiest = std::move(own);
  }
  return *busiest;
}

std::vector<const StorageRead*> reads_of(const StorageModel& model, trace::ThreadId thread,
                                         Interval window) {
  std::vector<const StorageRead*> found;
  auto first = std::ranges::lower_bound(model.reads, window.begin, {},
                                        [](const StorageRead& read) { return read.time.begin; });
  for (; first != model.reads.end() && first->time.begin < window.end; ++first)
    if (first->thread == thread) found.push_back(&*first);
  return found;
}

}  // namespace headway::analyzer
