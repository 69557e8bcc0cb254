// SPDX-License-Identifier: MIT
#include "cli/tune/change.h"

#include <algorithm>
#include <sstream>

#include "common/shell_word.h"

namespace headway::tune {
namespace {

/// Normalises a name as the trainer does: '-' and '_' are the same.
std::string normal_name(std::string_view name) {
  std::string result(name);
  std::ranges::replace(result, '-', '_');
  return result;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, normal_name(name)) != names.end();
}

/// The number of arguments from `at` on that form an option of `names`; 0: it is another argument.
std::size_t length_of_option(const std::vector<std::string>& arguments, std::size_t at,
                             const std::vector<std::string>& names) {
  const std::string_view word = arguments[at];
  if (!word.starts_with("--") || word.size() < 3) return 0;
  const std::string_view name = word.substr(2, word.find('=') - 2);
  const bool joined = word.find('=') != std::string_view::npos;
  std::string_view named = name;
  if (name == "set") {
    std::string_view assignment = joined                      ? word.substr(word.find('=') + 1)
                                  : at + 1 < arguments.size() ? std::string_view(arguments[at + 1])
                                                              : std::string_view();
    named = assignment.substr(0, assignment.find('='));
  }
  if (!contains(names, named)) return 0;
  return joined || at + 1 == arguments.size() ? 1 : 2;
}

}  // namespace

std::string option_of(std::string_view name) {
  const bool is_switch =
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
  if (!is_switch) return std::string(name);  // of --vary: as it was spelled
  std::string result = "--" + std::string(name);
  std::ranges::replace(result, '_', '-');
  return result;
}

Change with(Change base, const Change& more) {
  for (const auto& [name, value] : more) {
    const auto found = std::ranges::find(base, name, &Setting::first);
    if (found == base.end()) {
      base.emplace_back(name, value);
    } else {
      found->second = value;
    }
  }
  return base;
}

std::string words_of(const Setting& setting) {
  const auto& [name, value] = setting;
  const std::string shown = value.empty() ? std::string(kAbsent) : value;
  if (name.find('|') != std::string::npos) return value;  // one of several arguments
  return option_of(name) + (name.ends_with('=') ? "" : " ") + shown;
}

std::string words_of(const Change& change) {
  std::string words;
  for (const Setting& setting : change) words += (words.empty() ? "" : " ") + words_of(setting);
  return words;
}

std::vector<std::string> without_options(const std::vector<std::string>& arguments,
                                         const std::vector<std::string>& names) {
  std::vector<std::string> result;
  for (std::size_t at = 0; at < arguments.size();) {
    const std::size_t length = at == 0 ? 0 : length_of_option(arguments, at, names);
    if (length == 0) result.push_back(arguments[at]);
    at += std::max<std::size_t>(1, length);
  }
  return result;
}

std::vector<std::string> apply(std::vector<std::string> arguments, const Change& change) {
  std::vector<std::string> names;
  for (const Setting& setting : change) names.push_back(setting.first);
  arguments = without_options(arguments, names);
  for (const auto& [name, value] : change) {
    arguments.push_back(option_of(name));
    arguments.push_back(value);
  }
  return arguments;
}

std::string shell_line(const std::vector<std::string>& arguments) {
  std::string line;
  for (const std::string& word : arguments) {
    if (!line.empty()) line += ' ';
    line += shell_word(word);
  }
  return line;
}

NamedSwitches parse_named_switches(std::string_view text) {
  NamedSwitches result;
  std::istringstream parts{std::string(text)};
  for (std::string part; std::getline(parts, part, ',');) {
    std::istringstream words(part);
    Change change;
    std::string name;
    for (std::string word; words >> word;) {
      if (!word.starts_with("--")) {
        change.emplace_back(std::exchange(name, {}), word);
      } else {
        if (!name.empty()) result.bare.push_back(name);
        name = normal_name(std::string_view(word).substr(2));
      }
    }
    if (!name.empty()) result.bare.push_back(name);
    if (!change.empty()) result.alternatives.push_back(std::move(change));
  }
  return result;
}

}  // namespace headway::tune
