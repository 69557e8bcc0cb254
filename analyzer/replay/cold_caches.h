// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/replay/program.h"
#include "analyzer/replay/scenario.h"
#include "analyzer/replay/steps.h"

namespace headway::analyzer {

/// A training thread that waits long computes its step with cold caches, because others used them meanwhile. So a change that
/// removes waits also makes computing faster. Applies to programs in PyTorch that train on processors, where it was measured
/// (docs/design/0085-cold-caches.md); elsewhere it changes nothing.
class ColdCaches {
 public:
  /// Weight of the measured effect; 0 would be a machine whose caches nothing else uses.
  static constexpr double kLikely = 0.75;
  static constexpr double kMost = 1;

  ColdCaches() = default;
  ColdCaches(const Program& program, const std::vector<Part>& parts, const Analysis& analysis,
             const MarkedSteps& steps);

  /// True when the effect applies to this program.
  bool known() const { return !computing_.empty(); }
  /// By how many ns a step of `length` ns under `scenario` gets longer, as its caches are colder than in the recorded step of
  /// `recorded` ns; negative: shorter. Both lengths are without what a resource needs (Scenario::at_least). `counts`: the
  /// weight of the effect, 0 to kMost.
  double change(const Scenario& scenario, double length, double recorded, double counts) const;

 private:
  /// How long the training thread computes in a step, ns.
  double computed(const Scenario& scenario) const;
  /// By what factor computing takes longer than with warm caches after `waits` ns of waiting in each step.
  double slower(double waits, double computes, double counts) const;

  /// The training thread's own time in the steps, except reads.
  struct Own {
    ConstraintId constraint;
    PartId part;
    double ns = 0;
  };
  std::vector<Own> computing_;  ///< by constraint
  double recorded_ = 0;         ///< ns of all of it in a step
  double steps_ = 0;
  double batches_ = 1;  ///< per step; each is waited for
};

}  // namespace headway::analyzer
