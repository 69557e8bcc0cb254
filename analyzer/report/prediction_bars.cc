// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyzer/partition/steady_ops.h"
#include "analyzer/replay/predicted_step.h"
#include "analyzer/report/facts.h"
#include "analyzer/report/figures.h"
#include "analyzer/whatif/fix.h"
#include "common/format.h"
#include "common/text.h"

namespace headway::analyzer {
namespace {

std::string bar(std::string_view style, double percent) {
  return fmt::format("<rect class=\"{}\" width=\"{:.2f}%\" height=\"100%\"/>", style, percent);
}

std::string line(double x1, double y1, double x2, double y2, std::string_view style) {
  return fmt::format("<line x1=\"{:.2f}%\" y1=\"{:.0f}\" x2=\"{:.2f}%\" y2=\"{:.0f}\"{}/>", x1, y1,
                     x2, y2, style);
}

/// From one end of the interval to the other, over a rim that sets it off from the bar.
std::string whisker(double low, double high) {
  std::string out;
  for (std::string_view style : {" class=\"halo\"", ""})
    out += line(low, 8, high, 8, style) + line(low, 3, low, 13, style) +
           line(high, 3, high, 13, style);
  return out;
}

std::string row(std::string_view label, const std::string& shapes, const std::string& value) {
  return fmt::format(
      "<tr><th scope=\"row\">{}</th><td class=\"bar\"><svg aria-hidden=\"true\">{}</svg></td><td "
      "class=\"n\">{}</td></tr>\n",
      escape_html(label), shapes, escape_html(value));
}

/// Columns of a strip: more than a screen has, for zooming.
constexpr int kColumns = 8000;
/// Replaying larger recordings for a picture would double what the report costs.
constexpr std::size_t kMostReplayed = 200'000;
/// A step longer than this many typical ones is cut, because the others could not be seen.
constexpr std::int64_t kMostTypical = 4;

struct Piece {
  Interval when;
  TimeClass time_class = TimeClass::kUnknown;
};

/// A step as a bar; times count from its begin.
struct Strip {
  std::string label;
  std::string note;
  DurationNs length;
  std::vector<Piece> pieces;
};

/// One path per class. A column belongs to the class that fills most of it, or to none if it is mostly empty.
std::string strip_svg(const Strip& strip, DurationNs shown) {
  std::vector<ClassTimes> columns(kColumns);
  const double scale = kColumns / static_cast<double>(shown.ns);
  for (const Piece& piece : strip.pieces) {
    const double from = std::max(0.0, static_cast<double>(piece.when.begin.ns) * scale);
    const double to = std::min<double>(kColumns, static_cast<double>(piece.when.end.ns) * scale);
    for (int c = static_cast<int>(from); c < to; ++c) {
      const double part = std::min(to, c + 1.0) - std::max(from, static_cast<double>(c));
      columns[static_cast<std::size_t>(c)][piece.time_class] +=
          DurationNs{static_cast<std::int64_t>(part * 1e6)};
    }
  }
  auto dominant = [&](int c) -> std::optional<TimeClass> {
    const auto& of = columns[static_cast<std::size_t>(c)].of;
    const auto most = std::max_element(of.begin(), of.end());
    if (columns[static_cast<std::size_t>(c)].total().ns < 500'000) return std::nullopt;
    return static_cast<TimeClass>(most - of.begin());
  };
  std::vector<std::string> paths(time_classes().size());
  for (int from = 0; from < kColumns;) {
    int to = from;
    const std::optional<TimeClass> of = dominant(from);
    while (to < kColumns && dominant(to) == of) ++to;
    if (of)
      paths[static_cast<std::size_t>(*of)] +=
          fmt::format("M{} 0h{}v10h-{}z", from, to - from, to - from);
    from = to;
  }
  std::string svg = fmt::format(
      "<svg viewBox=\"0 0 {} 10\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"{}\">",
      kColumns, escape_html(strip.label));
  for (const TimeClassInfo& c : time_classes()) {
    const std::string& path = paths[static_cast<std::size_t>(c.time_class)];
    if (!path.empty())
      svg += fmt::format("<path d=\"{}\" fill=\"#{:06x}\"><title>{}</title></path>", path, c.rgb,
                         escape_html(c.label));
  }
  return svg + "</svg>";
}

Strip recorded_strip(const Analysis& analysis, const DevicePartition& device,
                     const DeviceStep& step, std::string_view what) {
  Strip strip;
  strip.length = step.interval.length();
  strip.label = fmt::format("{}: step {}", what, analysis.steps.all[step.step].number);
  strip.note = format_duration(strip.length);
  for (std::uint32_t i = 0; i < step.segment_count; ++i) {
    const Segment& segment = device.segments[step.first_segment + i];
    strip.pieces.push_back({{TimeNs{} + (segment.interval.begin - step.interval.begin),
                             TimeNs{} + (segment.interval.end - step.interval.begin)},
                            segment.time_class});
  }
  return strip;
}

/// The typical step as predicted with the fix of the first finding that has one.
std::optional<Strip> predicted_strip(const trace::Trace& trace, const Analysis& analysis,
                                     std::uint32_t& step) {
  const PredictedGain* gain = nullptr;
  for (const Finding& finding : analysis.findings)
    if (!gain && finding.status == Status::kFound && finding.predicted) gain = &*finding.predicted;
  const Fix* fix = gain ? find_fix(gain->fix) : nullptr;
  if (!fix || trace.event_count() > kMostReplayed) return std::nullopt;
  const Predictor predictor(trace, analysis);
  if (!predictor.missing().empty()) return std::nullopt;
  const Proposal proposal = Proposer(predictor).of(*fix);
  if (!proposal.applies) return std::nullopt;
  const PredictedStep predicted = predict_timeline(predictor, proposal.scenario);
  step = predicted.step;
  Strip strip;
  strip.length = predicted.predicted;
  strip.label = fmt::format("With {}", fix->id);
  strip.note = fmt::format("{} predicted", format_duration(strip.length));
  for (const PredictedTask& task : predicted.tasks) {
    if (task.event.kind != EventRef::Kind::kDeviceOp || task.predicted.empty()) continue;
    strip.pieces.push_back({{TimeNs{} + (task.predicted.begin - predicted.recorded.begin),
                             TimeNs{} + (task.predicted.end - predicted.recorded.begin)},
                            analysis.attribution.class_of[task.event.index]});
  }
  if (strip.pieces.empty()) return std::nullopt;
  return strip;
}

}  // namespace

std::string three_steps_html(const trace::Trace& trace, const Analysis& analysis) {
  const DeviceStep* typical = typical_step(analysis);
  if (!typical || analysis.steps.all.empty()) return "";
  const DevicePartition& device = analysis.partitions.front();
  const DeviceStep* slowest = typical;
  for (const DeviceStep& step : device.steps) {
    if (counts(analysis.steps, step) && step.interval.length() > slowest->interval.length())
      slowest = &step;
  }
  std::uint32_t replayed = typical->step;
  const std::optional<Strip> predicted = predicted_strip(trace, analysis, replayed);
  for (const DeviceStep& step : device.steps)
    if (step.step == replayed) typical = &step;
  std::vector<Strip> strips = {recorded_strip(analysis, device, *typical, "Typical"),
                               recorded_strip(analysis, device, *slowest, "Slowest")};
  if (predicted) strips.push_back(*predicted);
  DurationNs shown;
  for (const Strip& strip : strips) shown = std::max(shown, strip.length);
  shown = std::min(shown, strips.front().length * kMostTypical);
  if (shown.ns <= 0) return "";
  std::string out = fmt::format("<div class=\"beside\" data-ns=\"{}\">\n", shown.ns);
  for (const Strip& strip : strips)
    out += fmt::format("<span>{} <span class=\"meta\">{}{}</span></span>{}\n",
                       escape_html(strip.label), escape_html(strip.note),
                       strip.length > shown ? ", cut" : "", strip_svg(strip, shown));
  return out + fmt::format(
                   "<span></span><span class=\"ends\"><span>0</span><span>{}</span></span>"
                   "\n</div>\n{}",
                   format_duration(shown),
                   predicted ? "<p class=\"note\">The predicted step shows device ops only; gaps "
                               "are idle.</p>\n"
                             : "");
}

namespace {

constexpr std::string_view kBarsBegin =
    "<table class=\"gains\"><caption class=\"away\">Mean step as recorded and as "
    "predicted</caption>\n";

/// The longest reach of a bar or an interval, in recorded steps.
double longest(const PredictedGain& gain) {
  return std::max({1.0, 1 - gain.low, ratio(gain.step, gain.recorded)});
}

/// `scale`: percent of the width for a step as recorded.
std::string predicted_row(std::string_view label, const PredictedGain& gain, double scale) {
  // A larger gain means a shorter step.
  const double low = std::max(0.0, 1 - gain.high);
  const double high = std::max(low, 1 - gain.low);
  auto time = [&](double share) {
    return format_duration(
        {static_cast<std::int64_t>(share * static_cast<double>(gain.recorded.ns))});
  };
  return row(
      label,
      bar("then", scale * ratio(gain.step, gain.recorded)) + whisker(scale * low, scale * high),
      fmt::format("{} ({} to {})", format_duration(gain.step), time(low), time(high)));
}

}  // namespace

std::string prediction_html(const Finding& finding) {
  if (!finding.predicted || finding.predicted->recorded.ns <= 0) return "";
  const PredictedGain& gain = *finding.predicted;
  const double scale = 100 / longest(gain);
  return fmt::format("{}{}{}</table>\n", kBarsBegin,
                     row("recorded", bar("was", scale), format_duration(gain.recorded)),
                     predicted_row(fmt::format("with {}", gain.fix), gain, scale));
}

std::string plan_html(const Analysis& analysis) {
  if (analysis.plan.empty() || analysis.plan.front().recorded.ns <= 0) return "";
  double most = 1;
  for (const PredictedGain& gain : analysis.plan) most = std::max(most, longest(gain));
  std::string out = fmt::format(
      "{}{}", kBarsBegin,
      row("recorded", bar("was", 100 / most), format_duration(analysis.plan.front().recorded)));
  for (const PredictedGain& gain : analysis.plan)
    out += predicted_row(fmt::format("+ {}", gain.fix), gain, 100 / most);
  return out + "</table>\n";
}

}  // namespace headway::analyzer
