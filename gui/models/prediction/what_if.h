// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/replay/predictor.h"
#include "analyzer/whatif/fix.h"
#include "gui/models/opening/session.h"
#include "gui/models/prediction/predicted_timeline.h"

namespace headway::gui {

/// The groups of fixes in the list, in this order.
enum class FixGroup : std::uint8_t {
  kSuggested,  ///< a finding of the report names it
  kOther,      ///< also applies to this run
  kCeiling,    ///< not a fix: the upper bound for all fixes of its kind
  kNoGain,     ///< applies, but gains nothing on its own
  kNotHere,    ///< does not apply; cannot be ticked
};
std::string_view heading_of(FixGroup group);

/// A fix as the list shows it.
struct FixChoice {
  const analyzer::Fix* fix = nullptr;
  FixGroup group = FixGroup::kNotHere;
  std::string gain;  ///< gain of this fix alone: "−46.7 %" of the step; empty: not known
  /// What is changed, or why the fix does not apply; then how to make it in the recorded framework,
  /// and what no recording shows. Empty before the replay.
  std::string text;
};

/// The fixes that the report suggests, with its figures, and its ceilings. Needs no replay.
std::vector<FixChoice> suggested_fixes(const analyzer::Analysis& analysis);

/// The predicted effect of all ticked fixes together.
struct WhatIfAnswer {
  std::string missing;  ///< why there is no answer; the other members are then empty
  std::vector<const analyzer::Fix*> fixes;
  analyzer::Prediction prediction;
  DurationNs recorded;      ///< mean steady step
  DurationNs gained_alone;  ///< the sum of the gains of the single fixes; 0 for one fix
  std::shared_ptr<const PredictedTimeline> timeline;

  /// "Step 196 ms → 23.6 ms (−88.0 %)"
  std::string headline() const;
  /// "95 % interval of the step: 4.51 to 42.7 ms (−97.7 to −78.2 %)"
  std::string interval() const;
  /// "One by one they gain 210 ms, together 172 ms: gains do not add.", or a text that both are
  /// equal; empty for one fix.
  std::string comparison() const;
};

/// A trace with its dependency graph, replayed once with each known fix; predicts the gain of any
/// combination. Takes as long to make as `headway whatif` and keeps the graph, some 40 bytes an
/// event. Immutable; any thread.
class WhatIfStudy {
 public:
  explicit WhatIfStudy(std::shared_ptr<const Session> session);

  /// Why nothing can be predicted; empty when it can.
  const std::string& missing() const { return predictor_.missing(); }
  const analyzer::Predictor& predictor() const { return predictor_; }
  /// By group; suggested fixes in the order of the report, others by gain.
  const std::vector<FixChoice>& choices() const { return choices_; }
  /// The gain of the fixes together, and a typical step with them. Returns an empty answer when
  /// `*cancelled` becomes true.
  WhatIfAnswer ask(std::span<const analyzer::Fix* const> fixes,
                   const std::atomic<bool>* cancelled = nullptr) const;
  WhatIfAnswer ask(std::string_view fix) const;

 private:
  struct Known {
    const analyzer::Fix* fix;
    analyzer::Proposal proposal;
    DurationNs gain;
  };

  std::string text_of(const Known& known) const;
  void list_choices();

  std::shared_ptr<const Session> session_;
  analyzer::Predictor predictor_;
  std::vector<Known> known_;  ///< by gain; fixes that do not apply come last
  std::vector<FixChoice> choices_;
};

}  // namespace headway::gui
