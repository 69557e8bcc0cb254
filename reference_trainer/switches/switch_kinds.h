// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/text.h"
#include "reference_trainer/switches/switches.h"

namespace headway::trainer {

/// The parameters that the makers below have in common.
struct Declaration {
  std::string_view name;  ///< as typed behind --, with underscores
  std::string_view area;  ///< heading in --help and the reference
  std::string_view help;
  std::string_view provokes = {};  ///< rules of the report that bad values trigger
  Tuning tune = {};
};

/// For Declaration::tune: `headway tune` may try these values, as far as the settings `fits`.
inline Tuning try_values(std::vector<std::string> values,
                         bool (*matters)(const Settings&) = nullptr,
                         bool (*fits)(const Settings&) = nullptr) {
  return {
      .how = Tuning::How::kValues, .values = std::move(values), .matters = matters, .fits = fits};
}
/// `headway tune` may double and halve the value within these bounds.
inline Tuning try_doubling(std::int64_t least, std::int64_t most,
                           bool (*matters)(const Settings&) = nullptr) {
  return {.how = Tuning::How::kDoubling, .least = least, .most = most, .matters = matters};
}
/// `headway tune` may try these values when it is allowed to change the arithmetic.
inline Tuning try_when_allowed(std::vector<std::string> values,
                               bool (*matters)(const Settings&) = nullptr) {
  return {.how = Tuning::How::kValues,
          .values = std::move(values),
          .when_allowed = true,
          .matters = matters};
}

/// Throws Error(kUsage) that names the switch, the value and the legal ones.
[[noreturn]] inline void fail_value(std::string_view name, const std::string& value,
                                    const std::string& legal, const std::string& hint = {}) {
  fail_usage("{}: '{}' is not a legal value.{} Legal values: {}.", name, escape_terminal(value),
             hint, legal);
}

template <class T>
using Choices = std::vector<std::pair<std::string, T>>;

/// One of a few words.
template <class T>
Switch choice(Declaration d, T Settings::*member, Choices<T> choices) {
  std::string values;
  std::vector<std::string> words;
  for (const auto& [word, value] : choices) {
    values += (values.empty() ? "" : ", ") + word;
    words.push_back(word);
  }
  auto get = [=](const Settings& s) {
    const auto found = std::ranges::find(choices, s.*member, &std::pair<std::string, T>::second);
    return found->first;
  };
  auto set = [=](Settings& s, const std::string& value) {
    const auto found = std::ranges::find(choices, value, &std::pair<std::string, T>::first);
    if (found == choices.end()) {
      std::string hint;
      for (const std::string& near : closest(value, words, 1))
        hint = " Did you mean '" + near + "'?";
      fail_value(d.name, value, values, hint);
    }
    s.*member = found->second;
  };
  return {d.name, d.area, values, d.help, d.provokes, get, set, d.tune};
}

/// "on" or "off".
inline Switch flag(Declaration d, bool Settings::*member) {
  return choice<bool>(d, member, {{"on", true}, {"off", false}});
}

/// Parses the whole of `text` as a number; false when it is not one.
template <class T>
bool parse_number(const std::string& text, T& number) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size();
}

/// An integer from `least` to `most`, both legal. `zero_means`: the meaning of 0, for the
/// reference.
inline Switch integer(Declaration d, std::int64_t Settings::*member, std::int64_t least,
                      std::int64_t most, std::string_view zero_means = {}) {
  std::string values = fmt::format("{} to {}", least, most);
  if (!zero_means.empty()) values += fmt::format(" (0: {})", zero_means);
  auto get = [=](const Settings& s) { return std::to_string(s.*member); };
  auto set = [=](Settings& s, const std::string& value) {
    std::int64_t number = 0;
    if (!parse_number(value, number) || number < least || number > most)
      fail_value(d.name, value, values);
    s.*member = number;
  };
  return {d.name, d.area, values, d.help, d.provokes, get, set, d.tune};
}

/// Likewise a number with decimals; NaN is refused.
inline Switch number(Declaration d, double Settings::*member, double least, double most,
                     std::string_view zero_means = {}) {
  std::string values = fmt::format("{} to {}", least, most);
  if (!zero_means.empty()) values += fmt::format(" (0: {})", zero_means);
  auto get = [=](const Settings& s) { return fmt::format("{}", s.*member); };
  auto set = [=](Settings& s, const std::string& value) {
    double parsed = 0;
    if (!parse_number(value, parsed) || !(parsed >= least && parsed <= most))
      fail_value(d.name, value, values);
    s.*member = parsed;
  };
  return {d.name, d.area, values, d.help, d.provokes, get, set, d.tune};
}

/// Any text; `values` describes it in the reference.
inline Switch text(Declaration d, std::string Settings::*member, std::string values) {
  auto get = [=](const Settings& s) { return s.*member; };
  auto set = [=](Settings& s, const std::string& value) { s.*member = value; };
  return {d.name, d.area, std::move(values), d.help, d.provokes, get, set, d.tune};
}

/// An integer from a list.
inline Switch one_of(Declaration d, std::int64_t Settings::*member,
                     std::vector<std::int64_t> legal) {
  Choices<std::int64_t> choices;
  for (std::int64_t value : legal) choices.emplace_back(std::to_string(value), value);
  return choice<std::int64_t>(d, member, std::move(choices));
}

}  // namespace headway::trainer
