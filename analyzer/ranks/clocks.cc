// SPDX-License-Identifier: MIT
#include "analyzer/ranks/clocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "common/format.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

constexpr std::size_t kFewestPoints = 8;
/// Share of collectives that may break causality after alignment: records have rare wrong stamps.
constexpr double kViolationsAllowed = 0.02;

/// One collective seen from two clocks, in ns since the reference trace's start.
struct Point {
  double at = 0;   ///< end on the far clock
  double gap = 0;  ///< end on the far clock minus end on the near one
  double low = 0;  ///< the gap of the clocks cannot be less: the far side had not begun
  double high = 0;
};

double value_at(const HostClock& clock, double t) {
  return clock.offset_ns + clock.drift * (t - static_cast<double>(clock.origin_ns));
}

/// Fits the line and checks it. `points` by time.
void fit(const std::vector<Point>& points, HostClock& clock) {
  clock.points = static_cast<std::int64_t>(points.size());
  if (points.size() < kFewestPoints) {
    clock.why_not = fmt::format(
        "only {} synchronising collectives in common with ranks of known clock; {} are needed",
        points.size(), kFewestPoints);
    return;
  }
  clock.origin_ns = static_cast<std::int64_t>(points.front().at);
  std::vector<double> slopes;
  std::size_t half = points.size() / 2;
  for (std::size_t i = 0; i + half < points.size(); ++i) {
    double span = points[i + half].at - points[i].at;
    if (span > 0) slopes.push_back((points[i + half].gap - points[i].gap) / span);
  }
  auto level = [&](double drift) {
    std::vector<double> levels;
    for (const Point& p : points) levels.push_back(p.gap - drift * (p.at - points.front().at));
    return median(levels);
  };
  auto residual = [&] {
    std::vector<double> off;
    for (const Point& p : points) off.push_back(std::abs(p.gap - value_at(clock, p.at)));
    std::sort(off.begin(), off.end());
    return percentile_sorted(off, 0.95);
  };
  clock.offset_ns = level(0);
  double flat = residual();
  double drift = median(slopes);
  clock.drift = drift;
  clock.offset_ns = level(drift);
  double tilted = residual();
  if (tilted > 0.8 * flat) {  // a drift that explains nothing is noise
    clock.drift = 0;
    clock.offset_ns = level(0);
  }
  double least = -INFINITY;
  double most = INFINITY;
  for (const Point& p : points) {
    least = std::max(least, p.low - value_at(clock, p.at));
    most = std::min(most, p.high - value_at(clock, p.at));
  }
  if (least <= most) clock.offset_ns += std::clamp(0.0, least, most);
  clock.residual = {static_cast<std::int64_t>(std::ceil(residual()))};
  double slack = 3 * static_cast<double>(clock.residual.ns);
  auto broken = std::count_if(points.begin(), points.end(), [&](const Point& p) {
    double v = value_at(clock, p.at);
    return v < p.low - slack || v > p.high + slack;
  });
  if (static_cast<double>(broken) > kViolationsAllowed * static_cast<double>(points.size())) {
    clock.why_not = fmt::format("{} of {} collectives would end on one rank before another begins",
                                broken, points.size());
    return;
  }
  // A residual as long as the collectives themselves says that the ends do not belong together.
  std::vector<double> widths;
  for (const Point& p : points) widths.push_back((p.high - p.low) / 2);  // both durations, halved
  if (static_cast<double>(clock.residual.ns) > median(widths)) {
    clock.why_not = fmt::format("collective ends scatter by {}, more than their duration",
                                format_duration(clock.residual));
    return;
  }
  clock.aligned = clock.measured = true;
}

class Aligner {
 public:
  Aligner(std::span<const RankSummary> ranks, const Matching& matching)
      : ranks_(ranks), matching_(matching) {
    if (!ranks.empty()) clocks_.reference_utc_ns = ranks.front().start_utc_ns;
  }

  Clocks run() {
    group_by_host();
    clocks_.hosts.front().aligned = true;
    // A host may be reached only through another one (pipeline stages): nearest first, in rounds.
    for (bool progress = true; progress;) {
      progress = false;
      for (std::uint32_t h = 1; h < clocks_.hosts.size(); ++h) {
        if (clocks_.hosts[h].aligned) continue;
        HostClock tried = clocks_.hosts[h];
        tried.why_not.clear();
        fit(points_to(h), tried);
        progress = progress || tried.aligned;
        clocks_.hosts[h] = std::move(tried);
      }
    }
    return std::move(clocks_);
  }

 private:
  double own_time(std::uint32_t rank, TimeNs t) const {
    return static_cast<double>(ranks_[rank].start_utc_ns - clocks_.reference_utc_ns + t.ns);
  }
  const RankCollective& row(Member m) const { return ranks_[m.rank].collectives.rows[m.row]; }

  /// Ranks of equal name share a clock; "" when nothing says so.
  static std::string clock_name(const RankSummary& rank) {
    if (!rank.host.empty() && rank.start_utc_ns != 0) return "host " + rank.host;
    return rank.process >= 0 ? "file " + rank.file : "";
  }

  void group_by_host() {
    bool trust_names = true;
    if (same_host_disagrees()) {
      clocks_.doubt = "Ranks on the same host have different clocks; each is aligned separately.";
      trust_names = false;
    }
    std::map<std::string, std::uint32_t> known;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      std::string key = trust_names ? clock_name(ranks_[r]) : "";
      auto found = known.find(key);
      if (key.empty() || found == known.end()) {
        HostClock clock;
        clock.host = ranks_[r].host;
        if (!key.empty()) known[key] = static_cast<std::uint32_t>(clocks_.hosts.size());
        clocks_.host_of.push_back(static_cast<std::uint32_t>(clocks_.hosts.size()));
        clocks_.hosts.push_back(std::move(clock));
      } else {
        clocks_.host_of.push_back(found->second);
      }
      clocks_.hosts[clocks_.host_of.back()].ranks.push_back(r);
    }
  }

  /// True when ranks of one host do not share a clock: a member ends before another has begun.
  bool same_host_disagrees() const {
    std::int64_t checked = 0;
    std::int64_t broken = 0;
    for (const MatchedCollective& c : matching_.all) {
      if (!c.tells_waits || c.one_sided) continue;
      std::map<std::string, std::pair<double, double>> last_begin_first_end;
      std::map<std::string, int> members;
      for (Member m : matching_.of(c)) {
        const RankSummary& rank = ranks_[m.rank];
        std::string name = clock_name(rank);
        // Other threads carry out a training thread's collective: that thread may come when it is over.
        if (name.empty() || row(m).on_host) continue;
        double begin = own_time(m.rank, row(m).time.begin);
        double end = own_time(m.rank, row(m).time.end);
        auto [slot, is_new] = last_begin_first_end.try_emplace(name, begin, end);
        slot->second = {std::max(slot->second.first, begin), std::min(slot->second.second, end)};
        ++members[name];
      }
      for (const auto& [host, times] : last_begin_first_end) {
        if (members[host] < 2) continue;
        ++checked;
        broken += times.second < times.first;
      }
    }
    return static_cast<double>(broken) > kViolationsAllowed * static_cast<double>(checked);
  }

  /// Collectives that `host` shares with hosts whose clock is known.
  std::vector<Point> points_to(std::uint32_t host) const {
    std::vector<Point> points;
    for (const MatchedCollective& c : matching_.all) {
      if (!c.tells_waits || c.one_sided) continue;
      struct Side {
        double begin = -INFINITY;
        double end = INFINITY;
        bool any = false;
        void add(double b, double e) {
          begin = std::max(begin, b);
          end = std::min(end, e);
          any = true;
        }
      } far, near;
      for (Member m : matching_.of(c)) {
        std::uint32_t h = clocks_.host_of[m.rank];
        if (h != host && !clocks_.hosts[h].aligned) continue;
        double begin = own_time(m.rank, row(m).time.begin);
        double end = own_time(m.rank, row(m).time.end);
        if (h == host) {
          far.add(begin, end);
        } else {
          double offset = value_at(clocks_.hosts[h], end);
          near.add(begin - offset, end - offset);
        }
      }
      if (far.any && near.any)
        points.push_back({far.end, far.end - near.end, far.begin - near.end, far.end - near.begin});
    }
    std::sort(points.begin(), points.end(),
              [](const Point& a, const Point& b) { return a.at < b.at; });
    return points;
  }

  std::span<const RankSummary> ranks_;
  const Matching& matching_;
  Clocks clocks_;
};

}  // namespace

bool Clocks::all_aligned() const {
  return std::all_of(hosts.begin(), hosts.end(), [](const HostClock& h) { return h.aligned; });
}

DurationNs Clocks::worst_residual() const {
  DurationNs worst;
  for (const HostClock& host : hosts) worst = std::max(worst, host.residual);
  return worst;
}

TimeNs Clocks::to_reference(std::span<const RankSummary> ranks, std::uint32_t rank,
                            TimeNs t) const {
  std::int64_t own = ranks[rank].start_utc_ns - reference_utc_ns + t.ns;
  const HostClock& clock = hosts[host_of[rank]];
  return {own - std::llround(value_at(clock, static_cast<double>(own)))};
}

Clocks align_clocks(std::span<const RankSummary> ranks, const Matching& matching) {
  if (ranks.empty()) return {};
  return Aligner(ranks, matching).run();
}

}  // namespace headway::analyzer
