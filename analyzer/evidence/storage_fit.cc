// SPDX-License-Identifier: MIT
#include "analyzer/evidence/storage_fit.h"

#include <algorithm>
#include <cmath>
#include <queue>

#include "common/statistics.h"

namespace headway::analyzer {
namespace {

/// The fit looks at this many reads at most. The first ones show most: readers that begin together
/// show how the storage serves several at once, before they settle into a regular pace.
constexpr std::size_t kMostFitted = 300;
/// Rates tried, from the highest that the recording allows down to a ten-thousandth of it.
constexpr int kRatesTried = 25;
constexpr double kRateStep = 0.6812920690579612;  // 10^(-1/6)
constexpr int kOwnTimesTried = 24;
constexpr int kRefinements = 20;
constexpr int kMostPlaces = 8;
/// Sharing must explain the reads better by this much: a difference of 8 in the log-likelihood of
/// Laplace errors (odds of 3000 to 1), and errors that are smaller by a tenth.
constexpr double kLeastEvidence = 8;
constexpr double kLeastImprovement = 0.9;
/// With errors below this share of a read, no better model is needed.
constexpr double kGoodEnough = 0.01;
constexpr double kExact = 0.0005;
constexpr double kGolden = 0.6180339887498949;

double length_of(const StorageRead& read) {
  return static_cast<double>(read.time.length().ns);
}
double begin_of(const StorageRead& read) {
  return static_cast<double>(read.time.begin.ns);
}
double work_of(const StorageRead& read, double ns_per_byte) {
  return ns_per_byte * static_cast<double>(read.bytes);
}

/// Turn ends if k open reads each proceed at 1/k of the rate. `served`: the service that each read,
/// open from the start, would have received so far.
std::vector<double> equal_turns(std::span<const StorageRead> reads, double ns_per_byte) {
  using Open = std::pair<double, std::size_t>;
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
  std::vector<double> over(reads.size());
  double served = 0;
  double now = 0;
  auto advance = [&](double until) {
    while (!open.empty()) {
      const auto [target, i] = open.top();
      const double end = now + (target - served) * static_cast<double>(open.size());
      if (end > until) break;
      over[i] = end - begin_of(reads[i]);
      now = end;
      served = target;
      open.pop();
    }
    if (!open.empty()) served += (until - now) / static_cast<double>(open.size());
    now = until;
  };
  for (std::size_t i = 0; i < reads.size(); ++i) {
    advance(begin_of(reads[i]));
    open.emplace(served + work_of(reads[i], ns_per_byte), i);
  }
  advance(INFINITY);
  return over;
}

/// Mean distance of the recorded ends from those of the fit.
double error_of(std::span<const StorageRead> reads, const StorageFit& fit,
                const std::vector<double>& over) {
  double sum = 0;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const double own = fit.own + work_of(reads[i], fit.ns_per_byte);
    sum += std::abs(length_of(reads[i]) - std::max(own, over[i]));
  }
  return sum / static_cast<double>(reads.size());
}

/// The own time that explains the reads best at a given rate, if it is not part of the turn.
StorageFit fit_own(std::span<const StorageRead> reads, double ns_per_byte, Sharing sharing) {
  StorageFit fit;
  fit.sharing = sharing;
  fit.ns_per_byte = ns_per_byte;
  std::vector<double> over;
  std::vector<double> rest;
  for (const StorageRead& read : reads)
    rest.push_back(length_of(read) - work_of(read, ns_per_byte));
  std::ranges::sort(rest);
  StorageFit best = fit;
  best.error = INFINITY;
  // If the model holds, a read takes at least its own time, and an undisturbed read exactly that.
  for (int k = 0; k < kOwnTimesTried; ++k) {
    fit.own =
        std::max(0.0, rest[static_cast<std::size_t>(k) * (rest.size() - 1) / (kOwnTimesTried - 1)]);
    // The own time changes the turns only in a queue, where a read may end before its turn.
    if (k == 0 || sharing == Sharing::kQueue) over = turn_ends(reads, fit);
    fit.error = error_of(reads, fit, over);
    if (fit.error < best.error) best = fit;
  }
  return best;
}

/// Improves `best` by a golden-section search for the smallest error of `attempt` in [low, high].
template <class Attempt>
void refine(double low, double high, StorageFit& best, const Attempt& attempt) {
  for (int i = 0; i < kRefinements && high > low; ++i) {
    const double a = high - kGolden * (high - low);
    const double b = low + kGolden * (high - low);
    const StorageFit left = attempt(a);
    const StorageFit right = attempt(b);
    if (left.error < best.error) best = left;
    if (right.error < best.error) best = right;
    (left.error <= right.error ? high : low) = left.error <= right.error ? b : a;
  }
}

StorageFit fit_rate(std::span<const StorageRead> reads, double most, Sharing sharing) {
  auto attempt = [&](double rate) { return fit_own(reads, rate, sharing); };
  StorageFit best = attempt(most);
  double rate = most;
  for (int k = 1; k < kRatesTried; ++k) {
    const StorageFit fit = attempt(rate *= kRateStep);
    if (fit.error < best.error) best = fit;
  }
  refine(best.ns_per_byte * kRateStep, std::min(most, best.ns_per_byte / kRateStep), best, attempt);
  return best;
}

/// The best fit with this many places: finds how long a read holds one.
StorageFit best_at_places(std::span<const StorageRead> reads, int places) {
  double longest = 0;
  for (const StorageRead& read : reads) longest = std::max(longest, length_of(read));
  auto attempt = [&](double own) { return fit_places(reads, places, own, 0); };
  StorageFit best = attempt(longest);
  constexpr int kTried = 20;
  constexpr double kStep = 0.8;
  double own = longest;
  for (int k = 0; k < kTried; ++k) {
    const StorageFit fit = attempt(own *= kStep);
    if (fit.error < best.error) best = fit;
  }
  refine(best.own * kStep, best.own / kStep, best, attempt);
  return best;
}

/// Upper limit of the shared transfer's time per byte: at least one read is open while it serves.
double most_ns_per_byte_of(std::span<const StorageRead> reads) {
  double open = 0;
  double bytes = 0;
  TimeNs until = TimeNs::min();
  for (const StorageRead& read : reads) {
    const TimeNs begin = std::max(until, read.time.begin);
    if (read.time.end > begin) open += static_cast<double>((read.time.end - begin).ns);
    until = std::max(until, read.time.end);
    bytes += static_cast<double>(read.bytes);
  }
  return open / std::max(bytes, 1.0);
}

int most_open(std::span<const StorageRead> reads) {
  std::vector<std::pair<TimeNs, int>> changes;
  for (const StorageRead& read : reads) {
    changes.emplace_back(read.time.begin, 1);
    changes.emplace_back(read.time.end, -1);
  }
  std::ranges::sort(changes);  // at equal times, ends come first
  int now = 0;
  int most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, now += change);
  return most;
}

/// The best fit without sharing: a constant time per read, or a constant and a time per byte.
StorageFit fit_alone(std::span<const StorageRead> reads) {
  double most = 0;
  for (const StorageRead& read : reads)
    most = std::max(most, length_of(read) / static_cast<double>(read.bytes));
  const StorageFit constant = fit_own(reads, 0, Sharing::kNone);
  const StorageFit per_byte = fit_rate(reads, most, Sharing::kNone);
  return per_byte.error < constant.error ? per_byte : constant;
}

bool is_far_better(const StorageFit& one, const StorageFit& than, std::size_t reads) {
  // Errors below a nanosecond come from rounding.
  const double left = std::max(one.error, 1.0) / std::max(than.error, 1.0);
  return left <= kLeastImprovement &&
         -static_cast<double>(reads) * std::log(left) >= kLeastEvidence;
}

/// The most per byte that readers could share without explaining their reads worse.
double most_unseen(std::span<const StorageRead> reads, const StorageFit& alone, double most) {
  if (most <= 0) return 0;
  for (double rate = most; rate > most * 1e-4; rate *= kRateStep)
    if (!is_far_better(alone, fit_own(reads, rate, Sharing::kQueue), reads.size())) return rate;
  return 0;
}

}  // namespace

std::vector<double> turn_ends(std::span<const StorageRead> reads, const StorageFit& fit) {
  if (fit.sharing == Sharing::kEqual) return equal_turns(reads, fit.ns_per_byte);
  const bool places = fit.sharing == Sharing::kPlaces;
  std::vector<double> free(static_cast<std::size_t>(places ? fit.places : 1), -INFINITY);
  std::vector<double> over(reads.size());
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const double begin = begin_of(reads[i]);
    const double own = fit.own + work_of(reads[i], fit.ns_per_byte);
    double& place = *std::ranges::min_element(free);
    if (fit.sharing == Sharing::kNone) place = begin;
    place = std::max(place, begin) + (places ? own : own - fit.own);
    over[i] = place - begin;
    // The next read waits for the recorded end, not the fitted one, so an error counts only once.
    if (places || (fit.sharing == Sharing::kQueue && over[i] > own))
      place = begin + length_of(reads[i]);
  }
  return over;
}

namespace {

double mean_length(std::span<const StorageRead> reads) {
  double sum = 0;
  for (const StorageRead& read : reads) sum += length_of(read);
  return sum / static_cast<double>(std::max<std::size_t>(1, reads.size()));
}

double median_length(std::span<const StorageRead> reads) {
  std::vector<double> lengths;
  for (const StorageRead& read : reads) lengths.push_back(length_of(read));
  return median(lengths);
}

StorageFit fit_all(std::span<const StorageRead> reads, std::optional<double> most_ns_per_byte) {
  StorageFit alone;
  const double most =
      std::min(most_ns_per_byte_of(reads), most_ns_per_byte.value_or(INFINITY) * 1.05);
  alone = fit_alone(reads);
  alone.most_ns_per_byte = most;
  const int readers = most_open(reads);
  if (readers < 2 || alone.error <= kExact * mean_length(reads)) return alone;
  StorageFit best = alone;
  if (most > 0) {
    best = fit_rate(reads, most, Sharing::kQueue);
    if (const StorageFit equal = fit_rate(reads, most, Sharing::kEqual); equal.error < best.error)
      best = equal;
  }
  const double mean = mean_length(reads);
  for (int places = 1; places < std::min(readers, kMostPlaces + 1); ++places) {
    if (best.error <= kGoodEnough * mean) break;
    const StorageFit fit = best_at_places(reads, places);
    if (is_far_better(fit, best, reads.size())) best = fit;
  }
  if (is_far_better(best, alone, reads.size())) return best;
  alone.most_ns_per_byte = most_unseen(reads, alone, most);
  return alone;
}

}  // namespace

StorageFit fit_storage(std::span<const StorageRead> reads, std::optional<double> most_ns_per_byte) {
  if (reads.empty()) return {};
  reads = reads.first(std::min(reads.size(), kMostFitted));
  const StorageFit fit = fit_all(reads, most_ns_per_byte);
  // If the page cache filled up during the recording, the second half shows the storage.
  const auto first = reads.first(reads.size() / 2);
  const auto second = reads.subspan(reads.size() / 2);
  constexpr double kChanged = 1.5;
  if (first.size() < 4 || fit.error <= kGoodEnough * mean_length(reads)) return fit;
  const double change = median_length(first) / std::max(1.0, median_length(second));
  if (change <= kChanged && change >= 1 / kChanged) return fit;
  const StorageFit later = fit_all(second, most_ns_per_byte);
  // Only the first reads may show sharing, because readers queue up while the first batches are
  // made. Their fit is kept if it explains the later reads as well.
  StorageFit same = fit;
  same.error = error_of(second, fit, turn_ends(second, fit));
  const bool shows_more = fit.sharing != Sharing::kNone && later.sharing == Sharing::kNone;
  return shows_more && !is_far_better(later, same, second.size()) ? fit : later;
}

StorageFit fit_places(std::span<const StorageRead> reads, int places, double own,
                      double ns_per_byte) {
  StorageFit fit;
  fit.sharing = Sharing::kPlaces;
  fit.places = places;
  fit.own = own;
  fit.ns_per_byte = ns_per_byte;
  fit.error = error_of(reads, fit, turn_ends(reads, fit));
  return fit;
}

}  // namespace headway::analyzer
