// SPDX-License-Identifier: MIT
#include "cli/tune/grid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <numeric>

#include "cli/tune/cholesky.h"

namespace headway::tune {
namespace {

/// Correlation between the effects of two neighbouring numbers in the sorted list of values.
constexpr double kNeighbours = 0.5;
/// Prior standard deviation of the common level: wide enough for any level.
constexpr double kLevel = 1.0;
/// Standard deviation between runs of one setting, whatever the scatter of steps within a run.
constexpr double kRunToRun = 0.01;
/// With more settings than this, only those are considered that differ from the best in at most two
/// arguments.
constexpr double kMostSettings = 4096;
/// Candidates for how much one argument matters, and for the joint effect of all as a share of it.
/// Each pair of them is weighted by the likelihood of the runs. The prior is 20 % per argument,
/// within a factor of two.
constexpr std::array kEach = {0.1, 0.2, 0.4};
constexpr std::array kTogether = {0.15, 0.35, 0.7};
constexpr double kUsual = 0.2;
constexpr double kUsualSpread = 0.8;
constexpr double kTwoSided95 = 1.96;
/// A bound is ignored for a setting that is expected to lie above it by this many standard
/// deviations.
constexpr double kBoundApplies = 0.5;

std::size_t changes(const std::vector<std::size_t>& from, const std::vector<std::size_t>& to) {
  std::size_t count = 0;
  for (std::size_t k = 0; k < from.size(); ++k) count += from[k] != to[k];
  return count;
}

/// Combines the predictions of one run for several changes; each applies to what the others leave.
Forecast together(const std::vector<Hint>& hints) {
  if (hints.size() == 1) return hints.front().forecast;
  double sum = 0;
  double variance = 0;
  Forecast all;
  all.applies = true;
  for (const Hint& hint : hints) {
    sum += hint.log_change;
    variance += hint.sd * hint.sd;
    all.fix += (all.fix.empty() ? "" : " + ") + hint.forecast.fix;
  }
  const double half = kTwoSided95 * std::sqrt(variance);
  all.gain = 1 - std::exp(sum);
  all.interval = {1 - std::exp(sum + half), 1 - std::exp(sum - half)};
  return all;
}

double normal_density(double z) {
  return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
}
double normal_below(double z) {
  return std::erfc(-z / std::numbers::sqrt2) / 2;
}

/// Expected improvement of a normal value; a negative one counts as 0, because it is not kept.
double expected_improvement(double mean, double sd) {
  if (sd <= 0) return std::max(0.0, mean);
  return mean * normal_below(mean / sd) + sd * normal_density(mean / sd);
}

bool is_number(const std::string& text) {
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0';
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

/// The effects of values, estimated from runs and predictions.
class Grid::Fit {
 public:
  Fit(const Grid& grid, const Scale& scale, const std::vector<Predicted>& predicted)
      : grid_(grid), scale_(scale), factor_(matrix(predicted)) {
    std::vector<double> y;
    for (const auto& [point, seen] : grid.runs_) y.push_back(seen.log_cost);
    level_ = std::accumulate(y.begin(), y.end(), 0.0) / static_cast<double>(y.size());
    for (const Predicted& one : predicted) y.push_back(one.seen.log_cost);
    for (double& one : y) one -= level_;
    solved_ = factor_.forward(std::move(y));
  }

  Seen of(const Point& point) const {
    std::vector<double> k;
    for (const Point& one : points_) k.push_back(grid_.covariance(one, point, scale_));
    const std::vector<double> v = factor_.forward(std::move(k));
    const double variance = grid_.covariance(point, point, scale_) - dot(v, v);
    return {level_ + dot(v, solved_), std::sqrt(std::max(0.0, variance))};
  }
  double log_likelihood() const { return -dot(solved_, solved_) / 2 - factor_.log_diagonal(); }

 private:
  Cholesky matrix(const std::vector<Predicted>& predicted) {
    std::vector<double> sd;
    for (const auto& [point, seen] : grid_.runs_) {
      points_.push_back(point);
      sd.push_back(seen.sd);
    }
    for (const Predicted& one : predicted) {
      points_.push_back(one.point);
      sd.push_back(one.seen.sd);
    }
    std::vector<std::vector<double>> result(points_.size(), std::vector<double>(points_.size()));
    for (std::size_t i = 0; i < points_.size(); ++i)
      for (std::size_t j = 0; j <= i; ++j)
        result[i][j] =
            grid_.covariance(points_[i], points_[j], scale_) + (i == j ? sd[i] * sd[i] : 0);
    return Cholesky(std::move(result));
  }

  const Grid& grid_;
  Scale scale_;
  std::vector<Point> points_;
  Cholesky factor_;
  double level_ = 0;
  std::vector<double> solved_;
};

/// One scale hypothesis with its weight.
struct Grid::Weighted {
  double weight = 0;
  Fit fit;
};

Grid::Grid(const TrainerSwitches& knobs) : knobs_(knobs) {
  for (const TrainerSwitch& knob : knobs.all) {
    std::vector<std::string> values = {knob.value};
    values.insert(values.end(), knob.values.begin(), knob.values.end());
    std::vector<std::size_t>& ranks = rank_.emplace_back();
    if (!std::ranges::all_of(values, is_number)) continue;
    for (const std::string& one : values)
      ranks.push_back(
          static_cast<std::size_t>(std::ranges::count_if(values, [&](const auto& other) {
            return std::strtod(other.c_str(), nullptr) < std::strtod(one.c_str(), nullptr);
          })));
  }
}

Grid::Point Grid::at(const Change& setting) const {
  Point point(knobs_.all.size(), 0);
  for (const auto& [name, value] : setting) {
    for (std::size_t k = 0; k < knobs_.all.size(); ++k) {
      const TrainerSwitch& knob = knobs_.all[k];
      const auto found = std::ranges::find(knob.values, value);
      if (knob.name == name && found != knob.values.end())
        point[k] = 1 + static_cast<std::size_t>(found - knob.values.begin());
    }
  }
  return point;
}

Change Grid::change_of(const Point& point) const {
  Change change;
  for (std::size_t k = 0; k < point.size(); ++k)
    if (point[k] > 0) change.emplace_back(knobs_.all[k].name, knobs_.all[k].values[point[k] - 1]);
  return change;
}

double Grid::covariance(const Point& a, const Point& b, const Scale& scale) const {
  double sum = 0;
  double product = 1;
  for (std::size_t k = 0; k < a.size(); ++k) {
    double same = a[k] == b[k] ? 1 : 0;
    if (!rank_[k].empty()) {
      const auto x = static_cast<double>(rank_[k][a[k]]);
      const auto y = static_cast<double>(rank_[k][b[k]]);
      same = std::pow(kNeighbours, std::abs(x - y));
    }
    sum += same;
    product *= same;
  }
  return kLevel * kLevel + scale.each * scale.each * sum +
         scale.together * scale.together * product;
}

void Grid::add(const Change& setting, double cost_s, double half_width,
               const Forecasts* forecasts) {
  const Point point = at(setting);
  const double log_cost = std::log(cost_s);
  for (const Predicted& one : predicted_) {
    if (one.point != point || one.hint.is_bound) continue;
    double& worst = off_[one.hint.forecast.fix];
    worst = std::max(worst, std::abs(one.seen.log_cost - log_cost));
  }
  runs_[point] = {log_cost, std::hypot(kRunToRun, half_width / kTwoSided95)};
  if (!forecasts) return;
  for (Hint& hint : hints_of(knobs_, point, *forecasts)) {
    Point there = point;
    there[hint.knob] = hint.value;
    const Seen seen{log_cost + hint.log_change, hint.sd};
    predicted_.push_back({std::move(there), seen, std::move(hint)});
  }
}

void Grid::failed(const Change& setting) {
  failed_.push_back(at(setting));
}

std::vector<Grid::Predicted> Grid::usable() const {
  std::vector<Predicted> result;
  std::vector<Predicted> bounds;
  for (Predicted one : predicted_) {
    if (runs_.contains(one.point)) continue;
    const auto off = off_.find(one.hint.forecast.fix);
    if (off != off_.end()) one.seen.sd = std::hypot(one.seen.sd, off->second);
    (one.hint.is_bound ? bounds : result).push_back(std::move(one));
  }
  if (bounds.empty()) return result;
  // Drops the bounds of settings that are expected to cost more anyway.
  const std::vector<Weighted> without = fits(result);
  for (Predicted& one : bounds) {
    const Seen seen = expected(without, one.point);
    if (seen.log_cost - one.seen.log_cost < kBoundApplies * seen.sd)
      result.push_back(std::move(one));
  }
  return result;
}

std::vector<Grid::Weighted> Grid::fits(const std::vector<Predicted>& predicted) const {
  std::vector<Weighted> all;
  double most = -HUGE_VAL;
  for (const double each : kEach) {
    for (const double share : kTogether) {
      const Scale scale{each, each * share};
      const double unusual = std::log(each / kUsual) / kUsualSpread;
      // Only runs count here: predictions follow from fixes, not from how much arguments matter.
      const double likely = Fit(*this, scale, {}).log_likelihood() - unusual * unusual / 2;
      most = std::max(most, likely);
      all.push_back({likely, Fit(*this, scale, predicted)});
    }
  }
  double sum = 0;
  for (Weighted& one : all) sum += one.weight = std::exp(one.weight - most);
  for (Weighted& one : all) one.weight /= sum;
  return all;
}

Grid::Seen Grid::expected(const std::vector<Weighted>& fits, const Point& point) const {
  double mean = 0;
  double square = 0;
  for (const Weighted& one : fits) {
    const Seen seen = one.fit.of(point);
    mean += one.weight * seen.log_cost;
    square += one.weight * (seen.sd * seen.sd + seen.log_cost * seen.log_cost);
  }
  return {mean, std::sqrt(std::max(0.0, square - mean * mean))};
}

Grid::Point Grid::best() const {
  return std::ranges::min_element(runs_, {}, [](const auto& run) { return run.second.log_cost; })
      ->first;
}

std::vector<Grid::Point> Grid::candidates() const {
  double count = 1;
  for (const TrainerSwitch& knob : knobs_.all) count *= static_cast<double>(1 + knob.values.size());
  const bool all = count <= kMostSettings;
  const Point centre = all ? Point(knobs_.all.size(), 0) : best();
  std::vector<Point> points = {centre};
  const std::size_t most = all ? knobs_.all.size() : 2;
  for (std::size_t k = 0; k < knobs_.all.size(); ++k) {
    const std::size_t before = points.size();
    for (std::size_t i = 0; i < before; ++i) {
      std::size_t changed = 0;
      for (std::size_t j = 0; j < k; ++j) changed += points[i][j] != centre[j];
      if (changed >= most) continue;
      for (std::size_t value = 0; value <= knobs_.all[k].values.size(); ++value) {
        if (value == centre[k]) continue;
        Point point = points[i];
        point[k] = value;
        points.push_back(std::move(point));
      }
    }
  }
  std::erase_if(points, [&](const Point& point) {
    return runs_.contains(point) || std::ranges::find(failed_, point) != failed_.end();
  });
  return points;
}

/// Each failure with a value that never ran divides the probability by four.
double Grid::likely_to_run(const Point& point) const {
  double likely = 1;
  for (std::size_t k = 0; k < point.size(); ++k) {
    const auto has = [&](const Point& other) { return other[k] == point[k]; };
    const bool ran = std::ranges::any_of(runs_, [&](const auto& run) { return has(run.first); });
    const auto failures = static_cast<double>(std::ranges::count_if(failed_, has));
    if (!ran) likely *= std::pow(0.25, failures);
  }
  return likely;
}

Choice Grid::judge(const std::vector<Weighted>& fits, const Point& point) const {
  const double best_log = runs_.at(best()).log_cost;
  const Seen all = expected(fits, point);
  const double better = best_log - all.log_cost;
  Choice choice;
  choice.setting = change_of(point);
  choice.gain = 1 - std::exp(-better);
  choice.interval = {1 - std::exp(-better + kTwoSided95 * all.sd),
                     1 - std::exp(-better - kTwoSided95 * all.sd)};
  for (const Weighted& one : fits) {
    const Seen seen = one.fit.of(point);
    choice.improvement += one.weight * expected_improvement(best_log - seen.log_cost, seen.sd);
  }
  choice.improvement *= likely_to_run(point);
  return choice;
}

/// The latest prediction for the value, whatever the other arguments were; null: none.
const Hint* Grid::hint_for(std::size_t knob, std::size_t value,
                           const std::vector<Predicted>& predicted) const {
  const auto speaks = [&](const Predicted& one) {
    return one.hint.knob == knob && one.hint.value == value && !one.hint.is_bound;
  };
  const auto latest = std::find_if(predicted.rbegin(), predicted.rend(), speaks);
  return latest == predicted.rend() ? nullptr : &latest->hint;
}

/// The number of changed values without a prediction.
std::size_t Grid::unknown_changes(const Point& from, const Point& point,
                                  const std::vector<Predicted>& predicted) const {
  std::size_t count = 0;
  for (std::size_t k = 0; k < point.size(); ++k)
    count += point[k] != from[k] && !hint_for(k, point[k], predicted);
  return count;
}

void Grid::tell_why(const Point& from, const std::vector<Predicted>& predicted,
                    Choice& choice) const {
  const Point point = at(choice.setting);
  choice.is_explored = unknown_changes(from, point, predicted) > 0;
  std::vector<Hint> hints;
  for (std::size_t k = 0; k < point.size(); ++k) {
    if (point[k] == from[k]) continue;
    const Hint* hint = hint_for(k, point[k], predicted);
    if (hint && std::ranges::find(choice.fixes, hint->forecast.fix) == choice.fixes.end())
      choice.fixes.push_back(hint->forecast.fix);
    if (hint && hint->by == from) hints.push_back(*hint);
  }
  if (hints.size() == changes(from, point)) choice.forecast = together(hints);
}

std::optional<Choice> Grid::next(const Change& from_setting, double least) const {
  const Point from = at(from_setting);
  const std::vector<Predicted> predicted = usable();
  const std::vector<Weighted> fit = fits(predicted);
  std::optional<Choice> found;
  for (const Point& point : candidates()) {
    const std::size_t unknown = unknown_changes(from, point, predicted);
    if (unknown > 1 || (unknown == 1 && changes(from, point) > 1)) continue;
    Choice choice = judge(fit, point);
    // Of equal ones, the first counts: it differs from the start in fewer arguments.
    if (!found || choice.improvement > found->improvement + 1e-12) found = std::move(choice);
  }
  if (!found) return std::nullopt;
  tell_why(from, predicted, *found);
  if (found->improvement >= least) return found;
  return std::nullopt;
}

std::vector<Choice> Grid::untried() const {
  const std::vector<Weighted> fit = fits(usable());
  const Point from = best();
  std::vector<Choice> all;
  for (std::size_t k = 0; k < knobs_.all.size(); ++k) {
    for (std::size_t value = 0; value <= knobs_.all[k].values.size(); ++value) {
      const auto has = [&](const Point& point) { return point[k] == value; };
      if (std::ranges::any_of(runs_, [&](const auto& run) { return has(run.first); }) ||
          std::ranges::any_of(failed_, has))
        continue;
      Point point = from;
      point[k] = value;
      Choice choice = judge(fit, point);
      choice.setting = {
          {knobs_.all[k].name, value == 0 ? knobs_.all[k].value : knobs_.all[k].values[value - 1]}};
      for (const Predicted& one : predicted_)
        if (one.hint.knob == k && one.hint.value == value) choice.forecast = one.hint.forecast;
      all.push_back(std::move(choice));
    }
  }
  return all;
}

}  // namespace headway::tune
