// SPDX-License-Identifier: MIT
#include "analyzer/report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/report/facts.h"
#include "common/format.h"
#include "common/text.h"

namespace headway::analyzer {
namespace {

constexpr double kWidth = 960;

std::string color(TimeClass c) {
  return fmt::format("#{:06x}", info(c).rgb);
}

std::string open_svg(double height, std::string_view title, std::string_view description) {
  return fmt::format(
      "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" "
      "aria-label=\"{}\"><title>{}</title><desc>{}</desc>\n",
      kWidth, height, escape_html(title), escape_html(title), escape_html(description));
}

std::string rect(double x, double y, double width, double height, TimeClass c,
                 std::string_view tooltip, double opacity = 1) {
  return fmt::format(
      "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" "
      "fill=\"{}\"{}><title>{}</title></rect>\n",
      x, y, width, height, color(c), opacity < 1 ? fmt::format(" opacity=\"{:.2f}\"", opacity) : "",
      escape_html(tooltip));
}

std::string swatch(TimeClass c) {
  return fmt::format(
      "<svg class=\"swatch\" aria-hidden=\"true\"><rect width=\"100%\" height=\"100%\" "
      "fill=\"{}\"/></svg>",
      color(c));
}

std::string class_text(TimeClass c, DurationNs time, DurationNs total) {
  return fmt::format("{}: {} ({})", info(c).label, format_duration(time),
                     format_percent(ratio(time, total)));
}

/// 1, 2 or 5 times a power of ten, so that an axis of `maximum` gets about `count` marks.
double nice_step(double maximum, int count) {
  double raw = maximum / count;
  double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (double factor : {1.0, 2.0, 5.0, 10.0}) {
    if (raw <= factor * power) return factor * power;
  }
  return 10 * power;
}

std::string axis_text(double ns) {
  return ns == 0 ? "0" : format_duration({static_cast<std::int64_t>(ns)});
}

/// One column of the step chart: a step, or the mean of neighbouring ones.
struct StepColumn {
  std::int64_t number = 0;
  std::string label;
  ClassTimes times;
  bool steady = true;
};

std::vector<StepColumn> columns_of(const Analysis& analysis) {
  constexpr std::size_t kMostColumns = 240;  // a column is then 3 pixels wide
  const std::vector<DeviceStep>& steps = analysis.partitions.front().steps;
  std::size_t each = (steps.size() + kMostColumns - 1) / kMostColumns;
  std::vector<StepColumn> columns;
  for (std::size_t first = 0; first < steps.size(); first += each) {
    std::size_t end = std::min(steps.size(), first + each);
    StepColumn column;
    column.number = analysis.steps.all[steps[first].step].number;
    std::int64_t last = analysis.steps.all[steps[end - 1].step].number;
    column.label = last == column.number ? fmt::format("step {}", last)
                                         : fmt::format("steps {} to {}", column.number, last);
    std::size_t steady = 0;
    for (std::size_t i = first; i < end; ++i) {
      column.times += steps[i].times;
      steady += analysis.steps.all[steps[i].step].steady;
    }
    column.times = mean_of(column.times, static_cast<std::int64_t>(end - first));
    column.steady = 2 * steady >= end - first;
    columns.push_back(std::move(column));
  }
  return columns;
}

std::string device_name(const trace::Trace& trace, trace::DeviceId id) {
  if (!id.valid()) return "Host";
  const trace::Device& device = trace.devices[id.value];
  return device.name.empty() ? fmt::format("Device {}", device.ordinal)
                             : fmt::format("Device {}: {}", device.ordinal, device.name);
}

/// A part of a span between two shares of it, as a bar of the overlap figure.
std::string part(double from, double to, double y, double height, TimeClass c,
                 const std::string& tooltip) {
  if (to <= from) return "";
  return rect(kWidth * from, y, kWidth * (to - from), height, c, tooltip);
}

}  // namespace

std::string waterfall_html(const trace::Trace& trace, const Analysis& analysis) {
  bool has_steps = !analysis.steps.all.empty();
  std::string out;
  for (const DevicePartition& partition : analysis.partitions) {
    DurationNs total = partition.per_steady_step.total();
    if (partition.steady_steps == 0 || total.ns == 0) continue;
    std::string title =
        fmt::format("{}, {}", device_name(trace, partition.device),
                    has_steps ? fmt::format("mean of {} steady steps and the time between them",
                                            partition.steady_steps)
                              : std::string("whole span, no steps"));
    out += fmt::format(
        "<table class=\"fall\">\n<caption>{}</caption>\n<thead class=\"away\"><tr><th "
        "scope=\"col\">Class</th><th scope=\"col\">Bar</th><th scope=\"col\">Time</th><th "
        "scope=\"col\">Share</th></tr></thead>\n<tbody>\n",
        escape_html(title));
    DurationNs before;
    auto row = [&](std::string_view swatch, std::string_view label, std::string_view doc,
                   DurationNs from, DurationNs time, std::string_view fill) {
      out += fmt::format(
          "<tr><th scope=\"row\" title=\"{}\">{}{}</th><td class=\"bar\"><svg "
          "aria-hidden=\"true\"><rect x=\"{:.3f}%\" width=\"{:.3f}%\" height=\"100%\" "
          "fill=\"{}\"/></svg></td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
          escape_html(doc), swatch, escape_html(label), 100 * ratio(from, total),
          100 * ratio(time, total), fill, format_duration(time),
          format_percent(ratio(time, total)));
    };
    for (const TimeClassInfo& c : time_classes()) {
      DurationNs time = partition.per_steady_step[c.time_class];
      if (time.ns == 0) continue;
      row(swatch(c.time_class), c.label, c.doc, before, time, color(c.time_class));
      before += time;
    }
    row("", has_steps ? "Step cost" : "Span", "The classes sum to the step cost.", {}, total,
        "currentColor");
    out += "</tbody></table>\n";
    if (const std::string between = between_note(partition); !between.empty())
      out += fmt::format("<p class=\"note\">Between steps: {}.</p>\n", escape_html(between));
    std::string hidden;
    if (partition.hidden_h2d.ns > 0)
      hidden += fmt::format(" {} of copies to the device.", format_duration(partition.hidden_h2d));
    if (partition.hidden_comm.ns > 0)
      hidden += fmt::format(" {} of communication.", format_duration(partition.hidden_comm));
    if (!hidden.empty())
      out += fmt::format("<p class=\"note\">Hidden under compute, at no cost:{}</p>\n", hidden);
  }
  return out;
}

std::string steps_chart_svg(const Analysis& analysis) {
  if (analysis.partitions.empty() || analysis.steps.all.empty()) return "";
  std::vector<StepColumn> columns = columns_of(analysis);
  if (columns.empty()) return "";
  constexpr double kHeight = 240;
  constexpr double kLeft = 70;
  constexpr double kBottom = 24;
  constexpr double kTop = 8;
  // Long steps are cut at four times the median, so that one checkpoint does not flatten all
  // others.
  DurationNs longest;
  for (const StepColumn& column : columns) longest = std::max(longest, column.times.total());
  DurationNs cut = analysis.median_step.ns > 0 ? analysis.median_step * 4 : longest;
  double top_ns = std::max(1.0, static_cast<double>(std::min(longest, cut).ns) * 1.05);
  double scale = (kHeight - kBottom - kTop) / top_ns;
  double baseline = kHeight - kBottom;
  std::string svg = open_svg(
      kHeight, "Every step",
      "One column per step, stacked by class; pale columns are not steady and not counted.");
  double mark = nice_step(top_ns, 5);
  for (double value = 0; value <= top_ns; value += mark) {
    double y = baseline - value * scale;
    svg += fmt::format(
        "<line x1=\"{:.0f}\" x2=\"{:.0f}\" y1=\"{:.2f}\" y2=\"{:.2f}\" class=\"grid\"/><text "
        "x=\"{:.0f}\" y=\"{:.2f}\" class=\"axis end\">{}</text>\n",
        kLeft, kWidth, y, y, kLeft - 8, y + 4, axis_text(value));
  }
  double pitch = (kWidth - kLeft) / static_cast<double>(columns.size());
  double width = std::min(pitch * 0.85, 48.0);
  std::size_t label_every = static_cast<std::size_t>(std::max(1.0, std::ceil(44 / pitch)));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const StepColumn& column = columns[i];
    double x = kLeft + pitch * static_cast<double>(i) + (pitch - width) / 2;
    double y = baseline;
    for (const TimeClassInfo& c : time_classes()) {
      DurationNs time = column.times[c.time_class];
      double height = std::min(static_cast<double>(time.ns) * scale, y - kTop);
      if (time.ns == 0 || height <= 0) continue;
      y -= height;
      svg += rect(
          x, y, width, height, c.time_class,
          fmt::format("{}: {}", column.label, class_text(c.time_class, time, column.times.total())),
          column.steady ? 1 : 0.35);
    }
    if (i % label_every == 0) {
      svg += fmt::format("<text x=\"{:.2f}\" y=\"{:.0f}\" class=\"axis mid\">{}</text>\n",
                         x + width / 2, kHeight - 6, column.number);
    }
  }
  return svg + "</svg>\n";
}

std::string overlap_svg(const trace::Trace& trace, const Analysis& analysis) {
  constexpr std::size_t kMostDevices = 16;
  constexpr double kRow = 74;
  std::size_t shown = std::min(kMostDevices, analysis.device_views.size());
  if (shown == 0) return "";
  std::string svg = open_svg(
      kRow * static_cast<double>(shown), "Overlap on each device",
      "Each device's span, split into compute, exposed communication, exposed copies and idle "
      "time. The thin bar shows all communication; the part under compute is hidden.");
  for (std::size_t i = 0; i < shown; ++i) {
    const DeviceView& view = analysis.device_views[i];
    if (view.span.ns <= 0) continue;
    double y = kRow * static_cast<double>(i);
    auto tooltip = [&](std::string_view what, DurationNs time) {
      return fmt::format("{}: {} ({})", what, format_duration(time),
                         format_percent(ratio(time, view.span)));
    };
    svg +=
        fmt::format("<text x=\"0\" y=\"{:.0f}\" class=\"axis\">{}</text>\n", y + 13,
                    escape_html(fmt::format(
                        "{}, {}: compute {}, exposed communication {}, exposed copies {}, idle {}",
                        shorten(device_name(trace, view.device), 40), format_duration(view.span),
                        format_percent(ratio(view.compute, view.span)),
                        format_percent(ratio(view.exposed_comm, view.span)),
                        format_percent(ratio(view.exposed_copy, view.span)),
                        format_percent(ratio(view.idle, view.span)))));
    double compute = ratio(view.compute, view.span);
    double comm = compute + ratio(view.exposed_comm, view.span);
    double copy = comm + ratio(view.exposed_copy, view.span);
    svg += part(0, compute, y + 20, 26, TimeClass::kComputeOther, tooltip("Compute", view.compute));
    svg += part(compute, comm, y + 20, 26, TimeClass::kCommTransfer,
                tooltip("Exposed communication", view.exposed_comm));
    svg +=
        part(comm, copy, y + 20, 26, TimeClass::kH2d, tooltip("Exposed copies", view.exposed_copy));
    svg += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.0f}\" width=\"{:.2f}\" height=\"26\" "
        "class=\"idle\"><title>{}</title></rect>\n",
        kWidth * copy, y + 20, std::max(0.0, kWidth * (1 - copy)),
        escape_html(tooltip("Idle", view.idle)));
    svg += part(compute - ratio(view.overlap, view.span), comm, y + 49, 8, TimeClass::kCommTransfer,
                fmt::format("Communication: {}, {} of it hidden", format_duration(view.comm),
                            format_percent(ratio(view.overlap, view.comm))));
  }
  return svg + "</svg>\n";
}

std::string legend_html(const Analysis& analysis) {
  ClassTimes seen;
  for (const DevicePartition& partition : analysis.partitions) {
    for (const DeviceStep& step : partition.steps) seen += step.times;
  }
  std::string html = "<ul class=\"legend\">\n";
  for (const TimeClassInfo& c : time_classes()) {
    if (seen[c.time_class].ns == 0) continue;
    html += fmt::format("<li title=\"{}\">{}{}</li>\n", escape_html(c.doc), swatch(c.time_class),
                        escape_html(c.label));
  }
  return html + "</ul>\n";
}

}  // namespace headway::analyzer
