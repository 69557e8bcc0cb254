// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/replay/predictor.h"

namespace headway::analyzer {

/// How a gain is found out.
enum class FixKind : std::uint8_t {
  kStructural,  ///< waits or tasks go away; all that remains was recorded
  kModelled,    ///< new durations come from a formula
  kCeiling,     ///< the most that any fix of this kind could gain
};
std::string_view fix_kind_id(FixKind kind);  ///< "structural", "modelled", "ceiling": stable

/// What a fix would change in this run; without a scenario, why it does not apply.
struct Proposal {
  bool applies = false;
  std::string text;  ///< what is changed, with figures; or why it does not apply
  Scenario scenario;
  std::string setting = {};  ///< of headway-train that makes just this change; empty: see Fix
  /// Nothing of the kind can gain more: the durations that it sets were measured elsewhere in the
  /// run.
  bool is_ceiling = false;
  /// Of a ceiling: what it takes away lies in one place of each step, where a profiler shows what it is.
  bool one_place = false;
  /// How far the recording shows that it can be made and serves the training as well, 0 to 1: findings rank by their
  /// gain times this.
  double certainty = 1;
  /// The same change where what its formula cannot know is at the ends of its range: the interval has these gains, too.
  std::vector<Scenario> otherwise = {};
};

/// A known remedy: one file of analyzer/whatif/fixes/, listed in registry.cc.
struct Fix {
  std::string_view id;     ///< "remove-syncs": stable
  std::string_view title;  ///< "Do not wait for the device"
  std::string_view
      rule;  ///< the rule whose finding it answers; several: "comm-exposed, comm-slow-link"
  FixKind kind;
  double model_error;               ///< how far its formula may be off, as a share of the gain
  std::string_view trainer_switch;  ///< of headway-train that realises it; empty: none
  std::string_view change;          ///< what is edited and by which formula, one or two sentences
  std::string_view cannot_know;     ///< what no recording shows of it, one sentence
  Proposal (*propose)(const Predictor& predictor);
  bool changes_training = false;  ///< another result is learnt with it: not for speed alone
};

bool answers(const Fix& fix, std::string_view rule);

/// Of headway-train: what makes the proposed change; empty: nothing. Valid as long as the proposal.
inline std::string_view setting_of(const Fix& fix, const Proposal& proposal) {
  return proposal.setting.empty() ? fix.trainer_switch : std::string_view(proposal.setting);
}

/// Asks fixes what they propose for one recording, and adds the bound that holds for all that leave the input as it is: a
/// storage that was busy for most of the step serves no faster because something else got shorter. Immutable; keeps a
/// reference to the predictor.
class Proposer {
 public:
  explicit Proposer(const Predictor& predictor);

  Proposal of(const Fix& fix) const;

 private:
  const Predictor& predictor_;
  DurationNs storage_;  ///< what it needs for a step; 0: it showed no limit
};

/// All fixes. The order breaks ties between equal gains.
std::span<const Fix* const> all_fixes();

/// The fix of that id; null when there is none.
const Fix* find_fix(std::string_view id);

}  // namespace headway::analyzer
