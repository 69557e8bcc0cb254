// SPDX-License-Identifier: MIT
#include "collector/record/scope/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "common/error.h"
#include "common/shell_word.h"
#include "common/text.h"

namespace headway::record {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

/// Removes a non-negative number from the beginning of `text` and returns it.
std::optional<double> take_number(std::string_view& text) {
  double value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc{} || !std::isfinite(value) || std::signbit(value)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

/// The value of a number with a unit, in the unit of factor 1; nullopt when `text` is not one.
template <std::size_t N>
std::optional<double> with_unit(std::string_view text, const std::array<Unit, N>& units) {
  std::optional<double> number = take_number(text);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  for (const Unit& unit : units) {
    if (number && text == unit.name) return *number * unit.factor;
  }
  return std::nullopt;
}

DurationNs parse_seconds(std::string_view option, const std::string& text, bool may_be_zero) {
  static constexpr std::array<Unit, 5> kUnits = {
      {{"", 1}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}}};
  constexpr double kMost = 1e9;  // 31 years
  std::optional<double> seconds = with_unit(text, kUnits);
  if (!seconds || *seconds > kMost || (!may_be_zero && *seconds <= 0))
    fail_usage("{} '{}': expected seconds{}, such as 30, 1.5, 500ms, 5min or 1h.", option, text,
               may_be_zero ? "" : " above zero");
  return {static_cast<std::int64_t>(std::llround(*seconds * 1e9))};
}

std::int64_t parse_bytes(const std::string& text) {
  static constexpr std::array<Unit, 7> kUnits = {{{"MB", 1e6},
                                                  {"GB", 1e9},
                                                  {"TB", 1e12},
                                                  {"MiB", 1048576.0},
                                                  {"GiB", 1073741824.0},
                                                  {"TiB", 1099511627776.0},
                                                  {"kB", 1e3}}};
  constexpr double kLeast = 1e6;
  constexpr double kMost = 1e15;
  std::optional<double> bytes = with_unit(text, kUnits);
  if (!bytes || *bytes > kMost)
    fail_usage(
        "--max-size '{}': expected a number with one of MB, GB, TB, MiB, GiB, TiB, such as "
        "500MB.",
        text);
  if (*bytes < kLeast)
    fail_usage("--max-size '{}': an empty trace takes about 100 kB; at least 1MB.", text);
  return static_cast<std::int64_t>(*bytes);
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

/// "10:20", "10:", ":20" or "10", both included.
void parse_steps(const std::string& text, ScopeOptions& options) {
  auto fail = [&] {
    fail_usage("--steps '{}': expected step numbers such as 10:20, 10:, :20 or 10.", text);
  };
  std::string_view view = text;
  const std::size_t colon = view.find(':');
  const std::string_view first = view.substr(0, colon);
  const std::string_view last = colon == std::string_view::npos ? first : view.substr(colon + 1);
  if (first.empty() && last.empty()) fail();
  std::optional<std::int64_t> from = first.empty() ? 0 : whole_number(first);
  std::optional<std::int64_t> to = last.empty() ? INT64_MAX : whole_number(last);
  if (!from || !to) fail();
  if (*from > *to) fail_usage("--steps '{}': the first step is after the last one.", text);
  options.choice = Choice::kSteps;
  options.first_step = *from;
  options.last_step = *to;
}

void parse_sample(const std::string& text, ScopeOptions& options) {
  const std::size_t colon = text.find(':');
  std::optional<std::int64_t> some = whole_number(std::string_view(text).substr(0, colon));
  std::optional<std::int64_t> every;
  if (colon != std::string::npos) every = whole_number(std::string_view(text).substr(colon + 1));
  if (!some || !every || *some == 0)
    fail_usage(
        "--sample-steps '{}': expected K:N, such as 5:100 for the first 5 of every 100 steps.",
        text);
  if (*some >= *every)
    fail_usage(
        "--sample-steps '{}': {} of every {} steps selects all; remove the option, or raise the "
        "second number.",
        text, *some, *every);
  options.choice = Choice::kSampledSteps;
  options.sampled = *some;
  options.of_every = *every;
}

void parse_capture(const std::string& text, ScopeOptions& options) {
  constexpr std::string_view kNvtx = "nvtx:";
  if (text == "cuda-profiler") {
    options.choice = Choice::kCudaProfiler;
    return;
  }
  std::string name = text.starts_with(kNvtx) ? text.substr(kNvtx.size()) : "";
  // The last '@' separates: names of ranges contain '@' more often than names of domains.
  if (const std::size_t at = name.rfind('@'); at != std::string::npos) {
    options.domain = name.substr(at + 1);
    name.resize(at);
    if (options.domain->empty())
      fail_usage(
          "--capture-range '{}': the domain name after @ is missing. For a range name ending in @, "
          "replace the @ by *.",
          text);
  }
  if (name.empty())
    fail_usage("--capture-range '{}': expected nvtx:NAME, nvtx:NAME@DOMAIN or cuda-profiler.",
               text);
  options.choice = Choice::kRange;
  options.range = name;
}

void parse_ranks(const std::string& text, ScopeOptions& options) {
  constexpr std::int64_t kMostRanks = 1 << 24;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const std::size_t dash = item.find('-');
    std::optional<std::int64_t> first = whole_number(item.substr(0, dash));
    std::optional<std::int64_t> last =
        dash == std::string_view::npos ? first : whole_number(item.substr(dash + 1));
    if (!first || !last || *first > *last || *last > kMostRanks)
      fail_usage("--ranks '{}': expected ranks such as 0, 0,8 or 0-3,16.", text);
    options.ranks.emplace_back(static_cast<int>(*first), static_cast<int>(*last));
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);
  }
}

/// Refuses two options that each choose the recorded time in their own way.
void refuse_contradictions(const ScopeTexts& texts) {
  struct Given {
    const char* option;
    const std::string& text;
  };
  const Given choices[] = {{"--steps", texts.steps},
                           {"--sample-steps", texts.sample_steps},
                           {"--capture-range", texts.capture_range},
                           {"--ring", texts.ring}};
  const Given* chosen = nullptr;
  for (const Given& choice : choices) {
    if (choice.text.empty()) continue;
    if (chosen)
      fail_usage("{} and {} both select the recording scope; use one of them.", chosen->option,
                 choice.option);
    chosen = &choice;
  }
  const Given spans[] = {{"--delay", texts.delay}, {"--duration", texts.duration}};
  for (const Given& span : spans) {
    if (span.text.empty() || !chosen || &chosen->text == &texts.sample_steps) continue;
    fail_usage(
        "{} and {} both select the recording scope; use one of them. (--sample-steps accepts "
        "--delay and --duration.)",
        chosen->option, span.option);
  }
  if (!texts.ring.empty() && !texts.max_size.empty())
    fail_usage("--ring writes only at the end, so --max-size cannot stop it; use one of them.");
  if (!texts.step_range.empty() && texts.steps.empty() && texts.sample_steps.empty())
    fail_usage("--step-range needs --steps or --sample-steps.");
}

}  // namespace

bool ScopeOptions::wants_rank(const std::optional<int>& rank) const {
  return ranks.empty() || !rank ||
         std::any_of(ranks.begin(), ranks.end(), [&](const std::pair<int, int>& span) {
           return span.first <= *rank && *rank <= span.second;
         });
}

ScopeOptions parse_scope(const ScopeTexts& texts) {
  ScopeOptions options;
  refuse_contradictions(texts);
  if (!texts.delay.empty()) options.delay = parse_seconds("--delay", texts.delay, true);
  if (!texts.duration.empty())
    options.duration = parse_seconds("--duration", texts.duration, false);
  if (!texts.steps.empty()) parse_steps(texts.steps, options);
  if (!texts.sample_steps.empty()) parse_sample(texts.sample_steps, options);
  options.step_range = texts.step_range;
  if (!texts.capture_range.empty()) parse_capture(texts.capture_range, options);
  if (!texts.ring.empty()) {
    options.choice = Choice::kRing;
    options.ring = parse_seconds("--ring", texts.ring, false);
  }
  if (!texts.max_size.empty()) options.max_bytes = parse_bytes(texts.max_size);
  if (!texts.ranks.empty()) parse_ranks(texts.ranks, options);
  options.children = texts.children != "off";
  return options;
}

std::string typed(const ScopeTexts& texts) {
  std::string line;
  auto add = [&](const char* option, const std::string& text) {
    if (!text.empty())
      line += fmt::format("{}{} {}", line.empty() ? "" : " ", option, shell_word(text));
  };
  add("--delay", texts.delay);
  add("--duration", texts.duration);
  add("--steps", texts.steps);
  add("--sample-steps", texts.sample_steps);
  add("--step-range", texts.step_range);
  add("--capture-range", texts.capture_range);
  add("--ring", texts.ring);
  add("--max-size", texts.max_size);
  add("--ranks", texts.ranks);
  if (texts.children == "off") add("--include-children", texts.children);
  return line;
}

}  // namespace headway::record
