// SPDX-License-Identifier: MIT
#include "analyzer/report/screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <vector>

#include "analyzer/doubts.h"
#include "analyzer/report/facts.h"
#include "analyzer/report/formats.h"
#include "analyzer/samples.h"
#include "common/counted.h"
#include "common/format.h"
#include "common/text.h"
#include "trace/meta_keys.h"

namespace headway::analyzer {
namespace {

using trace::Trace;

constexpr std::size_t kMostCauses = 3;
constexpr std::size_t kMostClasses = 6;
constexpr std::size_t kMostDoubts = 2;
constexpr std::size_t kLabelColumns = 10;  ///< "Verdict   "
const std::string kIndent(kLabelColumns, ' ');

class Screen {
 public:
  explicit Screen(const ScreenOptions& options) : options_(options) {}

  std::string bold(const std::string& text) const {
    return options_.colour ? fmt::format("\x1b[1m{}\x1b[0m", text) : text;
  }
  std::string painted(std::uint32_t rgb, const std::string& text) const {
    if (!options_.colour) return text;
    return fmt::format("\x1b[38;2;{};{};{}m{}\x1b[0m", rgb >> 16, (rgb >> 8) & 255, rgb & 255,
                       text);
  }

  /// One line, unchanged, under `label` or the label of the line before.
  void line(const std::string& label, const std::string& text) {
    lines_.push_back(fmt::format("{}{}", label_text(label), text));
  }
  /// `text` in at most `most` lines; the last one ends with "…" when it is cut.
  void paragraph(const std::string& label, const std::string& text, std::size_t most) {
    std::string wrapped = wrap_text(text, options_.width - kLabelColumns, "", "");
    std::size_t from = 0;
    for (std::size_t i = 0; i < most && from < wrapped.size(); ++i) {
      const std::size_t end = std::min(wrapped.find('\n', from), wrapped.size());
      std::string part = wrapped.substr(from, end - from);
      from = end + 1;
      if (i + 1 == most && from < wrapped.size())
        part = shorten_end(part + " …", options_.width - kLabelColumns);
      line(i == 0 ? label : "", part);
    }
  }
  /// One line. If it is too long, the setting is shortened and not its current value.
  void advice(const Advice& advice) {
    const std::size_t columns = options_.width - kLabelColumns;
    const std::string now =
        advice.current.empty()
            ? ""
            : fmt::format(" (now {})",
                          shorten(escape_terminal(current_of(advice)), columns * 2 / 5));
    const std::string knob =
        fmt::format("   {}: {}", advice.framework,
                    escape_terminal(advice.knob.empty() ? advice.text : advice.knob));
    const std::size_t left = columns - count_columns(now);
    line("", (count_columns(knob) <= left ? knob : shorten_end(knob + " …", left)) + now);
  }
  void blank() { lines_.emplace_back(); }

  std::string text() const {
    std::string out;
    for (std::size_t i = 0; i < std::min(lines_.size(), kScreenLines); ++i) out += lines_[i] + "\n";
    return out;
  }
  std::size_t lines() const { return lines_.size(); }

 private:
  std::string label_text(const std::string& label) const {
    if (label.empty()) return kIndent;
    return bold(label) + std::string(kLabelColumns - label.size(), ' ');
  }
  /// True when `knob` contains `setting` at the start of a word: "pin_memory=True" does not name in_memory.
  static bool names(std::string_view knob, std::string_view setting) {
    for (std::size_t at = knob.find(setting); at != std::string_view::npos;
         at = knob.find(setting, at + 1)) {
      const bool whole = at == 0 || !(std::isalnum(static_cast<unsigned char>(knob[at - 1])) ||
                                      knob[at - 1] == '_');
      if (whole) return true;
    }
    return false;
  }
  /// Of several settings those that the advice is about, else all.
  static std::string current_of(const Advice& advice) {
    std::string its;
    for (std::string_view rest = advice.current; !rest.empty();) {
      const std::string_view one = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(rest.size(), one.size() + 1));
      const std::string_view name = one.substr(0, one.find('='));
      if (one.size() > name.size() && names(advice.knob, name))
        its += fmt::format("{}{}", its.empty() ? "" : " ", one);
    }
    return its.empty() ? advice.current : its;
  }
  static std::string shorten_end(std::string text, std::size_t columns) {
    while (count_columns(text) > columns) {
      const std::size_t last = text.rfind(' ', text.size() - std::string_view(" …").size() - 1);
      if (last == std::string::npos) return shorten(text, columns);
      text = text.substr(0, last) + " …";
    }
    return text;
  }

  ScreenOptions options_;
  std::vector<std::string> lines_;
};

/// The device whose steps take longest: the one the verdict is about. Null without a steady step.
const DevicePartition* slowest(const Analysis& analysis) {
  const DevicePartition* result = nullptr;
  for (const DevicePartition& partition : analysis.partitions) {
    if (partition.steady_steps > 0 &&
        (!result || partition.per_steady_step.total() > result->per_steady_step.total()))
      result = &partition;
  }
  return result;
}

std::string solid(double share, std::size_t columns) {
  const auto cells = static_cast<std::size_t>(std::lround(share * static_cast<double>(columns)));
  std::string text;
  for (std::size_t i = 0; i < cells; ++i) text += "█";
  return text;
}

/// The largest classes of the step, one bar each; the rest in one line.
void add_partition(Screen& screen, const Analysis& analysis, std::size_t width) {
  const DevicePartition* device = slowest(analysis);
  if (!device) return;
  const DurationNs step = device->per_steady_step.total();
  std::vector<const TimeClassInfo*> classes;
  for (const TimeClassInfo& c : time_classes())
    if (device->per_steady_step[c.time_class].ns > 0) classes.push_back(&c);
  std::stable_sort(
      classes.begin(), classes.end(), [&](const TimeClassInfo* a, const TimeClassInfo* b) {
        return device->per_steady_step[a->time_class] > device->per_steady_step[b->time_class];
      });
  const bool has_steps = !analysis.steps.all.empty();
  std::string scope;
  if (has_steps)
    scope = fmt::format(" over {}; typical step {}", counted(device->steady_steps, "step", "steps"),
                        format_duration(analysis.step_cost.typical));
  if (const std::optional<double> rate = analysis.samples_per_s())
    scope += "; " + samples_per_s_text(*rate);
  screen.line(has_steps ? "Step" : "Span", screen.bold(format_duration(step)) + scope);
  if (const std::string note = analysis.steps.warm_up_note(); !note.empty()) screen.line("", note);
  if (analysis.recording_cost.ns > 0)
    screen.line(
        "",
        fmt::format("{} without the {} that recording costs the host: predictions are of that step",
                    format_duration(step - analysis.recording_cost),
                    format_duration(analysis.recording_cost)));
  constexpr std::size_t kBeforeBar = kLabelColumns + 42;
  const std::size_t columns =
      std::clamp<std::size_t>(width, kBeforeBar + 6, kBeforeBar + 40) - kBeforeBar;
  DurationNs rest;
  std::size_t shown = 0;
  for (const TimeClassInfo* c : classes) {
    const DurationNs time = device->per_steady_step[c->time_class];
    const double share = ratio(time, step);
    if (shown == kMostClasses || share < 0.005) {
      rest += time;
      continue;
    }
    ++shown;
    screen.line("",
                fmt::format("{:<23}{:>9} {:>7} {}", c->label, format_duration(time),
                            format_percent(share), screen.painted(c->rgb, solid(share, columns))));
  }
  if (rest.ns > 0)
    screen.line("", fmt::format("{:<23}{:>9} {:>7}", "All else", format_duration(rest),
                                format_percent(ratio(rest, step))));
}

/// What to change for the finding: a line for the cause and its best fix, one for the knob.
void add_cause(Screen& screen, const Analysis& analysis, const Finding& finding,
               std::size_t number) {
  const std::string gain =
      finding.predicted ? fix_line(*finding.predicted) : gain_label(analysis, finding);
  const bool costs_time = finding.recoverable_per_step.ns > 0;
  screen.paragraph(
      number == 1 ? "Change" : "",
      fmt::format("{}. {}: {}", number, finding_label(finding), costs_time ? gain : finding.claim),
      2);
  const auto its = std::ranges::find_if(finding.advice, [&](const Advice& advice) {
    return advice.fix.empty() || !finding.predicted || advice.fix == finding.predicted->fix;
  });
  if (its != finding.advice.end()) screen.advice(*its);
}

/// "step 197 → 40.1 ms with more-workers, cuda-graph".
std::string together_text(const std::vector<PredictedGain>& plan) {
  std::string names;
  for (const PredictedGain& gain : plan)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", gain.fix);
  return fmt::format("step {} → {} with {}", format_duration(plan.back().recorded),
                     format_duration(plan.back().step), names);
}

}  // namespace

std::string render_screen(const Trace& trace, const Analysis& analysis,
                          const ScreenOptions& options) {
  Screen screen(options);
  screen.paragraph("Verdict", verdict(trace, analysis), 3);
  // Without it, figures of the begin of a run would pass for those of the whole.
  if (!trace.meta_value(trace::meta::kLive).empty())
    screen.paragraph("Live", std::string(kStillRecording), 2);
  screen.blank();
  add_partition(screen, analysis, options.width);
  std::vector<const Finding*> causes;
  for (const Finding& finding : analysis.findings) {
    // The same time with the same remedy is shown once.
    const bool said = !finding.part_of.empty() && finding.predicted &&
                      std::ranges::any_of(causes, [&](const Finding* one) {
                        return one->predicted && one->predicted->fix == finding.predicted->fix;
                      });
    if (finding.status == Status::kFound && !said && causes.size() < kMostCauses)
      causes.push_back(&finding);
  }
  if (!causes.empty()) screen.blank();
  for (std::size_t i = 0; i < causes.size(); ++i) add_cause(screen, analysis, *causes[i], i + 1);
  if (!analysis.plan.empty() && !causes.empty())
    screen.paragraph("", fmt::format("Fixes together: {}", together_text(analysis.plan)), 2);
  std::vector<const Doubt*> doubts;
  for (const Doubt& doubt : analysis.doubts)
    if (doubt.severity != "info") doubts.push_back(&doubt);
  if (!doubts.empty()) screen.blank();
  for (std::size_t i = 0; i < std::min(doubts.size(), kMostDoubts); ++i)
    screen.paragraph(doubts[i]->severity == "loss" ? "Lost" : "Doubt", doubts[i]->text, 1);
  if (doubts.size() > kMostDoubts)
    screen.line("", fmt::format("{} more in the full report", doubts.size() - kMostDoubts));
  return screen.text();
}

}  // namespace headway::analyzer
