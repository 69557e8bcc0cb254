// SPDX-License-Identifier: MIT
#include "gui/models/prediction/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

#include "analyzer/replay/predicted_step.h"
#include "analyzer/whatif/fix_advice.h"
#include "analyzer/whatif/replayed_fixes.h"
#include "analyzer/whatif/together.h"
#include "common/format.h"

namespace headway::gui {
namespace {

using analyzer::Fix;
using analyzer::FixKind;

/// A smaller share of the step counts as no gain.
constexpr double kSomething = 0.001;

/// Two gains that differ by a smaller share count as equal.
constexpr double kDifferent = 0.005;

/// "−46.7 %" of the step; "+2.0 %" where it gets longer.
std::string change(double share) {
  if (std::fabs(share) < kSomething) return "0 %";
  return fmt::format("{}{}", share >= 0 ? "−" : "+", format_percent(std::fabs(share)));
}

DurationNs rounded(double ns) {
  return {std::llround(ns)};
}

}  // namespace

std::string_view heading_of(FixGroup group) {
  switch (group) {
    case FixGroup::kSuggested:
      return "Suggested by the findings";
    case FixGroup::kOther:
      return "Other known fixes";
    case FixGroup::kCeiling:
      return "Ceilings: the largest possible gains";
    case FixGroup::kNoGain:
      return "No gain in this run";
    case FixGroup::kNotHere:
      break;
  }
  return "Do not apply to this run";
}

std::vector<FixChoice> suggested_fixes(const analyzer::Analysis& analysis) {
  std::vector<FixChoice> choices;
  for (const analyzer::Finding& finding : analysis.findings) {
    if (finding.status != analyzer::Status::kFound) continue;
    std::vector<analyzer::PredictedGain> gains = finding.fixes;
    if (finding.predicted) gains.push_back(*finding.predicted);
    for (const analyzer::PredictedGain& gain : gains) {
      const Fix* fix = analyzer::find_fix(gain.fix);
      if (!fix || std::ranges::find(choices, fix, &FixChoice::fix) != choices.end()) continue;
      const bool real = fix->kind != FixKind::kCeiling;
      choices.push_back(
          {fix, real ? FixGroup::kSuggested : FixGroup::kCeiling, change(gain.share), {}});
    }
  }
  std::ranges::stable_sort(choices, {}, &FixChoice::group);
  return choices;
}

std::string WhatIfAnswer::headline() const {
  return fmt::format("Step {} → {} ({})", format_duration(recorded),
                     format_duration(prediction.step), change(ratio(prediction.gain, recorded)));
}

std::string WhatIfAnswer::interval() const {
  const double step = static_cast<double>(std::max<std::int64_t>(1, recorded.ns));
  const auto left = [&](double gain) {
    return format_duration(DurationNs{std::max<std::int64_t>(0, recorded.ns - rounded(gain).ns)});
  };
  return fmt::format("95 % interval: {} to {} ({} to {})", left(prediction.gain_ns.high),
                     left(prediction.gain_ns.low), change(prediction.gain_ns.high / step),
                     change(prediction.gain_ns.low / step));
}

std::string WhatIfAnswer::comparison() const {
  if (fixes.size() < 2) return {};
  const double apart = std::fabs(ratio(gained_alone - prediction.gain, recorded));
  if (apart < kDifferent) return "Together they gain as much as separately.";
  return fmt::format("Separately they gain {}, together {}: gains do not add.",
                     format_duration(gained_alone), format_duration(prediction.gain));
}

WhatIfStudy::WhatIfStudy(std::shared_ptr<const Session> session)
    : session_(std::move(session)), predictor_(session_->trace, session_->analysis) {
  if (!missing().empty()) return;
  for (analyzer::ReplayedFix& one : analyzer::replay_fixes(predictor_))
    known_.push_back({one.fix, std::move(one.proposal), one.prediction.gain});
  std::ranges::stable_sort(known_, [](const Known& a, const Known& b) {
    if (a.proposal.applies != b.proposal.applies) return a.proposal.applies;
    return a.gain > b.gain;
  });
  list_choices();
}

void WhatIfStudy::list_choices() {
  const DurationNs step = predictor_.baseline().recorded;
  const auto add = [&](const Known& known, FixGroup group) {
    choices_.push_back({known.fix, group,
                        known.proposal.applies ? change(ratio(known.gain, step)) : std::string(),
                        text_of(known)});
  };
  for (const FixChoice& one : suggested_fixes(session_->analysis)) {
    const auto known = std::ranges::find(known_, one.fix, &Known::fix);
    if (known->proposal.applies && one.group == FixGroup::kSuggested)
      add(*known, FixGroup::kSuggested);
  }
  const std::size_t suggested = choices_.size();
  for (const FixGroup group :
       {FixGroup::kOther, FixGroup::kCeiling, FixGroup::kNoGain, FixGroup::kNotHere}) {
    for (const Known& known : known_) {
      const FixGroup its = !known.proposal.applies                ? FixGroup::kNotHere
                           : ratio(known.gain, step) < kSomething ? FixGroup::kNoGain
                           : known.fix->kind == FixKind::kCeiling ? FixGroup::kCeiling
                                                                  : FixGroup::kOther;
      const auto end = choices_.begin() + static_cast<std::ptrdiff_t>(suggested);
      const bool listed = std::any_of(
          choices_.begin(), end, [&](const FixChoice& choice) { return choice.fix == known.fix; });
      if (its == group && !listed) add(known, group);
    }
  }
}

std::string WhatIfStudy::text_of(const Known& known) const {
  std::string text = known.proposal.text;
  if (!text.empty())
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  text += ".";
  if (!known.proposal.applies) return text;
  const std::string_view setting = setting_of(*known.fix, known.proposal);
  for (const analyzer::Advice& advice : analyzer::advice_for(*known.fix, setting)) {
    if (session_->analysis.program.advice_fits(advice.framework))
      text += fmt::format("\n{}: {}", advice.framework, advice.knob);
  }
  return text + fmt::format("\nUnknown from any recording: {}.", known.fix->cannot_know);
}

WhatIfAnswer WhatIfStudy::ask(std::span<const Fix* const> fixes,
                              const std::atomic<bool>* cancelled) const {
  const auto given_up = [&] { return cancelled && cancelled->load(); };
  WhatIfAnswer answer;
  answer.missing = missing();
  if (!answer.missing.empty()) return answer;
  // In the order of the list, so that the order of ticking has no effect.
  std::vector<analyzer::ProposedFix> proposed;
  for (const Known& known : known_) {
    if (std::ranges::find(fixes, known.fix) == fixes.end()) continue;
    answer.fixes.push_back(known.fix);
    answer.gained_alone = answer.gained_alone + known.gain;
    proposed.push_back({known.fix, &known.proposal});
  }
  const analyzer::Together both = analyzer::together(proposed);
  answer.missing = both.missing;
  if (!answer.missing.empty() || given_up()) return answer;
  answer.recorded = predictor_.baseline().recorded;
  answer.prediction = both.predict(predictor_);
  if (given_up()) return answer;
  analyzer::PredictedStep step = analyzer::predict_timeline(predictor_, both.scenario);
  if (given_up()) return answer;
  answer.timeline = add_prediction(session_, answer.fixes, std::move(step));
  return answer;
}

WhatIfAnswer WhatIfStudy::ask(std::string_view fix) const {
  const Fix* known = analyzer::find_fix(fix);
  if (!known) {
    WhatIfAnswer answer;
    answer.missing = fmt::format("unknown fix '{}'", fix);
    return answer;
  }
  return ask(std::array{known});
}

}  // namespace headway::gui
