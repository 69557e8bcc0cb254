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

/// Black or white, whichever contrasts more with the class's colour (WCAG relative luminance).
std::string_view ink_on(TimeClass c) {
  auto channel = [&](int shift) {
    double v = static_cast<double>(info(c).rgb >> shift & 0xff) / 255;
    return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
  };
  double luminance = 0.2126 * channel(16) + 0.7152 * channel(8) + 0.0722 * channel(0);
  return luminance > 0.18 ? "#000" : "#fff";
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

}  // namespace

std::string step_bar_svg(const Analysis& analysis) {
  if (analysis.partitions.empty() || analysis.partitions.front().steady_steps == 0) return "";
  const ClassTimes& times = analysis.partitions.front().per_steady_step;
  DurationNs total = times.total();
  constexpr double kHeight = 44;
  constexpr double kLabelWidth = 64;
  std::string svg = open_svg(
      kHeight, "Mean step by class",
      "A bar cut in proportion to the time per class; the table beside it has the figures.");
  double x = 0;
  for (const TimeClassInfo& c : time_classes()) {
    DurationNs time = times[c.time_class];
    if (time.ns == 0) continue;
    double width = kWidth * ratio(time, total);
    svg += rect(x, 0, width, kHeight, c.time_class, class_text(c.time_class, time, total));
    if (width > kLabelWidth) {
      svg +=
          fmt::format("<text x=\"{:.2f}\" y=\"{:.0f}\" fill=\"{}\" class=\"in\">{}</text>\n", x + 8,
                      kHeight / 2 + 5, ink_on(c.time_class), format_percent(ratio(time, total)));
    }
    x += width;
  }
  return svg + "</svg>\n";
}

std::string steps_chart_svg(const Analysis& analysis) {
  if (analysis.partitions.empty() || analysis.steps.all.empty()) return "";
  const std::vector<DeviceStep>& steps = analysis.partitions.front().steps;
  if (steps.empty()) return "";
  constexpr double kHeight = 240;
  constexpr double kLeft = 70;
  constexpr double kBottom = 24;
  constexpr double kTop = 8;
  // Long steps are cut at four times the median, so that one checkpoint does not flatten all
  // others.
  DurationNs longest;
  for (const DeviceStep& step : steps) longest = std::max(longest, step.interval.length());
  double top_ns = static_cast<double>(std::min(longest, analysis.median_step * 4).ns) * 1.05;
  double scale = (kHeight - kBottom - kTop) / top_ns;
  double baseline = kHeight - kBottom;
  std::string svg = open_svg(
      kHeight, "Every step",
      "One column per step, stacked by class; pale columns are not steady and do not count.");
  double mark = nice_step(top_ns, 5);
  for (double value = 0; value <= top_ns; value += mark) {
    double y = baseline - value * scale;
    svg += fmt::format(
        "<line x1=\"{:.0f}\" x2=\"{:.0f}\" y1=\"{:.2f}\" y2=\"{:.2f}\" class=\"grid\"/><text "
        "x=\"{:.0f}\" y=\"{:.2f}\" class=\"axis end\">{}</text>\n",
        kLeft, kWidth, y, y, kLeft - 8, y + 4,
        value == 0 ? "0" : format_duration({static_cast<std::int64_t>(value)}));
  }
  double pitch = (kWidth - kLeft) / static_cast<double>(steps.size());
  double width = std::min(pitch * 0.85, 48.0);
  std::size_t label_every = static_cast<std::size_t>(std::max(1.0, std::ceil(44 / pitch)));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = analysis.steps.all[steps[i].step];
    double x = kLeft + pitch * static_cast<double>(i) + (pitch - width) / 2;
    double y = baseline;
    for (const TimeClassInfo& c : time_classes()) {
      DurationNs time = steps[i].times[c.time_class];
      double height = std::min(static_cast<double>(time.ns) * scale, y - kTop);
      if (time.ns == 0 || height <= 0) continue;
      y -= height;
      svg += rect(x, y, width, height, c.time_class,
                  fmt::format("step {}: {}", step.number,
                              class_text(c.time_class, time, steps[i].interval.length())),
                  step.steady ? 1 : 0.35);
    }
    if (i % label_every == 0) {
      svg += fmt::format("<text x=\"{:.2f}\" y=\"{:.0f}\" class=\"axis mid\">{}</text>\n",
                         x + width / 2, kHeight - 6, step.number);
    }
  }
  return svg + "</svg>\n";
}

std::string step_band_svg(const Analysis& analysis) {
  const DeviceStep* step = typical_step(analysis);
  if (!step) return "";
  constexpr double kHeight = 70;
  constexpr double kBand = 44;
  DurationNs length = step->interval.length();
  std::string svg = open_svg(kHeight, "The typical step over time",
                             "The device's time from left to right in the colours of the classes.");
  const std::vector<Segment>& segments = analysis.partitions.front().segments;
  // Segments below a quarter of a pixel are merged into the class that fills most of the pixel.
  constexpr int kPixels = 1920;
  std::vector<ClassTimes> pixels(kPixels);
  for (std::uint32_t i = 0; i < step->segment_count; ++i) {
    const Segment& segment = segments[step->first_segment + i];
    double from = ratio(segment.interval.begin - step->interval.begin, length) * kPixels;
    double to = ratio(segment.interval.end - step->interval.begin, length) * kPixels;
    for (int p = static_cast<int>(from); p < std::min(kPixels, static_cast<int>(std::ceil(to)));
         ++p) {
      double overlap = std::min(to, p + 1.0) - std::max(from, static_cast<double>(p));
      pixels[static_cast<std::size_t>(p)][segment.time_class] +=
          DurationNs{static_cast<std::int64_t>(overlap * 1e6)};
    }
  }
  auto dominant = [&](int p) {
    const auto& of = pixels[static_cast<std::size_t>(p)].of;
    return static_cast<TimeClass>(std::max_element(of.begin(), of.end()) - of.begin());
  };
  for (int p = 0; p < kPixels;) {
    int q = p;
    while (q < kPixels && dominant(q) == dominant(p)) ++q;
    double x = kWidth * p / kPixels;
    svg += rect(x, 0, kWidth * (q - p) / kPixels, kBand, dominant(p), info(dominant(p)).label);
    p = q;
  }
  double mark = nice_step(static_cast<double>(length.ns), 8);
  for (double value = 0; value <= static_cast<double>(length.ns) * 0.97; value += mark) {
    double x = kWidth * value / static_cast<double>(length.ns);
    svg += fmt::format(
        "<line x1=\"{0:.2f}\" x2=\"{0:.2f}\" y1=\"{1:.0f}\" y2=\"{2:.0f}\" class=\"tick\"/><text "
        "x=\"{3:.2f}\" y=\"{4:.0f}\" class=\"axis\">{5}</text>\n",
        x, kBand, kBand + 6, x + 3, kHeight - 6,
        value == 0 ? "0" : format_duration({static_cast<std::int64_t>(value)}));
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
    html += fmt::format("<li title=\"{}\"><span style=\"background:{}\"></span>{}</li>\n",
                        escape_html(c.doc), color(c.time_class), escape_html(c.label));
  }
  return html + "</ul>\n";
}

}  // namespace headway::analyzer
