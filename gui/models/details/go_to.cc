// SPDX-License-Identifier: MIT
#include "gui/models/details/go_to.h"

#include <charconv>
#include <cmath>
#include <string>

#include "common/error.h"
#include "gui/models/text/display_text.h"
#include "gui/models/timeline/ticks.h"

namespace headway::gui {
namespace {

/// Removes blanks of any width and underscores, converts to lower case and "µ" to "u".
std::string plain(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string_view rest = text.substr(i);
    if (rest.starts_with("\u2009") || rest.starts_with("\u202f")) {
      i += 2;
    } else if (rest.starts_with("\u00a0")) {
      ++i;
    } else if (rest.starts_with("\u2212")) {
      result += '-';
      i += 2;
    } else if (rest.starts_with("\u00b5") || rest.starts_with("\u03bc")) {
      result += 'u';
      ++i;
    } else if (text[i] != ' ' && text[i] != '_' && text[i] != '\t') {
      result += text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] - 'A' + 'a') : text[i];
    }
  }
  return result;
}

/// "12.5ms" as nanoseconds; none for text that is not a time.
std::optional<std::int64_t> parse_duration(std::string_view text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  double scale = unit == "ns"                   ? 1
                 : unit == "us"                 ? 1e3
                 : unit == "ms"                 ? 1e6
                 : unit == "s" || unit.empty()  ? 1e9
                 : unit == "min" || unit == "m" ? 60e9
                                                : 0;
  if (error != std::errc{} || scale == 0 || !(std::fabs(value * scale) < 3e17)) return std::nullopt;
  return std::llround(value * scale);
}

class Parser {
 public:
  Parser(const TimelineModel& model, std::string_view typed, TimeNs here)
      : model_(model), typed_(display_text(typed, 60)), text_(plain(typed)), here_(here) {}

  Destination parse() const {
    std::string_view text = text_;
    if (text == "start" || text == "begin") return at(model_.bounds.begin);
    if (text == "end") return at(model_.bounds.end);
    if (text.starts_with("step")) return step(text.substr(4));
    if (text.starts_with("#")) return step(text.substr(1));
    if (text.ends_with("%")) return share(text.substr(0, text.size() - 1));
    if (std::size_t dots = text.find(".."); dots != text.npos)
      return range(text.substr(0, dots), text.substr(dots + 2));
    return at(time(text));
  }

 private:
  [[noreturn]] void fail() const {
    fail_usage(
        "'{}' is not a place: expected a time (12.5s, 300ms, 1.2s..1.5s), a distance (+3ms, "
        "-200us), a step (step 7), a share (50%), start or end.",
        typed_);
  }

  Destination at(TimeNs t) const {
    const Interval& all = model_.bounds;
    if (t < all.begin || t > all.end) {
      fail_usage("{} is outside the trace, which spans {} to {}.", typed_,
                 format_time(all.begin, {1'000'000}), format_time(all.end, {1'000'000}));
    }
    return {{t, t}, {}};
  }

  TimeNs time(std::string_view text) const {
    const bool relative = text.starts_with("+") || text.starts_with("-");
    const bool back = text.starts_with("-");
    std::optional<std::int64_t> ns = parse_duration(relative ? text.substr(1) : text);
    if (!ns || (relative && *ns < 0)) fail();
    return relative ? here_ + DurationNs{back ? -*ns : *ns} : TimeNs{*ns};
  }

  Destination range(std::string_view from, std::string_view to) const {
    std::optional<std::int64_t> begin = parse_duration(from);
    std::optional<std::int64_t> end =
        to.starts_with("+") ? parse_duration(to.substr(1)) : parse_duration(to);
    if (!begin || !end) fail();
    if (to.starts_with("+")) *end += *begin;
    if (*end <= *begin) fail();
    at({*begin});
    return {{{*begin}, {*end}}, {}};
  }

  Destination share(std::string_view text) const {
    double value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !(value >= 0 && value <= 100))
      fail();
    double length = static_cast<double>(model_.bounds.length().ns);
    return at(model_.bounds.begin + DurationNs{std::llround(length * value / 100)});
  }

  Destination step(std::string_view text) const {
    std::int64_t number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) fail();
    // Prefers the steps of the ruler, which are those of the first rank.
    for (std::uint32_t i = 0; i < model_.steps.entries(); ++i) {
      for (std::uint32_t row : model_.steps.rows(i)) {
        const analyzer::Step& step = model_.analysis->steps.all[row];
        if (step.number == number) return {step.host, Target::step(row)};
      }
    }
    if (model_.steps.entries() == 0) fail_usage("This trace has no steps.");
    auto number_of = [&](std::uint32_t entry) {
      return model_.analysis->steps.all[model_.steps.rows(entry).front()].number;
    };
    fail_usage("There is no step {}: the trace has steps {} to {}.", number, number_of(0),
               number_of(static_cast<std::uint32_t>(model_.steps.entries() - 1)));
  }

  const TimelineModel& model_;
  std::string typed_;
  std::string text_;
  TimeNs here_;
};

}  // namespace

Destination parse_destination(const TimelineModel& model, std::string_view text, TimeNs here) {
  return Parser(model, text, here).parse();
}

}  // namespace headway::gui
