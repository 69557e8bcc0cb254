// SPDX-License-Identifier: MIT
#include "gui/models/timeline/ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "common/error.h"

namespace headway::gui {
namespace {

struct TimeUnit {
  std::int64_t ns;
  const char* name;
};
constexpr std::array<TimeUnit, 4> kUnits = {
    {{1, "ns"}, {1'000, "µs"}, {1'000'000, "ms"}, {1'000'000'000, "s"}}};

/// The largest unit in which the step is at least 1.
TimeUnit unit_of(std::int64_t step) {
  TimeUnit best = kUnits[0];
  for (TimeUnit unit : kUnits) {
    if (step >= unit.ns) best = unit;
  }
  return best;
}

/// 1, 2 or 5 times a power of ten, at least `minimum`.
std::int64_t round_step(double minimum) {
  std::int64_t step = 1;
  while (true) {
    for (int factor : {1, 2, 5}) {
      if (static_cast<double>(step) * factor >= minimum) return step * factor;
    }
    if (step > INT64_MAX / 100) return step;
    step *= 10;
  }
}

std::int64_t floor_to(std::int64_t value, std::int64_t step) {
  std::int64_t quotient = value / step;
  if (value % step < 0) --quotient;
  return quotient * step;
}

/// 1234567 -> "1 234 567" with thin spaces.
std::string grouped(std::int64_t value) {
  std::string digits = std::to_string(std::llabs(value));
  for (std::ptrdiff_t i = static_cast<std::ptrdiff_t>(digits.size()) - 3; i > 0; i -= 3)
    digits.insert(static_cast<std::size_t>(i), "\u2009");
  return (value < 0 ? "\u2212" : "") + digits;
}

}  // namespace

std::string format_time(TimeNs time, DurationNs resolution) {
  int decimals = 0;
  for (std::int64_t scale = 1'000'000'000; scale > std::max<std::int64_t>(1, resolution.ns);
       scale /= 10)
    ++decimals;
  decimals = (decimals + 2) / 3 * 3;  // whole groups of three digits are easier to read
  std::int64_t whole = time.ns / 1'000'000'000;
  std::int64_t rest = std::llabs(time.ns % 1'000'000'000);
  std::string fraction = fmt::format("{:09}", rest).substr(0, static_cast<std::size_t>(decimals));
  constexpr std::string_view kThinSpace = "\u2009";
  for (std::size_t i = 3; i < fraction.size(); i += 3 + kThinSpace.size())
    fraction.insert(i, kThinSpace);
  std::string sign = time.ns < 0 ? "\u2212" : "";
  return sign + grouped(std::llabs(whole)) + (decimals ? "." + fraction : "") + " s";
}

Ticks make_ticks(const TimeMapping& mapping, int label_pixels) {
  Ticks result;
  std::int64_t major = round_step(label_pixels * mapping.ns_per_pixel());
  // Five minor steps per major step, but four if the major step begins with 2 (0.5 is easier than
  // 0.4).
  std::int64_t leading = major;
  while (leading >= 10) leading /= 10;
  std::int64_t minor = major / (leading == 2 ? 4 : 5);
  if (minor == 0 || major % minor != 0) minor = major;
  TimeUnit unit = unit_of(major);
  Interval visible = mapping.visible();
  // With more than four digits before the unit, labels count from a round number of the next unit.
  std::int64_t coarse = unit.ns * 1000;
  std::int64_t base = 0;
  if (unit.ns < 1'000'000'000 && std::llabs(visible.end.ns) >= 10 * coarse) {
    base = floor_to(visible.begin.ns, coarse);
    result.base = format_time({base}, {coarse});
  }
  for (std::int64_t t = floor_to(visible.begin.ns, minor); t <= visible.end.ns; t += minor) {
    bool is_major = floor_to(t, major) == t;
    std::string label;
    if (is_major) {
      label = fmt::format("{}{} {}", result.base.empty() ? "" : "+", grouped((t - base) / unit.ns),
                          unit.name);
    }
    result.ticks.push_back({{t}, is_major, std::move(label)});
  }
  return result;
}

Interval parse_range(std::string_view text) {
  auto fail = [&] {
    fail_usage(
        "range '{}': expected two times in order, as in 1.2s..1.5s or 300ms..420ms (units ns, us, "
        "ms, s; without a unit: s).",
        text);
  };
  auto parse = [&](std::string_view part) {
    double value = 0;
    auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    std::string_view unit(end, static_cast<std::size_t>(part.data() + part.size() - end));
    double scale = unit == "ns"                   ? 1
                   : unit == "us" || unit == "µs" ? 1e3
                   : unit == "ms"                 ? 1e6
                   : unit == "s" || unit.empty()  ? 1e9
                                                  : 0;
    if (error != std::errc{} || scale == 0 || !(std::fabs(value * scale) < 3e17)) fail();
    return TimeNs{std::llround(value * scale)};
  };
  std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) fail();
  Interval range{parse(text.substr(0, dots)), parse(text.substr(dots + 2))};
  if (range.empty()) fail();
  return range;
}

}  // namespace headway::gui
