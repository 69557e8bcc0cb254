// SPDX-License-Identifier: MIT
#include "analyzer/whatif/predict_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/evidence/recording.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "analyzer/whatif/fix_advice.h"
#include "analyzer/whatif/plan.h"
#include "analyzer/whatif/replayed_fixes.h"
#include "analyzer/whatif/same_time.h"
#include "analyzer/whatif/sample.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

/// A fix that gains a smaller share of the step is not worth making, and a cause with only such
/// fixes is dropped.
constexpr double kWorthMaking = 0.01;
/// The same for a fix that changes the training, which then has to be tuned again.
constexpr double kWorthTuning = 0.03;
/// A fix that gains this much must be named by a finding, whatever the rules say; the rules' own
/// threshold.
constexpr double kNeverSilent = 0.05;
/// The same for a fix that most likely gains something: a quarter of 199 predictions of 4 to 5 %
/// gained 5 % or more (docs/design/0053-what-fresh-seeds-showed.md).
constexpr double kMayBeMore = 0.04;
/// Nine of ten gains lie above the estimate minus this share of the lower half of a 95 % interval.
constexpr double kNineOfTen = 1.28 / 1.96;
/// Confidence of a finding that comes only from the replay of a fix.
constexpr double kSeenByReplay = 0.6;
/// Factor on the gain of fixes that change the training when the lead of a group is chosen. A
/// larger batch amortises most causes; the cause itself should lead the group.
constexpr double kOtherTrainingNames = 0.25;
/// Smaller differences do not count.
constexpr double kSameShare = 0.0005;

bool is_found(const Finding& finding) {
  return finding.status == Status::kFound;
}

/// The fixes of one rule, most gain first.
std::vector<const ReplayedFix*> fixes_of(const std::vector<ReplayedFix>& all,
                                         std::string_view rule) {
  std::vector<const ReplayedFix*> its;
  for (const ReplayedFix& one : all)
    if (one.applies() && answers(*one.fix, rule)) its.push_back(&one);
  std::ranges::stable_sort(its, [](const ReplayedFix* a, const ReplayedFix* b) {
    return a->prediction.gain > b->prediction.gain;
  });
  return its;
}

std::string_view why_unpredictable(std::string_view rule) {
  const auto known = std::ranges::find(all_rules(), rule, [](const Rule* one) { return one->id; });
  return known == all_rules().end() ? std::string_view() : (*known)->why_no_fix;
}

std::string why_not_replayed(const std::vector<ReplayedFix>& all, std::string_view rule) {
  if (const std::string_view why = why_unpredictable(rule); !why.empty()) return std::string(why);
  for (const ReplayedFix& one : all)
    if (answers(*one.fix, rule))
      return fmt::format("{} does not apply: {}", one.fix->id, one.proposal.text);
  return "no known fix";
}

/// The run without the cause: everything that its fixes make cheaper takes no time.
Scenario without(const std::vector<const ReplayedFix*>& fixes) {
  Scenario all;
  for (const ReplayedFix* one : fixes) all = all.with(one->ceiling);
  return all;
}

double least_worth(const PredictedGain& gain) {
  return find_fix(gain.fix)->changes_training ? kWorthTuning : kWorthMaking;
}

bool is_worth_making(const PredictedGain& gain) {
  return gain.share >= least_worth(gain) && gain.surety != GainSurety::kOpen;
}

std::string_view why_not_worth(const PredictedGain& gain) {
  if (gain.share < kWorthMaking) return "other work takes as long";
  return gain.share < least_worth(gain) ? "too little for tuning the training again"
                                        : "less than the variation between steps";
}

double expected(const PredictedGain& gain) {
  return gain.expected * gain.certainty;
}

/// Orders fixes; those that may gain nothing come last.
void put_in_order(std::vector<PredictedGain>& fixes) {
  std::ranges::stable_sort(fixes, [](const PredictedGain& a, const PredictedGain& b) {
    const bool sure = is_worth_making(a);
    return sure != is_worth_making(b) ? sure : expected(a) > expected(b);
  });
}

/// Sets the finding's prediction from the best fix that can be made, or from a ceiling if there is
/// none.
void choose_fixes(const Predictor& predictor, const std::vector<const ReplayedFix*>& its,
                  Finding& finding) {
  double most = 0;
  for (const ReplayedFix* one : its) {
    const PredictedGain gain = one->gain(predictor);
    auto& best = one->is_real() ? finding.predicted : finding.at_most;
    if (!best || expected(gain) > expected(*best)) best = gain;
    if (!one->is_real()) continue;
    most = std::max(most, gain.share);
    if (is_worth_making(gain)) finding.fixes.push_back(gain);
  }
  // A cause remains a finding even if no known fix would help here. A fix that removes most of it
  // helps, even if its gain is below the scatter of the steps. If other steps of the run do without
  // the cause, it remains beside fixes that gain less.
  const bool is_cause = finding.at_most && is_worth_making(*finding.at_most);
  const bool most_is_taken =
      finding.predicted && is_cause && expected(*finding.predicted) > finding.at_most->share / 2;
  const bool none_helps = finding.fixes.empty();
  if (is_cause && most_is_taken && none_helps) finding.fixes.push_back(*finding.predicted);
  const bool stays =
      is_cause && !most_is_taken && (none_helps || finding.at_most->certainty >= kMeasuredCounts);
  if (!finding.predicted || stays) {
    finding.predicted = std::exchange(finding.at_most, std::nullopt);
    most = finding.predicted->share;
    if (is_worth_making(*finding.predicted)) finding.fixes.push_back(*finding.predicted);
  }
  // A finding that remains also lists fixes that may help.
  for (const ReplayedFix* one : its) {
    const PredictedGain gain = one->gain(predictor);
    const bool known =
        std::ranges::find(finding.fixes, gain.fix, &PredictedGain::fix) != finding.fixes.end();
    if (!finding.fixes.empty() && one->is_real() && !known && expected(gain) >= kNeverSilent)
      finding.fixes.push_back(gain);
  }
  put_in_order(finding.fixes);
  if (finding.at_most && finding.at_most->share < most + kSameShare) finding.at_most.reset();
}

/// Expected gain of the best fix, as a share of the step.
double expected(const Finding& finding) {
  double most = 0;
  for (const PredictedGain& gain : finding.fixes) most = std::max(most, expected(gain));
  return most;
}

/// The same for choosing the lead of a group.
double gain_that_names(const Finding& finding) {
  double most = 0;
  for (const PredictedGain& gain : finding.fixes)
    most = std::max(most, find_fix(gain.fix)->changes_training ? kOtherTrainingNames * gain.share
                                                               : expected(gain));
  return most;
}

/// Confidence after the replay, which confirms how much the time is worth as far as it reproduces
/// the recorded run. The remaining doubt is whether the rule names the right cause.
double confirmed(double confidence, double residual) {
  return (1 + confidence) / 2 * (1 - std::min(1.0, residual));
}

/// Largest gain per step of the fixes known for the cause.
DurationNs most_gained(const Predictor& predictor, const Finding& finding) {
  const DurationNs step = predictor.baseline().recorded;
  DurationNs most;
  if (finding.predicted) most = std::max(most, step - finding.predicted->step);
  for (const PredictedGain& gain : finding.fixes) most = std::max(most, step - gain.step);
  if (finding.at_most) most = std::max(most, step - finding.at_most->step);
  return most;
}

/// True if all advised fixes may change the result of training.
bool trains_otherwise(const Finding& finding) {
  return !finding.fixes.empty() &&
         std::ranges::all_of(finding.fixes, [](const PredictedGain& gain) {
           return find_fix(gain.fix)->changes_training;
         });
}

/// Sets the cost of the cause, at most the upper end of its fixes' intervals. The ceiling alone can
/// be too high: removing padding does not remove the kernels that compute on it, and no step runs
/// without all the work that a larger batch makes cheaper.
void set_recoverable(const Predictor& predictor, DurationNs ceiling, Finding& finding) {
  const DurationNs step = predictor.baseline().recorded;
  DurationNs most = std::max(ceiling, DurationNs{0});
  const bool can_be_made = std::ranges::all_of(finding.fixes, [](const PredictedGain& gain) {
    return find_fix(gain.fix)->kind != FixKind::kCeiling;
  });
  if (can_be_made && !finding.fixes.empty()) {
    double highest = 0;
    for (const PredictedGain& gain : finding.fixes) highest = std::max(highest, gain.high);
    const DurationNs held{std::llround(highest * static_cast<double>(step.ns))};
    most = trains_otherwise(finding) ? held : std::min(most, held);
  }
  most = std::max(most, most_gained(predictor, finding));
  finding.recoverable_per_step = std::min(most, step);
  finding.share_of_step = ratio(finding.recoverable_per_step, step);
  finding.basis = FigureBasis::kReplay;
}

std::string sentence(std::string text) {
  if (!text.empty())
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  if (!text.ends_with('.')) text += '.';
  return text;
}

/// True if a finding must name the fix: its gain is large or likely so. Also for a ceiling (time
/// that no known fix removes) if that time lies in one place of each step, where a profiler shows
/// its cause.
bool must_be_named(const Predictor& predictor, const ReplayedFix& one) {
  const PredictedGain gain = one.gain(predictor);
  if (!one.is_real())
    // A ceiling from other steps of the run was measured, so its full gain counts.
    return one.proposal.one_place && gain.low > 0 &&
           (one.proposal.is_ceiling ? gain.share : expected(gain)) >= kNeverSilent;
  // Differences between runs are not a doubt about the fix (is_worth_making).
  const double noise = predictor.trace().device_ops.size() > 0 ? predictor.noise() : 0;
  const double less = std::max(0.0, gain.share - gain.low - noise);
  const bool gains = gain.share - kNineOfTen * less >= kWorthMaking;
  return gain.share >= kNeverSilent || (gain.share >= kMayBeMore && gains);
}

/// Makes a finding for each fix that must be named but that no finding names. Of the fix's rules,
/// it takes the one whose cause takes the most time, then the one that fewest fixes answer.
void raise_silent(const std::vector<ReplayedFix>& all, const Predictor& predictor,
                  std::vector<Finding>& findings) {
  for (const ReplayedFix& one : all) {
    if (!one.applies() || !must_be_named(predictor, one)) continue;
    Finding* closest = nullptr;
    bool named = false;
    for (Finding& finding : findings) {
      if (!answers(*one.fix, finding.rule)) continue;
      named |= is_found(finding);
      const auto rank = [](const Finding& of) {
        return std::pair(-of.exposed_per_step.ns, fixes_known(of.rule));
      };
      if (!closest || rank(finding) < rank(*closest)) closest = &finding;
    }
    if (named || !closest) continue;
    closest->status = Status::kFound;
    closest->confidence = kSeenByReplay;
    // The rule has no claim of its own here, so the claim describes the change.
    closest->claim = sentence(fmt::format("{}: {}", one.fix->title, one.proposal.text));
    closest->sub_cause.clear();
  }
}

/// Sets the advice: the rule's if the finding has a single fix, else that of each fix. Every advice
/// belongs to a fix.
void set_advice(Finding& finding) {
  std::vector<Advice> of_rule = std::exchange(finding.advice, {});
  const Fix* only = nullptr;
  int known = 0;
  for (const Fix* fix : all_fixes()) {
    if (!answers(*fix, finding.rule)) continue;
    only = fix;
    ++known;
  }
  for (const PredictedGain& gain : finding.fixes) {
    const Fix& fix = *find_fix(gain.fix);
    std::vector<Advice> its = advice_for(fix, gain.setting);
    for (Advice& one : its) {
      if (known != 1 || only != &fix || one.framework == "headway-train") continue;
      const auto said = std::ranges::find(of_rule, one.framework, &Advice::framework);
      if (said != of_rule.end()) one = *said;
      one.fix = fix.id;
    }
    // The rule's own advice is used for fixes that no setting makes, and for ceilings.
    for (Advice& said : of_rule) {
      if ((finding.fixes.size() != 1 && fix.kind != FixKind::kCeiling) ||
          std::ranges::find(its, said.framework, &Advice::framework) != its.end())
        continue;
      said.fix = fix.id;
      its.push_back(said);
    }
    finding.advice.insert(finding.advice.end(), its.begin(), its.end());
  }
}

/// The lead of a group shows the fixes and the cost of the whole group.
void take_over_fixes(const Finding& from, Finding& lead) {
  lead.recoverable_per_step = std::max(lead.recoverable_per_step, from.recoverable_per_step);
  lead.share_of_step = std::max(lead.share_of_step, from.share_of_step);
  for (const PredictedGain& gain : from.fixes)
    if (std::ranges::find(lead.fixes, gain.fix, &PredictedGain::fix) == lead.fixes.end())
      lead.fixes.push_back(gain);
  put_in_order(lead.fixes);
}

/// Groups findings that explain the same time behind their lead. `removed`, by finding: the run
/// without its cause. `gained`: the gain of that, which may exceed the cost (set_recoverable).
void group(const Predictor& predictor, std::vector<Finding>& findings,
           const std::vector<Scenario>& removed, const std::vector<DurationNs>& gained) {
  std::vector<std::size_t> which;
  std::vector<Cause> causes;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (!is_found(findings[i]) || findings[i].basis != FigureBasis::kReplay) continue;
    which.push_back(i);
    const double best = gain_that_names(findings[i]);
    const std::string_view fix = findings[i].fixes.empty() ? "" : findings[i].fixes.front().fix;
    causes.push_back({removed[i], gained[i], best * findings[i].confidence, best,
                      fixes_known(findings[i].rule), fix});
  }
  for (const CauseGroup& group : group_by_time(predictor, causes)) {
    Finding& lead = findings[which[group.front()]];
    for (std::size_t i = 1; i < group.size(); ++i) {
      Finding& other = findings[which[group[i]]];
      other.part_of = lead.rule;
      lead.worth = std::max(lead.worth, other.worth);
    }
  }
}

/// Puts the straggler finding before the finding that explains it. The cause is found on the
/// slowest rank, too, but it matters because all others wait. Applies if no replay shows how ranks
/// wait for each other. Not if the cause takes far longer than the others wait: then all ranks have
/// it, and the slowest one only somewhat more.
void put_straggler_first(std::vector<Finding>& findings) {
  constexpr double kItsOwn = 2.0 / 3;
  const auto straggler = std::ranges::find(findings, "straggler", &Finding::rule);
  if (straggler == findings.end() || !is_found(*straggler) ||
      straggler->basis != FigureBasis::kExposed)
    return;
  double most = 0;
  double longest = 0;
  for (const Finding& other : findings) {
    if (!is_found(other)) continue;
    most = std::max(most, other.worth);
    if (other.basis == FigureBasis::kReplay && !trains_otherwise(other))
      longest = std::max(longest, other.share_of_step);
  }
  if (straggler->share_of_step >= std::max(most / 2, kItsOwn * longest))
    straggler->worth = std::max(straggler->worth, most + 1e-6);
}

/// Sorts the findings; each lead is followed by the others of its group.
void order(std::vector<Finding>& findings) {
  sort_findings(findings);
  std::vector<Finding> ordered;
  for (Finding& finding : findings) {
    if (is_found(finding) && !finding.part_of.empty()) continue;
    const std::string_view rule = finding.rule;
    const bool leads = is_found(finding);
    ordered.push_back(std::move(finding));
    if (!leads) continue;
    for (Finding& other : findings)
      if (is_found(other) && other.part_of == rule) ordered.push_back(std::move(other));
  }
  findings = std::move(ordered);
}

/// Scales the times of a sample to the recording's mean step. Shares of the step stay the same.
void scale_times(Analysis& analysis, DurationNs sampled_step) {
  const DurationNs step = analysis.step_cost.per_step();
  if (step.ns == 0 || sampled_step.ns == 0) return;
  const double by = ratio(step, sampled_step);
  auto scale = [by](DurationNs& time) {
    time = DurationNs{std::llround(by * static_cast<double>(time.ns))};
  };
  auto scale_gain = [&](PredictedGain& gain) {
    scale(gain.recorded);
    scale(gain.step);
  };
  for (Finding& finding : analysis.findings) {
    if (finding.basis == FigureBasis::kReplay) scale(finding.recoverable_per_step);
    if (finding.predicted) scale_gain(*finding.predicted);
    if (finding.at_most) scale_gain(*finding.at_most);
    for (PredictedGain& gain : finding.fixes) scale_gain(gain);
  }
  for (PredictedGain& gain : analysis.plan) scale_gain(gain);
  for (PredictedGain& gain : analysis.fixes) scale_gain(gain);
  scale(analysis.recording_cost);
}

/// Unexplained delay of batches; a replay without the waits keeps it.
DurationNs late_input(const Predictor& predictor) {
  DurationNs late;
  for (const Unexplained& one : predictor.baseline().late)
    if (one.after == EdgeKind::kBatch || one.after == EdgeKind::kBatchSlot) late += one.time;
  return late;
}

/// Keeps the recorded exposed time of a finding, because no replay shows how much of it can be
/// gained.
void keep_unexplained(DurationNs late, DurationNs exposed, Finding& finding) {
  finding.basis = FigureBasis::kExposed;
  finding.recoverable_per_step = exposed;
  finding.share_of_step = ratio(exposed, finding.predicted->recorded);
  finding.unpredicted = fmt::format("batches arrive {} per step later than the recording explains",
                                    format_duration(late));
  finding.predicted.reset();
  finding.at_most.reset();
}

/// True for copies that take nearly all of the step: the link is full, and another order gains
/// nothing.
bool is_bound_by_link(const Finding& finding, DurationNs exposed) {
  constexpr double kMost = 0.9;
  return finding.rule == "copy-not-overlapped" &&
         ratio(exposed, finding.predicted->recorded) >= kMost;
}

void keep_bound_by_link(DurationNs exposed, Finding& finding) {
  finding.basis = FigureBasis::kExposed;
  finding.recoverable_per_step = exposed;
  finding.share_of_step = ratio(exposed, finding.predicted->recorded);
  if (finding.sub_cause != "weights") {
    finding.claim += " Overlap would not help: the link is always busy, and only fewer bytes help.";
    finding.unpredicted = "the number of bytes that the program needs is unknown";
    finding.advice = {{"PyTorch",
                       "Send only training data: crop and resize before the copy, send pixels as "
                       "bytes and convert them on the device.",
                       "transforms before .to(device); uint8 tensors, .float() on the device", ""},
                      {"TensorFlow/JAX",
                       "Send only training data: crop and resize in the input pipeline, convert "
                       "bytes on the device.",
                       "tf.image.resize in tf.data; tf.uint8 elements, tf.cast in the step", ""}};
  }
  finding.predicted.reset();
  finding.at_most.reset();
}

/// True if most of the time is for exchanges of the model's layers, for which fixes of gradient
/// exchanges do not help.
bool is_of_model(const Finding& finding, DurationNs exposed) {
  return finding.rule == "comm-exposed" &&
         (finding.sub_cause == "alltoall" || finding.sub_cause == "activations") &&
         ratio(exposed, finding.predicted->recorded) >= kFindingShare;
}

void keep_of_model(DurationNs exposed, Finding& finding) {
  finding.basis = FigureBasis::kExposed;
  finding.recoverable_per_step = exposed;
  finding.share_of_step = ratio(exposed, finding.predicted->recorded);
  finding.predicted.reset();
  finding.at_most.reset();
  if (finding.sub_cause == "activations") {
    finding.unpredicted = "the time with fewer ranks per layer is not recorded";
    return;
  }
  finding.claim += " Most of it is all-to-alls of the model's layers, not gradients.";
  finding.unpredicted = "possible work beside all-to-alls is not recorded";
  finding.advice = {{"PyTorch",
                     "Overlap all-to-alls with other work (a shared expert, another micro batch), "
                     "keep tokens on their node, or send fewer bytes.",
                     "Megatron: --overlap-moe-expert-parallel-comm, --moe-shared-expert-overlap, "
                     "--moe-router-group-topk; DeepEP; tokens in FP8",
                     ""}};
}

/// Replays all fixes and judges the findings by them.
void judge(const Predictor& predictor, Analysis& analysis) {
  std::vector<Finding>& findings = analysis.findings;
  const std::vector<ReplayedFix> all = replay_fixes(predictor);
  // A replay of a flawed recording would repeat its flaws.
  const bool flawed = std::ranges::any_of(findings, [](const Finding& finding) {
    return is_found(finding) && is_about_recording(finding.rule);
  });
  if (!flawed) raise_silent(all, predictor, findings);
  std::vector<Scenario> removed(findings.size());
  std::vector<DurationNs> gained(findings.size());
  std::vector<std::size_t> asked;
  std::vector<Scenario> scenarios;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (!is_found(findings[i])) continue;
    const auto its = fixes_of(all, findings[i].rule);
    if (its.empty()) {
      findings[i].unpredicted = why_not_replayed(all, findings[i].rule);
      continue;
    }
    choose_fixes(predictor, its, findings[i]);
    removed[i] = without(its);
    asked.push_back(i);
    scenarios.push_back(removed[i]);
  }
  const std::vector<Prediction> ceilings = predictor.predict(scenarios);
  const DurationNs late = late_input(predictor);
  for (std::size_t k = 0; k < asked.size(); ++k) {
    Finding& finding = findings[asked[k]];
    const DurationNs exposed = finding.recoverable_per_step;
    gained[asked[k]] = std::max(ceilings[k].gain, most_gained(predictor, finding));
    set_recoverable(predictor, ceilings[k].gain, finding);
    if (!finding.fixes.empty()) continue;
    if (finding.rule == "input-bound" && ratio(late, finding.predicted->recorded) >= kNeverSilent) {
      keep_unexplained(late, exposed, finding);
      continue;
    }
    if (is_bound_by_link(finding, exposed)) {
      keep_bound_by_link(exposed, finding);
      continue;
    }
    if (is_of_model(finding, exposed)) {
      keep_of_model(exposed, finding);
      continue;
    }
    finding.status = Status::kNoGain;
    finding.claim += fmt::format(" With {} the step would take {} of {}: {}.",
                                 finding.predicted->fix, format_duration(finding.predicted->step),
                                 format_duration(finding.predicted->recorded),
                                 why_not_worth(*finding.predicted));
    finding.recoverable_per_step = {};
    finding.share_of_step = 0;
    finding.advice.clear();
  }
  for (Finding& finding : findings) {
    if (!is_found(finding)) continue;
    if (finding.basis == FigureBasis::kReplay)
      finding.confidence = confirmed(finding.confidence, predictor.baseline().residual);
    const double gain = finding.basis == FigureBasis::kReplay
                            ? expected(finding)
                            : kCeilingCounts * finding.share_of_step;
    finding.worth = gain * finding.confidence;
  }
  put_straggler_first(findings);
  group(predictor, findings, removed, gained);
  for (Finding& finding : findings) {
    if (is_found(finding) && finding.basis == FigureBasis::kReplay) set_advice(finding);
  }
  for (const Finding& other : findings) {
    if (other.part_of.empty()) continue;
    Finding& lead = *std::ranges::find(findings, other.part_of, &Finding::rule);
    take_over_fixes(other, lead);
    for (const Advice& one : other.advice) {
      const bool known = std::ranges::any_of(lead.advice, [&](const Advice& its) {
        return its.fix == one.fix && its.framework == one.framework;
      });
      if (!known) lead.advice.push_back(one);
    }
  }
  if (!flawed) analysis.plan = plan(predictor, all, findings);
  for (const ReplayedFix& one : all)
    if (one.applies()) analysis.fixes.push_back(one.gain(predictor));
  analysis.assumed = predictor.assumptions();
  analysis.unexplained = predictor.baseline().residual;
}

/// True if the recording is the capture of a graph: its steps are not the program's steps, so no
/// fix can be replayed.
bool is_capture_of_graphs(const std::vector<Finding>& findings) {
  return std::ranges::any_of(
      findings, [](const Finding& one) { return is_found(one) && one.rule == "graph-capture"; });
}

/// Keeps the exposed times of all findings, because nothing can be replayed.
void keep_exposed(const std::string& why, Analysis& analysis) {
  for (Finding& finding : analysis.findings) {
    if (!is_found(finding)) continue;
    const std::string_view own = why_unpredictable(finding.rule);
    finding.unpredicted = own.empty() ? why : std::string(own);
    finding.worth = kCeilingCounts * finding.share_of_step * finding.confidence;
  }
  order(analysis.findings);
}

}  // namespace

void predict_findings(const trace::Trace& trace, Analysis& analysis, MachineFacts machine,
                      const trace::Trace* whole) {
  if (is_capture_of_graphs(analysis.findings)) {
    keep_exposed("no step was recorded", analysis);
    return;
  }
  const trace::Trace& events = whole ? *whole : trace;
  const std::size_t most = whole ? 2 * kReplayedWhole : kReplayedWhole;
  const std::unique_ptr<Sample> sample = take_sample(events, analysis, most);
  if (!sample && events.event_count() > most) {
    keep_exposed(
        fmt::format("{} events are too many for a full replay, and no steps were found to sample",
                    events.event_count()),
        analysis);
    return;
  }
  Analysis of_whole;
  if (whole && !sample) of_whole = analyze(*whole, {.steps = analysis.step_options});
  const Predictor predictor(sample ? sample->trace : events,
                            sample  ? sample->analysis
                            : whole ? of_whole
                                    : analysis,
                            std::move(machine), sample ? sample->run : RunLengths{});
  if (predictor.missing().empty()) {
    judge(predictor, analysis);
    analysis.recording_cost = predictor.baseline().cost.of_step;
    if (sample) analysis.sampled_steps = predictor.baseline().steps;
    if (sample || whole)
      scale_times(analysis, predictor.baseline().recorded + predictor.baseline().cost.of_step);
    keep_fitting_advice(analysis.program, analysis.findings);
    order(analysis.findings);
  } else {
    keep_exposed(predictor.missing(), analysis);
  }
}

}  // namespace headway::analyzer
