// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/event_ref.h"
#include "common/time.h"

namespace headway::analyzer {

enum class Status : std::uint8_t { kFound, kFine, kCannotTell };
std::string_view status_id(Status status);  ///< "found", "fine", "cannot_tell": stable

/// Something to look at: a place in the trace and what is to be seen there.
struct Evidence {
  Interval where;
  EventRef event;
  std::string note;
};

/// How to act on a finding in one framework.
struct Advice {
  std::string framework;  ///< "PyTorch", "TensorFlow/JAX", "headway-train"
  std::string text;       ///< what to do and why it helps, one or two sentences
  std::string knob;       ///< the exact setting or call: "DataLoader(num_workers=…)"
  std::string current;    ///< its value in this run where the trace shows it; else empty
};

/// What a step would be with a known fix of the cause, from replaying the run (analyzer/whatif).
struct PredictedGain {
  std::string_view fix;  ///< its id: `headway whatif --fix` has more about it
  DurationNs recorded;   ///< mean steady step
  DurationNs step;       ///< that is left of it
  double share = 0;      ///< of the step that is gained
  double low = 0;        ///< of the 95 % interval of the share
  double high = 0;
};

/// What a rule says about a trace.
struct Finding {
  std::string_view rule;   ///< "input-bound": stable id
  std::string_view title;  ///< "Input-bound"
  Status status = Status::kCannotTell;
  std::string claim;  ///< found: what holds the step back, with figures; fine: what was checked;
                      ///< cannot tell: what is missing
  std::string sub_cause;            ///< e.g. "read", "decode"; empty when the rule has none
  DurationNs recoverable_per_step;  ///< upper bound of what fixing it gains; 0 unless found
  double share_of_step = 0;         ///< recoverable / mean steady step
  double confidence = 0;  ///< 0..1: how much of the claim rests on evidence rather than inference
  /// The best fix; a ceiling only where no other one applies. None: see `unpredicted`, or nobody asked.
  std::optional<PredictedGain> predicted;
  /// The most that any fix could gain, beside a `predicted` that is no ceiling and gains less.
  std::optional<PredictedGain> at_most;
  std::string unpredicted;         ///< why nothing is predicted, though somebody asked
  std::vector<Evidence> evidence;  ///< the worst first, at most 20
  std::vector<Advice> advice;
};

/// The confidence in a word: "certain", "likely", "possible".
std::string_view confidence_label(const Finding& finding);

}  // namespace headway::analyzer
