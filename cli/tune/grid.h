// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/tune/hints.h"
#include "cli/tune/trainer_switches.h"

namespace headway::tune {

/// What to run next.
struct Choice {
  Change setting;                  ///< all values that differ from the start
  double gain = 0;                 ///< expected gain, as a share of the best measured step cost
  Bounds interval;                 ///< 95 %
  double improvement = 0;          ///< expected over the best setting; a worse result is 0
  std::vector<std::string> fixes;  ///< the fixes whose predictions cover the changed values
  bool is_explored = false;        ///< it also changes a value without a prediction
  /// The combined prediction from the run of the setting that is changed; none if a change has no
  /// prediction. In the result of untried(): the last prediction about the value.
  std::optional<Forecast> forecast;
};

/// The settings of a few arguments with a few values each: which were run, what they cost, and
/// which one to run next.
///
/// The logarithm of the step cost is modelled as a sum of one effect for each value of each
/// argument plus a smaller effect of all together (a Gaussian process with that covariance). Runs
/// are observations with their own error; a prediction is an observation of a setting that was not
/// run, with a larger error. So predictions decide first, runs correct them, and the effects of
/// values without a prediction are learnt from runs. Deterministic.
class Grid {
 public:
  /// `knobs` must outlive the object.
  explicit Grid(const TrainerSwitches& knobs);

  /// Adds a run of the setting. `half_width`: half the 95 % interval of its cost, as a share.
  void add(const Change& setting, double cost_s, double half_width, const Forecasts* forecasts);
  /// Adds a setting with which the program failed.
  void failed(const Change& setting);

  /// The setting with the largest expected improvement over the best one; none if that is below
  /// `least` or all were run. It changes only values with predictions, or exactly one value
  /// without: so a measured gain can be compared with a predicted one and has one cause. Changes
  /// are counted from `from`, a setting that was run.
  std::optional<Choice> next(const Change& from, double least) const;
  /// The expected result of each value that no run had, for the report of what was not tried.
  std::vector<Choice> untried() const;
  bool was_run(const Change& setting) const { return runs_.contains(at(setting)); }

 private:
  using Point = std::vector<std::size_t>;
  struct Seen {
    double log_cost = 0;
    double sd = 0;
  };
  /// The prediction for a point, made by a run at another point.
  struct Predicted {
    Point point;
    Seen seen;
    Hint hint;
  };
  /// How much arguments matter, each alone and together: standard deviations of the log cost.
  struct Scale {
    double each = 0.2;
    double together = 0.05;
  };
  class Fit;

  Point at(const Change& setting) const;
  Change change_of(const Point& point) const;
  double covariance(const Point& a, const Point& b, const Scale& scale) const;
  struct Weighted;
  std::vector<Weighted> fits(const std::vector<Predicted>& predicted) const;
  Seen expected(const std::vector<Weighted>& fits, const Point& point) const;
  /// Predictions for points that were not run. A fix whose predictions were off gets a larger
  /// error.
  std::vector<Predicted> usable() const;
  std::vector<Point> candidates() const;
  double likely_to_run(const Point& point) const;
  Choice judge(const std::vector<Weighted>& fits, const Point& point) const;
  const Hint* hint_for(std::size_t knob, std::size_t value,
                       const std::vector<Predicted>& predicted) const;
  std::size_t unknown_changes(const Point& from, const Point& point,
                              const std::vector<Predicted>& predicted) const;
  void tell_why(const Point& from, const std::vector<Predicted>& predicted, Choice& choice) const;
  Point best() const;

  const TrainerSwitches& knobs_;
  std::vector<std::vector<std::size_t>> rank_;  ///< by knob and value; empty: not only numbers
  std::map<Point, Seen> runs_;
  std::vector<Point> failed_;
  std::vector<Predicted> predicted_;
  std::map<std::string, double> off_;  ///< by fix: the largest error of its predictions so far
};

}  // namespace headway::tune
