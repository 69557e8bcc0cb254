// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/replay/program.h"
#include "analyzer/replay/scenario.h"
#include "analyzer/replay/steps.h"

namespace headway::analyzer {

/// A training thread that waits long computes its step with cold caches: others used them meanwhile. A change that takes waits
/// away makes what is computed faster, too. Of programs in PyTorch that train on processors, where it was measured
/// (docs/design/0085-cold-caches.md); elsewhere nothing changes.
class ColdCaches {
 public:
  /// How much of what was measured counts: none on a machine whose caches nobody else uses.
  static constexpr double kLikely = 0.75;
  static constexpr double kMost = 1;

  ColdCaches() = default;
  ColdCaches(const Program& program, const std::vector<Part>& parts, const Analysis& analysis,
             const MarkedSteps& steps);

  /// Whether waits change anything here.
  bool known() const { return !computing_.empty(); }
  /// How much longer a step of `length` ns under `scenario` takes than what was computed in the recorded one, of `recorded` ns;
  /// negative: shorter. Both without what a resource needs (Scenario::at_least).
  double change(const Scenario& scenario, double length, double recorded, double counts) const;

 private:
  /// What the training thread computes in a step, ns.
  double computed(const Scenario& scenario) const;
  /// Times as long as with warm caches, after so long a wait in each step.
  double slower(double waits, double computes, double counts) const;

  /// The training thread's own time in the steps, but for reads.
  struct Own {
    ConstraintId constraint;
    PartId part;
    double ns = 0;
  };
  std::vector<Own> computing_;  ///< by constraint
  double recorded_ = 0;         ///< ns of all of it in a step
  double steps_ = 0;
  double batches_ = 1;  ///< of a step: each is waited for
};

}  // namespace headway::analyzer
