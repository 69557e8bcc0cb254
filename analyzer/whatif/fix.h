// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/replay/predictor.h"

namespace headway::analyzer {

/// How the gain of a fix is determined.
enum class FixKind : std::uint8_t {
  kStructural,  ///< waits or tasks are removed; the rest keeps its recorded time
  kModelled,    ///< new durations come from a formula
  kCeiling,     ///< the most that any fix of this kind could gain
};
std::string_view fix_kind_id(FixKind kind);  ///< "structural", "modelled", "ceiling": stable

/// What a fix would change in this run, or why it does not apply.
struct Proposal {
  bool applies = false;
  std::string text;  ///< what is changed, with figures; or why it does not apply
  Scenario scenario;
  std::string setting = {};  ///< headway-train's setting for it; empty: Fix::trainer_switch
  /// No other fix of this cause can gain more, because its durations were measured elsewhere in the
  /// run.
  bool is_ceiling = false;
  /// For a ceiling: the removed time lies in one place of each step, where a profiler shows its
  /// cause.
  bool one_place = false;
  /// Certainty, 0 to 1, that the fix can be made and does not harm the training. Findings rank by
  /// their gain times this.
  double certainty = 1;
  /// The same change with the unknowns of its formula at the ends of their ranges; the predicted
  /// interval includes these gains.
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
  std::string_view trainer_switch;  ///< switch of headway-train that makes it; empty: none
  std::string_view change;          ///< what is edited and by which formula, one or two sentences
  std::string_view cannot_know;     ///< what no recording shows about it, one sentence
  Proposal (*propose)(const Predictor& predictor);
  bool changes_training = false;  ///< it may change the result of training, not only its speed
};

bool answers(const Fix& fix, std::string_view rule);

/// headway-train's setting for the proposed change; empty: none. Valid as long as the proposal.
inline std::string_view setting_of(const Fix& fix, const Proposal& proposal) {
  return proposal.setting.empty() ? fix.trainer_switch : std::string_view(proposal.setting);
}

/// Gets the proposals of fixes for one recording. For fixes that do not change the input, it adds
/// the least step that the storage allows: a storage that is busy for most of the step does not get
/// faster when other work gets shorter. Immutable; keeps a reference to the predictor.
class Proposer {
 public:
  explicit Proposer(const Predictor& predictor);

  Proposal of(const Fix& fix) const;

 private:
  const Predictor& predictor_;
  DurationNs storage_;  ///< least time of the storage for a step; 0: the reads show no limit
};

/// The fixes that findings, plans and lists consider. The order breaks ties between equal gains.
std::span<const Fix* const> all_fixes();

/// Further fixes, which only a request by id predicts: they change what is trained, and no recording
/// shows whether it bears that. No report proposes them.
std::span<const Fix* const> fixes_on_request();

/// The fix of that id, from both lists; null when there is none.
const Fix* find_fix(std::string_view id);
/// The ids of both lists.
std::vector<std::string> fix_ids();

}  // namespace headway::analyzer
