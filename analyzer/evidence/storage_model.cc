// SPDX-License-Identifier: MIT
#include "analyzer/evidence/storage_model.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <span>

#include "analyzer/evidence/loader.h"

namespace headway::analyzer {
namespace {

/// The fit looks at so many reads. The first ones tell most: readers that begin together show how
/// the storage serves several before their pace has settled.
constexpr std::size_t kMostFitted = 1500;
/// Rates between the highest that the recording allows and a ten-thousandth of the load.
constexpr int kRatesTried = 41;
constexpr double kRateStep = 0.7943282347242815;  // 10^(-1/10)
constexpr int kOwnTimesTried = 24;
/// A shared transfer must explain the reads so much better: log-likelihoods of Laplace errors, for
/// which 8 is odds of 3000 to 1, and errors that are a tenth less.
constexpr double kLeastEvidence = 8;
constexpr double kLeastImprovement = 0.9;

enum class Sharing : std::uint8_t {
  kNone,   ///< each reader has a transfer of its own
  kQueue,  ///< one after the other
  kEqual,  ///< all open reads at once, each at an equal share of the rate
};

double ns_of(DurationNs time) {
  return static_cast<double>(time.ns);
}

/// When the turn of each read is over, in ns after its begin. `reads`: by begin.
std::vector<double> turns(std::span<const StorageRead> reads, double ns_per_byte, Sharing sharing) {
  std::vector<double> over(reads.size());
  auto work = [&](std::size_t i) { return ns_per_byte * static_cast<double>(reads[i].bytes); };
  auto begin = [&](std::size_t i) { return static_cast<double>(reads[i].time.begin.ns); };
  if (sharing != Sharing::kEqual) {
    double free = -INFINITY;
    for (std::size_t i = 0; i < reads.size(); ++i) {
      if (sharing == Sharing::kNone) free = begin(i);
      free = std::max(free, begin(i)) + work(i);
      over[i] = free - begin(i);
    }
    return over;
  }
  // Served: what each of the open reads has got so far. It grows by 1/k a nanosecond.
  using Open = std::pair<double, std::size_t>;
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
  double served = 0;
  double now = 0;
  auto advance = [&](double until) {
    while (!open.empty()) {
      const auto [target, i] = open.top();
      const double end = now + (target - served) * static_cast<double>(open.size());
      if (end > until) break;
      over[i] = end - begin(i);
      now = end;
      served = target;
      open.pop();
    }
    if (!open.empty() && std::isfinite(until))
      served += (until - now) / static_cast<double>(open.size());
    now = until;
  };
  for (std::size_t i = 0; i < reads.size(); ++i) {
    advance(begin(i));
    open.emplace(served + work(i), i);
  }
  advance(INFINITY);
  return over;
}

struct Fit {
  double ns_per_byte = 0;
  double own = 0;           ///< ns of each read
  double error = INFINITY;  ///< mean absolute, ns
};

/// The own time that explains the reads best at a given rate.
Fit fit_own(std::span<const StorageRead> reads, double ns_per_byte, Sharing sharing) {
  const std::vector<double> over = turns(reads, ns_per_byte, sharing);
  std::vector<double> rest(reads.size());
  for (std::size_t i = 0; i < reads.size(); ++i)
    rest[i] = ns_of(reads[i].time.length()) - ns_per_byte * static_cast<double>(reads[i].bytes);
  std::vector<double> sorted = rest;
  std::ranges::sort(sorted);
  Fit best;
  best.ns_per_byte = ns_per_byte;
  auto attempt = [&](double own) {
    double sum = 0;
    for (std::size_t i = 0; i < reads.size(); ++i) {
      const double time = ns_of(reads[i].time.length());
      sum += std::abs(time - std::max(own + time - rest[i], over[i]));
    }
    const double error = sum / static_cast<double>(reads.size());
    if (error < best.error) {
      best.error = error;
      best.own = own;
    }
  };
  // Where the model holds, a read takes its own time at least, and the least of them just that.
  for (int k = 0; k < kOwnTimesTried; ++k) {
    const auto at = static_cast<std::size_t>(k) * (sorted.size() - 1) / (kOwnTimesTried - 1);
    attempt(std::max(0.0, sorted[at]));
  }
  return best;
}

Fit fit_rate(std::span<const StorageRead> reads, double most_ns_per_byte, Sharing sharing) {
  Fit best;
  double rate = most_ns_per_byte;
  for (int k = 0; k < kRatesTried; ++k, rate *= kRateStep) {
    const Fit fit = fit_own(reads, rate, sharing);
    if (fit.error < best.error) best = fit;
  }
  // Between the neighbours of the best.
  double low = best.ns_per_byte * kRateStep;
  double high = std::min(most_ns_per_byte, best.ns_per_byte / kRateStep);
  constexpr double kGolden = 0.6180339887498949;
  for (int i = 0; i < 24 && high > low; ++i) {
    const Fit left = fit_own(reads, high - kGolden * (high - low), sharing);
    const Fit right = fit_own(reads, low + kGolden * (high - low), sharing);
    if (left.error < best.error) best = left;
    if (right.error < best.error) best = right;
    if (left.error <= right.error) {
      high = right.ns_per_byte;
    } else {
      low = left.ns_per_byte;
    }
  }
  return best;
}

/// While the transfer serves, at least one read is open.
double most_ns_per_byte(std::span<const StorageRead> reads) {
  double open = 0;
  double bytes = 0;
  TimeNs until = TimeNs::min();
  for (const StorageRead& read : reads) {
    const TimeNs begin = std::max(until, read.time.begin);
    if (read.time.end > begin) open += ns_of(read.time.end - begin);
    until = std::max(until, read.time.end);
    bytes += static_cast<double>(read.bytes);
  }
  return open / std::max(bytes, 1.0);
}

bool overlap(std::span<const StorageRead> reads) {
  for (std::size_t i = 1; i < reads.size(); ++i)
    if (reads[i].time.begin < reads[i - 1].time.end) return true;
  return false;
}

/// What all readers share, if that explains the reads far better than times of their own.
struct Shared {
  Sharing sharing = Sharing::kNone;
  Fit fit;
};
Shared find_shared(std::span<const StorageRead> reads) {
  reads = reads.first(std::min(reads.size(), kMostFitted));
  if (!overlap(reads)) return {};
  const double most = most_ns_per_byte(reads);
  double longest_alone = 0;
  for (const StorageRead& read : reads)
    longest_alone =
        std::max(longest_alone, ns_of(read.time.length()) /
                                    static_cast<double>(std::max<std::int64_t>(1, read.bytes)));
  Fit alone = fit_rate(reads, longest_alone, Sharing::kNone);
  const Fit constant = fit_own(reads, 0, Sharing::kNone);
  if (constant.error <= alone.error) alone = constant;
  Shared best;
  best.fit.error = INFINITY;
  for (Sharing sharing : {Sharing::kQueue, Sharing::kEqual}) {
    const Fit fit = fit_rate(reads, most, sharing);
    if (fit.error < best.fit.error) best = {sharing, fit};
  }
  // Errors below a nanosecond are those of rounding.
  const double improvement = std::max(best.fit.error, 1.0) / std::max(alone.error, 1.0);
  const double evidence = -static_cast<double>(reads.size()) * std::log(improvement);
  if (improvement > kLeastImprovement || evidence < kLeastEvidence) return {};
  return best;
}

void share_out(StorageModel& model, const Shared& shared) {
  const double ns_per_byte = 1e9 / model.bytes_per_s;
  const std::vector<double> over = shared.sharing == Sharing::kNone
                                       ? std::vector<double>(model.reads.size())
                                       : turns(model.reads, ns_per_byte, shared.sharing);
  double if_packed = 0;
  double if_fast = 0;
  for (std::size_t i = 0; i < model.reads.size(); ++i) {
    StorageRead& read = model.reads[i];
    const DurationNs time = read.time.length();
    const double transfer = ns_per_byte * static_cast<double>(read.bytes);
    read.transfer = std::min(time, DurationNs{std::llround(transfer)});
    read.alone = time - read.transfer;
    read.queued = over[i] > shared.fit.own + transfer;
    if (read.queued) read.alone = std::min(read.alone, DurationNs{std::llround(shared.fit.own)});
    model.total += time;
    model.transfers += read.transfer;
    if_packed += ns_of(read.queued ? time : read.transfer);
    if_fast += ns_of(read.alone);
  }
  const double total = std::max(1.0, ns_of(model.total));
  model.left_if_packed = if_packed / total;
  model.left_if_fast = if_fast / total;
}

std::vector<StorageRead> reads_with_sizes(const trace::Trace& trace) {
  std::vector<StorageRead> reads;
  for_each_read(trace, [&](trace::ThreadId thread, Interval time, std::int64_t bytes) {
    if (time.length().ns > 0) reads.push_back({thread, time, bytes, {}, {}, false});
  });
  std::ranges::stable_sort(reads, {}, [](const StorageRead& read) { return read.time.begin; });
  return reads;
}

}  // namespace

StorageModel storage_model(const trace::Trace& trace) {
  StorageModel model;
  model.reads = reads_with_sizes(trace);
  if (model.reads.empty()) return model;
  std::vector<StorageRead> sized;
  for (const StorageRead& read : model.reads)
    if (read.bytes > 0) sized.push_back(read);
  const Shared shared = find_shared(sized);
  if (shared.sharing == Sharing::kNone) {
    model.basis = StorageModel::Basis::kAssumed;
    model.bytes_per_s = sum_reads(trace).large_read_rate;
  } else {
    model.basis = StorageModel::Basis::kContention;
    model.bytes_per_s = 1e9 / shared.fit.ns_per_byte;
  }
  share_out(model, shared);
  return model;
}

double StorageModel::load(Interval window) const {
  DurationNs busy;
  for (const StorageRead& read : reads)
    if (window.contains(read.time.begin)) busy += read.transfer;
  return std::min(1.0, ratio(busy, window.length()));
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
