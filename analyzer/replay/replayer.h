// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/replay/program.h"
#include "analyzer/replay/scenario.h"

namespace headway::analyzer {

/// Replays a program: one pass over its slots, each as early as its constraints allow. Keeps its
/// memory between calls; use one per thread.
class Replayer {
 public:
  explicit Replayer(const Program& program) : program_(program) {}

  /// When each slot comes under `scenario` (`at_least` does not count here). Valid until the next
  /// call. About 6 ns a constraint.
  const std::vector<std::int64_t>& run(const Scenario& scenario);

  /// A constraint on the chain that decided when a slot came, and its part of the time.
  struct Link {
    Slot to;
    Constraint constraint;
    DurationNs time;
  };
  /// The chain that decided when `last` came in the latest run(), back to the time of `first`; latest
  /// first. That run must have been of `scenario`.
  std::vector<Link> chain(const Scenario& scenario, Slot first, Slot last) const;

 private:
  template <bool kFactors, bool kPools>
  void pass(const Scenario& scenario);

  const Program& program_;
  std::vector<std::int64_t> time_;
};

/// The length of a constraint under a scenario; nothing when it is removed.
std::optional<DurationNs> lag_under(const Scenario& scenario, const Constraint& constraint);

}  // namespace headway::analyzer
