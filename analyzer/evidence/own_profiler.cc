// SPDX-License-Identifier: MIT
#include "analyzer/evidence/own_profiler.h"

#include <charconv>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "common/statistics.h"

namespace headway::analyzer {
namespace {

/// "3-8 20- with_stack", parsed: spans of steps, of which the last may have no end, then options.
struct Told {
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;  ///< [first, end)
  std::string options;
};

bool add_span(std::string_view word, Told& told) {
  std::int64_t first = 0;
  std::int64_t end = std::numeric_limits<std::int64_t>::max();
  const char* last = word.data() + word.size();
  const auto at = std::from_chars(word.data(), last, first);
  if (at.ec != std::errc() || at.ptr == last || *at.ptr != '-') return false;
  if (at.ptr + 1 != last && std::from_chars(at.ptr + 1, last, end).ec != std::errc()) return false;
  told.spans.emplace_back(first, end);
  return true;
}

Told told_by(const trace::Trace& trace) {
  // The hook records the setting again at each begin and end; the last value counts.
  std::string_view text;
  for (const auto& [name, value] : trace.settings)
    if (name == "torch.profiler") text = value;
  Told told;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    if (!word.empty() && !add_span(word, told))
      told.options.append(told.options.empty() ? "" : ", ").append(word);
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return told;
}

bool contains(const Told& told, std::int64_t step) {
  for (const auto& [first, end] : told.spans)
    if (step >= first && step < end) return true;
  return false;
}

}  // namespace

OwnProfiler own_profiler(const trace::Trace& trace, const Steps& steps) {
  OwnProfiler result;
  const Told told = told_by(trace);
  if (told.spans.empty()) return result;
  result.options = told.options;
  std::vector<double> with;
  std::vector<double> without;
  for (const std::uint32_t index : steps.steady) {
    const Step& step = steps.all[index];
    (contains(told, step.number) ? with : without)
        .push_back(static_cast<double>(step.cycle().length().ns));
  }
  result.steady = std::ssize(with);
  result.without = std::ssize(without);
  if (!with.empty()) result.median = {static_cast<std::int64_t>(median(with))};
  if (!without.empty()) result.median_without = {static_cast<std::int64_t>(median(without))};
  return result;
}

bool is_profiled(const trace::Trace& trace, std::int64_t step) {
  return contains(told_by(trace), step);
}

}  // namespace headway::analyzer
