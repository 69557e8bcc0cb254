// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/whatif/editor.h"

namespace headway::analyzer {

/// Compares steps part by part. Workers make more batches during a longer step, so their work is
/// compared per piece.
class StepParts {
 public:
  struct Taken {
    double time = 0;  ///< ns of a step
    double pieces = 0;
  };
  /// By part of the predictor: of the program's threads and devices, then of workers.
  using Times = std::vector<Taken>;

  explicit StepParts(const Predictor& predictor);

  /// Medians over these steps.
  Times usual(const std::vector<const MarkedStep*>& steps) const;

  /// Limits each part of a step to its time in `often`.
  void limit_to(const MarkedStep& step, const Times& often, Editor& editor) const;

  /// Scales each part of this step by `then` / `now`, to less or more; parts between steps stay.
  void scale(const MarkedStep& step, const Times& now, const Times& then, Editor& editor) const;

 private:
  template <class Visit>
  void for_each_in(const MarkedStep& step, Visit visit) const;
  Times times_of(const MarkedStep& step) const;

  const Predictor& predictor_;
  std::vector<bool> of_workers_;  ///< by slot
};

}  // namespace headway::analyzer
