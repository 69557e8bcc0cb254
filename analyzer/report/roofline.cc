// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/report/figures.h"
#include "analyzer/stats/tables.h"
#include "common/text.h"

namespace headway::analyzer {
namespace {

constexpr double kWidth = 960;
constexpr double kHeight = 320;
constexpr double kLeft = 96;
constexpr double kBottom = 40;
constexpr double kTop = 12;

struct Point {
  std::string name;
  double intensity = 0;  ///< FLOP per byte
  double rate = 0;       ///< FLOP per second
  double share = 0;      ///< of the step
};

/// The types of ops of which both bytes and operations are known, by falling time.
std::vector<Point> points_of(const trace::Trace& trace, const Analysis& analysis) {
  constexpr std::size_t kMost = 24;
  Table table = op_type_table(trace, analysis);
  auto column = [&](std::string_view id) {
    return static_cast<std::size_t>(std::find_if(table.columns.begin(), table.columns.end(),
                                                 [&](const Column& c) { return c.id == id; }) -
                                    table.columns.begin());
  };
  std::size_t phase = column("phase");
  std::size_t share = column("share");
  std::size_t bytes = column("bytes_per_s");
  std::size_t flops = column("flop_per_s");
  std::vector<Point> points;
  for (const auto& row : table.rows) {
    const double* byte_rate = std::get_if<double>(&row[bytes]);
    const double* flop_rate = std::get_if<double>(&row[flops]);
    if (!byte_rate || !flop_rate || *byte_rate <= 0 || *flop_rate <= 0) continue;
    std::string name = std::get<std::string>(row[0]);
    if (const auto& of = std::get<std::string>(row[phase]); !of.empty()) name += " · " + of;
    points.push_back({name, *flop_rate / *byte_rate, *flop_rate, std::get<double>(row[share])});
    if (points.size() == kMost) break;
  }
  return points;
}

/// A logarithmic axis from `low` to `high`, both powers of ten, onto pixels.
struct Axis {
  double low = 0;  ///< exponents
  double high = 1;
  double from = 0;
  double to = 0;
  double at(double value) const {
    return from + (std::log10(value) - low) / (high - low) * (to - from);
  }
};

Axis axis_over(double least, double largest, double from, double to) {
  Axis axis{std::floor(std::log10(least)), std::ceil(std::log10(largest)), from, to};
  if (axis.high - axis.low < 1) axis.high = axis.low + 1;
  return axis;
}

std::string unit_text(double value, std::string_view unit) {
  static constexpr std::pair<double, const char*> kScales[] = {
      {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}};
  for (const auto& [scale, prefix] : kScales) {
    if (value >= scale * 0.999) return fmt::format("{:.3g} {}{}", value / scale, prefix, unit);
  }
  return fmt::format("{:.3g} {}", value, unit);
}

std::string grid(const Axis& x, const Axis& y) {
  std::string svg;
  for (double e = x.low; e <= x.high; ++e) {
    double at = x.at(std::pow(10.0, e));
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" "
        "class=\"grid\"/><text x=\"{0:.1f}\" y=\"{3:.1f}\" class=\"axis mid\">{4:g}</text>\n",
        at, y.to, y.from, y.from + 16, std::pow(10.0, e));
  }
  for (double e = y.low; e <= y.high; ++e) {
    double at = y.at(std::pow(10.0, e));
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" "
        "class=\"grid\"/><text x=\"{3:.1f}\" y=\"{4:.1f}\" class=\"axis end\">{5}</text>\n",
        x.from, x.to, at, x.from - 8, at + 4, unit_text(std::pow(10.0, e), "FLOP/s"));
  }
  return svg +
         fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"axis end\">FLOP per byte</text>\n",
                     x.to, kHeight - 4);
}

struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
  bool meets(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

/// The name beside a point, where nothing is in the way. Without room there is none; the tooltip has
/// it. Points come by falling time, so the important ones get the room.
std::string label(const Point& point, double x, double y, std::vector<Box>& taken) {
  constexpr double kCharacter = 7;  // wide, of a 12 pixel font
  std::string name = shorten(point.name, 36);
  double width = kCharacter * static_cast<double>(count_columns(name));
  double radius = 4 + 18 * std::sqrt(std::clamp(point.share, 0.0, 1.0));
  double gap = radius + 4;
  const std::pair<double, double> places[] = {{x + gap, y},
                                              {x - gap - width, y},
                                              {x - width / 2, y - gap - 6},
                                              {x - width / 2, y + gap + 6}};
  for (const auto& [left, middle] : places) {
    Box box{left, middle - 7, left + width, middle + 7};
    bool inside =
        box.left > kLeft && box.right < kWidth && box.top > 0 && box.bottom < kHeight - kBottom;
    bool free = std::none_of(taken.begin(), taken.end(),
                             [&](const Box& other) { return box.meets(other); });
    if (!inside || !free) continue;
    taken.push_back(box);
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", left, middle + 4,
                       escape_html(name));
  }
  return "";
}

}  // namespace

std::string roofline_svg(const trace::Trace& trace, const Analysis& analysis) {
  std::vector<Point> points = points_of(trace, analysis);
  if (points.empty()) return "";
  std::int64_t bandwidth = 0;
  for (const DeviceView& view : analysis.device_views)
    bandwidth = std::max(bandwidth, trace.devices[view.device.value].memory_bytes_per_second);
  auto [least_x, most_x] =
      std::minmax_element(points.begin(), points.end(),
                          [](const Point& a, const Point& b) { return a.intensity < b.intensity; });
  auto [least_y, most_y] = std::minmax_element(
      points.begin(), points.end(), [](const Point& a, const Point& b) { return a.rate < b.rate; });
  Axis x = axis_over(least_x->intensity, most_x->intensity, kLeft, kWidth - 12);
  Axis y = axis_over(least_y->rate, most_y->rate, kHeight - kBottom, kTop);
  std::string svg = fmt::format(
      "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"Roofline\"><title>Roofline"
      "</title><desc>Types of ops by arithmetic intensity and rate; larger circles take more of "
      "the "
      "step.</desc>\n",
      kWidth, kHeight);
  svg += grid(x, y);
  if (bandwidth > 0) {
    // The roof leaves the figure at the top or at the right, whichever comes first.
    auto roof = [&](double intensity) { return intensity * static_cast<double>(bandwidth); };
    double first = std::max(std::pow(10.0, x.low), std::pow(10.0, y.low) / roof(1));
    double last = std::min(std::pow(10.0, x.high), std::pow(10.0, y.high) / roof(1));
    if (first < last)
      svg += fmt::format(
          "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"roof\"><title>"
          "Memory bandwidth: {}</title></line>\n",
          x.at(first), y.at(roof(first)), x.at(last), y.at(roof(last)),
          unit_text(static_cast<double>(bandwidth), "B/s"));
  }
  std::vector<Box> taken;
  for (const Point& point : points) {
    double radius = 4 + 18 * std::sqrt(std::clamp(point.share, 0.0, 1.0));
    double at_x = x.at(point.intensity);
    double at_y = y.at(point.rate);
    svg += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" class=\"point\"><title>{}: {}, {:.3g} "
        "FLOP per byte, {:.1f} % of the step</title></circle>\n",
        at_x, at_y, radius, escape_html(point.name), unit_text(point.rate, "FLOP/s"),
        point.intensity, 100 * point.share);
    taken.push_back({at_x - radius, at_y - radius, at_x + radius, at_y + radius});
  }
  for (const Point& point : points)
    svg += label(point, x.at(point.intensity), y.at(point.rate), taken);
  return svg + "</svg>\n";
}

}  // namespace headway::analyzer
