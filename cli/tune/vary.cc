// SPDX-License-Identifier: MIT
#include "cli/tune/vary.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/tune/vary_text.h"
#include "common/error.h"
#include "common/text.h"

namespace headway::tune {
namespace {

using Words = std::vector<std::string>;

std::string normal(std::string_view name) {
  std::string result(name);
  std::ranges::replace(result, '_', '-');
  return result;
}

[[noreturn]] void fail(const VaryText& text, std::string_view what) {
  fail_usage("--vary '{}': {}.", escape_terminal(text.whole), escape_terminal(what));
}

/// "-j8": one letter, with its number right behind it.
bool is_attached(std::string_view word, std::string_view name) {
  return name.size() == 2 && name[0] == '-' && word.size() > 2 && word.starts_with(name) &&
         word.substr(2).find_first_not_of("0123456789") == std::string_view::npos;
}

/// Where and how the option occurs in the command.
struct Place {
  std::size_t at = 0;
  std::size_t words = 1;
  std::string value;
};

std::vector<Place> places_of(const Words& command, std::string_view name, bool has_value) {
  std::vector<Place> places;
  for (std::size_t at = 1; at < command.size(); ++at) {
    const std::string_view word = command[at];
    if (word == name) {
      const bool follows = has_value && at + 1 < command.size();
      places.push_back({at, follows ? 2u : 1u, follows ? command[at + 1] : ""});
      at += follows;
    } else if (has_value && word.starts_with(name) && word.substr(name.size()).starts_with('=')) {
      places.push_back({at, 1, std::string(word.substr(name.size() + 1))});
    } else if (has_value && is_attached(word, name)) {
      places.push_back({at, 1, std::string(word.substr(2))});
    }
  }
  return places;
}

/// The command with `words` in place of the option, or appended if it has none. As in most programs
/// the last of several occurrences counts; the others are removed.
Words replaced(const Words& command, const std::vector<Place>& places, const Words& words) {
  Words result;
  std::size_t next = 0;
  for (std::size_t at = 0; at < command.size(); ++at) {
    if (next == places.size() || at != places[next].at) {
      result.push_back(command[at]);
      continue;
    }
    at += places[next].words - 1;
    if (++next == places.size()) result.insert(result.end(), words.begin(), words.end());
  }
  if (places.empty()) result.insert(result.end(), words.begin(), words.end());
  return result;
}

void check_spelling(const Words& command, const VaryText& text, std::string_view name) {
  for (std::size_t at = 1; at < command.size(); ++at) {
    const std::string_view word = std::string_view(command[at]).substr(0, command[at].find('='));
    if (word.starts_with("--") && word != name && normal(word) == normal(name))
      fail(text, fmt::format("the command has {}: use this spelling", word));
  }
}

bool has_braces(const Words& command, const std::string& name) {
  return std::ranges::any_of(command, [&](const std::string& word) {
    return word.find("{" + name + "}") != std::string::npos;
  });
}

std::optional<std::size_t> word_of(const Words& command, const std::string& name) {
  for (std::size_t at = command.size(); at-- > 1;)
    if (command[at].starts_with(name + "=")) return at;
  return std::nullopt;
}

bool is_variable(std::string_view name) {
  return name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
             std::string_view::npos &&
         (name[0] < '0' || name[0] > '9');
}

/// Puts the command's own value first.
void start_with(Knob& knob, const std::string& value) {
  std::erase(knob.values, value);
  knob.values.insert(knob.values.begin(), value);
}

void take_option(Knob& knob, const VaryText& text, const Words& command) {
  knob.kind = Knob::Kind::kOption;
  check_spelling(command, text, text.name);
  const std::vector<Place> places = places_of(command, text.name, true);
  if (places.empty()) return;
  const Place& last = places.back();
  if (last.words == 1 && command[last.at] == text.name)
    fail(text, fmt::format("the command has {} without a value", text.name));
  start_with(knob, last.value);
}

void take_words(Knob& knob, const VaryText& text, const Words& command) {
  const bool is_flag = text.values.empty();
  knob.kind = is_flag ? Knob::Kind::kFlag : Knob::Kind::kAlternative;
  std::size_t last = 0;
  std::string now = is_flag ? "off" : "";
  if (is_flag) knob.values = {"off", "on"};
  for (const std::string& word : is_flag ? Words{text.name} : text.values) {
    check_spelling(command, text, word);
    for (const Place& place : places_of(command, word, false)) {
      if (place.at < last) continue;
      last = place.at;
      now = is_flag ? "on" : word;
    }
  }
  // "--prefetch 4" in the command has a value, so it is not a flag.
  if (is_flag && last > 0 && last + 1 < command.size() &&
      command[last + 1].find_first_not_of("0123456789.") == std::string::npos)
    fail(text, fmt::format("the command has {0} with the value {1}: list values, '{0}=…'",
                           text.name, command[last + 1]));
  if (!now.empty()) start_with(knob, now);
}

void take_name(Knob& knob, const VaryText& text, const Words& command,
               const char* (*variable)(const char*)) {
  if (has_braces(command, text.name)) {
    knob.kind = Knob::Kind::kPlaceholder;
  } else if (const auto at = word_of(command, text.name)) {
    knob.kind = Knob::Kind::kWord;
    start_with(knob, command[*at].substr(text.name.size() + 1));
  } else if (is_variable(text.name)) {
    knob.kind = Knob::Kind::kEnvironment;
    const char* now = variable(text.name.c_str());
    if (now) start_with(knob, now);
  } else {
    fail(text, fmt::format("the command has neither {{{0}}} nor {0}=…, and environment variables "
                           "are in capitals. Write an argument as '--{0}=…'",
                           text.name));
  }
}

Knob make_knob(const VaryText& text, const Words& command, const char* (*variable)(const char*)) {
  Knob knob;
  knob.name = text.name;
  knob.joined = text.joined;
  knob.values = text.values;
  knob.fixes = text.fixes;
  if (!text.name.starts_with('-')) {
    take_name(knob, text, command, variable);
  } else if (text.has_values) {
    take_option(knob, text, command);
  } else {
    take_words(knob, text, command);
  }
  if (knob.values.size() < 2)
    fail(text, fmt::format("there is only one value, {}: nothing to choose", knob.values.front()));
  return knob;
}

Words words_for(const Knob& knob, const std::string& value) {
  switch (knob.kind) {
    case Knob::Kind::kFlag:
      return value == "on" ? Words{knob.name} : Words{};
    case Knob::Kind::kAlternative:
      return {value};
    default:
      if (value.empty()) return {};
      if (knob.joined) return {knob.name + "=" + value};
      return {knob.name, value};
  }
}

void fill_in(Words& command, const std::string& name, const std::string& value) {
  const std::string braces = "{" + name + "}";
  for (std::string& word : command)
    for (std::size_t at = 0; (at = word.find(braces, at)) != std::string::npos; at += value.size())
      word.replace(at, braces.size(), value);
}

std::vector<Place> all_places(const Words& command, const Knob& knob) {
  if (knob.kind == Knob::Kind::kOption) return places_of(command, knob.name, true);
  if (knob.kind == Knob::Kind::kFlag) return places_of(command, knob.name, false);
  std::vector<Place> places;
  for (const std::string& word : knob.values) {
    const std::vector<Place> its = places_of(command, word, false);
    places.insert(places.end(), its.begin(), its.end());
  }
  std::ranges::sort(places, {}, &Place::at);
  return places;
}

}  // namespace

VariedCommand::VariedCommand(Words command, const std::vector<std::string>& texts,
                             const char* (*variable)(const char*))
    : command_(std::move(command)) {
  for (const std::string& one : texts) {
    const VaryText text = parse_vary_text(one);
    for (const Knob& knob : knobs_)
      if (normal(knob.name) == normal(text.name)) fail(text, "varied twice");
    knobs_.push_back(make_knob(text, command_, variable));
  }
  for (const std::string& word : command_) {
    const std::size_t open = word.find('{');
    const std::size_t close = word.find('}', open);
    if (open == std::string::npos || close == std::string::npos) continue;
    const std::string name = word.substr(open + 1, close - open - 1);
    const bool is_name = !name.empty() && name.find_first_not_of(
                                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXY"
                                              "Z0123456789_-") == std::string::npos;
    if (is_name && std::ranges::find(knobs_, name, &Knob::name) == knobs_.end() &&
        word == "{" + name + "}")
      fail_usage("The command has {{{0}}}, and no --vary gives it values: --vary '{0}=a,b'.",
                 escape_terminal(name));
  }
}

double VariedCommand::settings() const {
  double count = 1;
  for (const Knob& knob : knobs_) count *= static_cast<double>(knob.values.size());
  return count;
}

TrainerSwitches VariedCommand::switches() const {
  TrainerSwitches result;
  for (const Knob& knob : knobs_) {
    TrainerSwitch& one = result.all.emplace_back();
    one.name = knob.key();
    one.value = knob.values.front();
    one.tunable = true;
    one.values.assign(knob.values.begin() + 1, knob.values.end());
    one.fixes = knob.fixes;
  }
  return result;
}

const std::string& VariedCommand::value(const Knob& knob, const Change& change) const {
  const auto found = std::ranges::find(change, knob.key(), &Setting::first);
  return found == change.end() ? knob.values.front() : found->second;
}

Words VariedCommand::command(const Change& change) const {
  Words result = command_;
  // Text that is filled in last is not searched for other knobs.
  for (const Knob& knob : knobs_) {
    const std::string& its = value(knob, change);
    if (knob.kind == Knob::Kind::kPlaceholder || knob.kind == Knob::Kind::kEnvironment) continue;
    if (knob.kind == Knob::Kind::kWord) {
      result[*word_of(result, knob.name)] = knob.name + "=" + its;
    } else {
      result = replaced(result, all_places(result, knob), words_for(knob, its));
    }
  }
  for (const Knob& knob : knobs_)
    if (knob.kind == Knob::Kind::kPlaceholder) fill_in(result, knob.name, value(knob, change));
  return result;
}

VariedCommand::Environment VariedCommand::environment(const Change& change) const {
  Environment result;
  for (const Knob& knob : knobs_) {
    if (knob.kind != Knob::Kind::kEnvironment) continue;
    const std::string& its = value(knob, change);
    if (its.empty()) {
      result.unset.push_back(knob.name);
    } else {
      result.set.push_back(knob.name + "=" + its);
    }
  }
  return result;
}

Words VariedCommand::words(const Change& change) const {
  Words result = command(change);
  const Environment environment = this->environment(change);
  if (environment.empty()) return result;
  Words front = {"env"};
  for (const std::string& name : environment.unset) front.insert(front.end(), {"-u", name});
  front.insert(front.end(), environment.set.begin(), environment.set.end());
  result.insert(result.begin(), front.begin(), front.end());
  return result;
}

std::string VariedCommand::line(const Change& change) const {
  return shell_line(words(change));
}

}  // namespace headway::tune
