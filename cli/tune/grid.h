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
  Change setting;                  ///< all that differs from the start
  double gain = 0;                 ///< expected, as a share of the best measured step cost
  Bounds interval;                 ///< 95 %
  double improvement = 0;          ///< expected of the best known, where what is worse is not kept
  std::vector<std::string> fixes;  ///< whose predictions speak for values that it changes
  bool is_explored = false;        ///< it also changes a value that nobody has predicted
  /// What the run of the setting that is changed predicts of this one, in all; none where one change has no
  /// prediction. Of untried() the last that is about the value.
  std::optional<Forecast> forecast;
};

/// The settings of a few arguments with a few values each: which were run, what they cost, and which one to run next.
///
/// The logarithm of the step cost is taken as a sum of one effect for each value of each argument, and a smaller one
/// of all together (a Gaussian process with that covariance). Runs are observations with their own error; a prediction is
/// one of a setting that was not run, with a larger error. So predictions decide first, runs correct them, and what nobody
/// has predicted is learnt from runs. Deterministic.
class Grid {
 public:
  /// `knobs` must outlive it.
  explicit Grid(const TrainerSwitches& knobs);

  /// A run of the setting. `half_width`: of the 95 % interval of its cost, as a share.
  void add(const Change& setting, double cost_s, double half_width, const Forecasts* forecasts);
  /// The program failed with it.
  void failed(const Change& setting);

  /// The setting that improves on the best one most, by expectation; nothing where that is less than `least` for all, or
  /// all were run. It changes only what predictions speak for, or one value that none speaks for: so measured gains
  /// can be held against predicted ones, and are those of something.
  /// "Changes" are from `from`, a setting that was run.
  std::optional<Choice> next(const Change& from, double least) const;
  /// How it stands with each value of each argument that no run had, for what was not tried.
  std::vector<Choice> untried() const;
  bool was_run(const Change& setting) const { return runs_.contains(at(setting)); }

 private:
  using Point = std::vector<std::size_t>;
  struct Seen {
    double log_cost = 0;
    double sd = 0;
  };
  /// A prediction of a point, by a run at another.
  struct Predicted {
    Point point;
    Seen seen;
    Hint hint;
  };
  /// How much arguments matter, each and together: standard deviations of logarithms.
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
  /// Of points that were not run; a fix that was off is believed less.
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
  std::vector<std::vector<std::size_t>> rank_;  ///< by knob and value; of numbers only
  std::map<Point, Seen> runs_;
  std::vector<Point> failed_;
  std::vector<Predicted> predicted_;
  std::map<std::string, double> off_;  ///< by fix: the most that a prediction of it was off
};

}  // namespace headway::tune
