// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/report/figures.h"
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

}  // namespace

std::string prediction_html(const Finding& finding) {
  if (!finding.predicted || finding.predicted->recorded.ns <= 0) return "";
  const PredictedGain& gain = *finding.predicted;
  // A gain of more means a shorter step.
  const double low = std::max(0.0, 1 - gain.high);
  const double high = std::max(low, 1 - gain.low);
  const double then = ratio(gain.step, gain.recorded);
  const double scale = 100 / std::max({1.0, high, then});
  auto time = [&](double share) {
    return format_duration(
        {static_cast<std::int64_t>(share * static_cast<double>(gain.recorded.ns))});
  };
  return "<table class=\"gains\"><caption class=\"away\">Mean step as recorded and as "
         "predicted</caption>\n" +
         row("recorded", bar("was", scale), format_duration(gain.recorded)) +
         row(fmt::format("with {}", gain.fix),
             bar("then", scale * then) + whisker(scale * low, scale * high),
             fmt::format("{} ({} to {})", format_duration(gain.step), time(low), time(high))) +
         "</table>\n";
}

}  // namespace headway::analyzer
