// SPDX-License-Identifier: MIT
#include "analyzer/steps/warm_up.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "common/statistics.h"

namespace headway::analyzer {
namespace {

constexpr std::size_t kLeastLate = 10;

/// The limit up to which a step is not slower than the steps from `from` on, which warm-up does not
/// reach.
double limit_by(const std::vector<double>& durations, std::size_t from) {
  const std::vector<double> late(durations.begin() + static_cast<std::ptrdiff_t>(from),
                                 durations.end());
  return median(late) + std::max(5 * median_absolute_deviation(late), 0.25 * median(late));
}

/// The number of consecutive slow steps at the start; at most half of all steps.
std::size_t slow_in_a_row(const std::vector<double>& durations) {
  const std::size_t half = durations.size() / 2;
  const double limit = limit_by(durations, half);
  std::size_t dropped = 0;
  while (dropped < half && durations[dropped] > limit) ++dropped;
  // A slow step may have waited for what the next one needs (its batch); the device waits in that one.
  return dropped > 0 && dropped < half ? dropped + 1 : dropped;
}

/// The number of steps at the start that contain nearly all slow steps: a page cache fills in the first
/// epochs, or shapes occur for the first time. They are warm-up if most of them are slow, or if it happens
/// less than once in a thousand times that slow stretches at random times all lie that early, or that
/// stretches which go on coming as they did stay away for as long as the rest. The very first step
/// belongs to them: what was cold for it is cold for the next. The number includes it; 0: none but it.
std::size_t slow_now_and_then(const std::vector<double>& durations) {
  constexpr double kChance = 0.001;
  /// Share of all time beyond the limit that may lie later: steps just over the limit do not count.
  constexpr double kNextToNothing = 0.01;
  /// Stretches that tell at what distance they come.
  constexpr std::size_t kPattern = 4;
  const std::size_t late = std::max(durations.size() / 4, kLeastLate);
  if (durations.size() < 2 * late) return 0;
  const double limit = limit_by(durations, durations.size() - late);
  double lost = 0;
  for (const double one : durations) lost += std::max(0.0, one - limit);
  double left = lost;
  std::size_t first = durations.size(), last = 0, reach = 0, slow = 0, stretches = 0;
  for (std::size_t i = 0; i < durations.size() && left > kNextToNothing * lost; ++i) {
    if (durations[i] <= limit) continue;
    left -= durations[i] - limit;
    first = std::min(first, i);
    reach = i + 1;
    ++slow;
    if (i == 0 || durations[i - 1] <= limit) {
      ++stretches;
      last = i;
    }
  }
  // A burst that begins later was set off by something that may come again, as an epoch does.
  if (reach <= 1 || reach > durations.size() - late || 4 * first > reach) return 0;
  const double share = static_cast<double>(reach) / static_cast<double>(durations.size());
  const bool early = std::pow(share, static_cast<double>(stretches)) < kChance;
  const double distance = static_cast<double>(last - first) /
                          static_cast<double>(std::max<std::size_t>(2, stretches) - 1);
  const auto rest = static_cast<double>(durations.size() - reach);
  const bool over = stretches >= kPattern && std::exp(-rest / distance) < kChance;
  if (!early && !over && 2 * slow <= reach) return 0;
  return std::min(reach + 1, durations.size() - late);
}

/// The number of steps at the start after which all are faster for good, by less than makes a step slow: data that was
/// read is in memory by then, or a clock has risen. 0 for a steady trend or noise.
std::size_t before_a_drop(const std::vector<double>& durations) {
  constexpr std::size_t kMinBefore = 5;
  constexpr double kWorthIt = 0.03;
  /// Least gap between the 10th percentile of the steps before the drop and the 90th after it, as a share of the drop.
  constexpr double kApart = 0.25;
  const std::size_t late = least_late(durations.size());
  if (durations.size() < kMinBefore + late) return 0;
  // Where the two parts differ most; a rare long step must not decide it.
  std::vector<double> sorted = durations;
  std::sort(sorted.begin(), sorted.end());
  const double most = sorted[sorted.size() * 9 / 10];
  double sum = 0, sum_before = 0, best = 0;
  for (const double one : durations) sum += std::min(one, most);
  std::size_t at = 0;
  for (std::size_t i = 1; i + late <= durations.size(); ++i) {
    sum_before += std::min(durations[i - 1], most);
    const auto before = static_cast<double>(i);
    const auto after = static_cast<double>(durations.size() - i);
    const double drop = sum_before / before - (sum - sum_before) / after;
    const double differ = drop * std::abs(drop) * before * after;
    if (i < kMinBefore || differ <= best) continue;
    best = differ;
    at = i;
  }
  if (at == 0) return 0;
  const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(at);
  std::vector<double> before(durations.begin(), middle), after(middle, durations.end());
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  const double drop = before[before.size() / 2] - after[after.size() / 2];
  const double apart = before[before.size() / 10] - after[(after.size() * 9 - 1) / 10];
  if (drop < kWorthIt * after[after.size() / 2] || apart < kApart * drop) return 0;
  // Most of the later steps decide that there is a drop; it may come a little after the first of them.
  const double half_way = after[after.size() / 2] + drop / 2;
  while (at + kLeastLate < durations.size() && durations[at] > half_way) ++at;
  // As in slow_in_a_row().
  return std::min(at + 1, durations.size() - 1);
}

/// The time in which any of the reads runs, in ns per read: workers that fill their queue at the start share the
/// storage's rate, so that each read takes longer, but all together do not.
double time_per_read(std::span<const Interval> reads) {
  std::vector<Interval> by_begin(reads.begin(), reads.end());
  std::ranges::sort(by_begin, {}, &Interval::begin);
  DurationNs busy;
  TimeNs until = TimeNs::min();
  for (const Interval& one : by_begin) {
    if (one.end <= until) continue;
    busy += one.end - std::max(one.begin, until);
    until = one.end;
  }
  return static_cast<double>(busy.ns) / static_cast<double>(reads.size());
}

}  // namespace

std::size_t least_late(std::size_t count) {
  return std::max(count / 5, kLeastLate);
}

std::size_t slow_at_first(const std::vector<double>& durations, double first) {
  std::vector<double> with_first = durations;
  with_first.insert(with_first.begin(), first);
  const std::size_t now_and_then = slow_now_and_then(with_first);
  return std::max({slow_in_a_row(durations), before_a_drop(durations),
                   now_and_then - std::min<std::size_t>(now_and_then, 1)});
}

TimeNs cold_reads_until(const trace::Trace& trace) {
  /// A read from a storage takes at least this many times as long as one from memory.
  constexpr double kColdTakes = 3;
  std::vector<Interval> reads;
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
    const trace::RangeInfo* info = trace.info(trace::RangeId{i});
    if (info && info->kind == trace::RangeKind::kRead)
      reads.push_back(trace.ranges.interval(trace::RangeId{i}));
  }
  std::ranges::sort(reads, {}, &Interval::end);
  std::vector<double> durations;
  for (const Interval& one : reads) durations.push_back(static_cast<double>(one.length().ns));
  const std::size_t cold = before_a_drop(durations);
  if (cold == 0) return TimeNs::min();
  const std::span all(reads);
  const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(cold);
  const bool faster =
      median({durations.begin(), middle}) >= kColdTakes * median({middle, durations.end()}) &&
      time_per_read(all.first(cold)) >= kColdTakes * time_per_read(all.subspan(cold));
  return faster ? reads[cold - 1].end : TimeNs::min();
}

}  // namespace headway::analyzer
