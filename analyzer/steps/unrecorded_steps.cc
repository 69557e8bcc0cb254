// SPDX-License-Identifier: MIT
#include "analyzer/steps/unrecorded_steps.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <string_view>

#include "common/statistics.h"

namespace headway::analyzer {
namespace {

/// The device still works on earlier launches, so this many first steps of a stretch do not represent it.
constexpr std::int64_t kTransition = 2;
/// This many steps before and after a span are compared with it.
constexpr std::int64_t kBeside = 8;
constexpr std::size_t kFewest = 4;

std::optional<StepSpan> parse_span(std::string_view text) {
  StepSpan span;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, span.first);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return std::nullopt;
  const auto last = std::from_chars(first.ptr + 1, end, span.last);
  if (last.ec != std::errc() || last.ptr != end || span.first < 0 || span.last < span.first)
    return std::nullopt;
  return span;
}

/// Lengths of the steps numbered `first` to `last`, each to the begin of the next one.
std::vector<double> cycles(std::span<const Step> steps, std::int64_t first, std::int64_t last) {
  std::vector<double> lengths;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    const Step& step = steps[i];
    if (step.number < first || step.number > last || steps[i + 1].number != step.number + 1)
      continue;
    lengths.push_back(static_cast<double>((steps[i + 1].host.begin - step.host.begin).ns));
  }
  return lengths;
}

/// Standard error of the median of `values`, from their median absolute deviation.
double error_of_median(std::vector<double> values) {
  constexpr double kSigmas = 1.4826 * 1.2533;
  if (values.empty()) return 0;
  const double middle = median(values);
  for (double& value : values) value = std::fabs(value - middle);
  return kSigmas * median(values) / std::sqrt(static_cast<double>(values.size()));
}

}  // namespace

std::vector<StepSpan> unrecorded_spans(const trace::Trace& trace) {
  // The program repeats the setting with each further span.
  std::string_view text;
  for (const auto& [name, value] : trace.settings)
    if (name == "unrecorded_steps" && value.size() > text.size()) text = value;
  std::vector<StepSpan> spans;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (const std::optional<StepSpan> span = parse_span(text.substr(0, end)))
      spans.push_back(*span);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return spans;
}

std::optional<double> take_out_unrecorded(std::vector<Step>& steps,
                                          const std::vector<StepSpan>& spans) {
  std::vector<double> shares;
  std::vector<double> without;  // all spans, as shares of the recorded steps beside
  std::vector<double> with;
  for (const StepSpan& span : spans) {
    const std::vector<double> its = cycles(steps, span.first + kTransition, span.last);
    std::vector<double> beside = cycles(steps, span.first - 1 - kBeside, span.first - 2);
    const std::vector<double> after =
        cycles(steps, span.last + 1 + kTransition, span.last + kTransition + kBeside);
    beside.insert(beside.end(), after.begin(), after.end());
    if (its.size() < kFewest || beside.size() < kFewest) continue;
    const double usual = median(beside);
    if (usual <= 0) continue;
    shares.push_back(median(its) / usual);
    for (const double length : its) without.push_back(length / usual);
    for (const double length : beside) with.push_back(length / usual);
  }
  std::erase_if(steps, [&](const Step& step) {
    return std::ranges::any_of(spans, [&](const StepSpan& span) {
      return step.number >= span.first - 1 && step.number <= span.last;
    });
  });
  if (shares.empty()) return std::nullopt;
  constexpr double kCertain = 2;
  const double share = median(shares);
  const double doubt = std::hypot(error_of_median(without), error_of_median(with));
  if (1 - share <= kCertain * doubt) return std::nullopt;
  return share;
}

}  // namespace headway::analyzer
