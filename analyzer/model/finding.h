// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/event_ref.h"
#include "common/time.h"

namespace headway::analyzer {

enum class Status : std::uint8_t {
  kFound,
  kFine,
  kCannotTell,
  kNoGain,  ///< seen, but the replay shows that taking it away gains nothing
};
/// "found", "fine", "cannot_tell", "no_gain": stable
std::string_view status_id(Status status);

/// A place in the trace and what it shows.
struct Evidence {
  Interval where;
  EventRef event;
  std::string note;
};

/// How to act on a finding in one framework.
struct Advice {
  std::string framework;      ///< "PyTorch", "TensorFlow/JAX", "headway-train"
  std::string text;           ///< what to do and why it helps, one or two sentences
  std::string knob;           ///< the exact setting or call: "DataLoader(num_workers=…)"
  std::string current;        ///< its value in this run where the trace shows it; else empty
  std::string_view fix = {};  ///< id of the replayed fix that it realises; empty: none
};

/// How sure it is that a predicted gain is real. Findings, plans and the verdict use it.
enum class GainSurety : std::uint8_t {
  kSure,      ///< the whole 95 % interval is above 0
  kProbable,  ///< the interval includes 0, but the gain exceeds the scatter of steps
  kOpen,      ///< steps on processors scatter as much as the gain: it may be none
};

/// What a step would be with a known fix of the cause, from replaying the run (analyzer/whatif).
struct PredictedGain {
  std::string_view fix;  ///< its id: `headway whatif --fix` has more about it
  DurationNs recorded;   ///< mean steady step
  DurationNs step;       ///< what the step becomes with the fix
  double share = 0;      ///< gained share of the step
  double low = 0;        ///< lower end of the 95 % interval of `share`
  double high = 0;       ///< upper end
  /// Share of the step by which the gain exceeds the scatter of steps, without rare long ones. At most 0: there may be no
  /// gain. Only for steps on processors.
  double beyond_scatter = 0;
  std::string setting = {};  ///< of headway-train that makes exactly this change; empty: none
  /// How far the recording shows that the fix is possible, 0 to 1. Fixes are ordered by `expected` × certainty.
  double certainty = 1;
  /// Expected share of the step: (low + 2 × share + high) / 4, of an interval without the doubt about the cost of recording,
  /// which all fixes share.
  double expected = 0;
  GainSurety surety = GainSurety::kSure;
};

/// What the figure of a finding rests on.
enum class FigureBasis : std::uint8_t {
  kExposed,  ///< time that the rule attributes to the cause; something else may fill it once it is gone
  kReplay,  ///< the recorded steps replayed without the cause
};
std::string_view figure_basis_id(FigureBasis basis);  ///< "exposed", "replay": stable

/// What a rule says about a trace.
struct Finding {
  std::string_view rule;   ///< "input-bound": stable id
  std::string_view title;  ///< "Input-bound"
  Status status = Status::kCannotTell;
  std::string claim;  ///< found: what holds the step back, with figures; fine: what was checked;
                      ///< cannot tell: what is missing
  std::string sub_cause;  ///< e.g. "read", "decode"; empty when the rule has none
  /// The most that removing the cause gains; at least the gain of each of its fixes. See `basis`.
  /// 0 unless the status is kFound.
  DurationNs recoverable_per_step;
  double share_of_step = 0;  ///< recoverable / mean steady step
  FigureBasis basis = FigureBasis::kExposed;
  DurationNs exposed_per_step;  ///< what the rule attributes to the cause, before any replay
  double confidence = 0;  ///< 0..1: how much of the claim rests on evidence rather than inference
  /// The best fix; a ceiling only where no other fix applies. None: see `unpredicted`, or no
  /// prediction was requested.
  std::optional<PredictedGain> predicted;
  /// The most that any fix could gain. Set only when `predicted` is not a ceiling and gains less.
  std::optional<PredictedGain> at_most;
  std::string unpredicted;  ///< why there is no prediction although one was requested
  /// Fixes worth making, largest gain first. Each gain comes from a separate replay.
  std::vector<PredictedGain> fixes;
  /// In a job: the number of the rank that claim and evidence are about; -1: a single rank, or the job as a whole.
  std::int32_t rank = -1;
  /// The rule of an earlier finding that explains the same time; empty: none.
  std::string_view part_of;
  /// The sort key: the share of the step that acting on the finding is expected to gain.
  double worth = 0;
  std::vector<Evidence> evidence;  ///< the worst first, at most 20
  std::vector<Advice> advice;
};

/// The confidence in a word: "certain", "likely", "possible".
std::string_view confidence_label(const Finding& finding);

}  // namespace headway::analyzer
