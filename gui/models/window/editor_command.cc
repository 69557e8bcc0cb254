// SPDX-License-Identifier: MIT
#include "gui/models/window/editor_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "gui/models/text/display_text.h"

namespace headway::gui {
namespace {

/// What stands for the place on the command line of an editor.
struct Known {
  std::string_view program;
  std::array<std::string_view, 3> place;  ///< templates; empty: fewer words
  bool terminal = false;
};

constexpr std::array<std::string_view, 3> kGoTo = {"-g", "{file}:{line}", ""};
constexpr std::array<std::string_view, 3> kPlus = {"+{line}", "{file}", ""};
constexpr std::array<std::string_view, 3> kColon = {"{file}:{line}", "", ""};
constexpr std::array<std::string_view, 3> kLine = {"--line", "{line}", "{file}"};

constexpr auto kKnown = std::to_array<Known>({
    {"code", kGoTo},        {"code-insiders", kGoTo}, {"codium", kGoTo},
    {"vscodium", kGoTo},    {"cursor", kGoTo},        {"windsurf", kGoTo},
    {"subl", kColon},       {"zed", kColon},          {"zeditor", kColon},
    {"lapce", kColon},      {"hx", kColon, true},     {"helix", kColon, true},
    {"gvim", kPlus},        {"emacs", kPlus},         {"emacsclient", kPlus},
    {"gedit", kPlus},       {"xed", kPlus},           {"pluma", kPlus},
    {"mousepad", kLine},    {"kate", kLine},          {"kwrite", kLine},
    {"pycharm", kLine},     {"clion", kLine},         {"idea", kLine},
    {"charm", kLine},       {"vi", kPlus, true},      {"vim", kPlus, true},
    {"nvim", kPlus, true},  {"view", kPlus, true},    {"nano", kPlus, true},
    {"micro", kPlus, true}, {"kak", kPlus, true},     {"joe", kPlus, true},
    {"jed", kPlus, true},   {"mg", kPlus, true},      {"ne", kPlus, true},
    {"pico", kPlus, true},
});

const Known* known(const std::string& program) {
  const std::string name = std::filesystem::path(program).filename().string();
  const auto found = std::ranges::find(kKnown, name, &Known::program);
  return found == kKnown.end() ? nullptr : &*found;
}

/// Fills in one word: what is filled in is not looked at again.
std::string filled(std::string_view word, const std::string& file, int line) {
  std::string made;
  while (!word.empty()) {
    if (word.starts_with("{file}")) {
      made += file;
      word.remove_prefix(6);
    } else if (word.starts_with("{line}")) {
      made += std::to_string(line);
      word.remove_prefix(6);
    } else {
      made += word.front();
      word.remove_prefix(1);
    }
  }
  return made;
}

bool needs_terminal(const std::vector<std::string>& words, const Known* editor) {
  if (editor && editor->terminal) return true;
  // Emacs opens a window unless it is told not to.
  return std::any_of(words.begin() + 1, words.end(), [&](const std::string& word) {
    return editor && editor->program.starts_with("emacs") &&
           (word == "-nw" || word == "-t" || word == "--no-window-system" || word == "--tty");
  });
}

std::optional<std::vector<std::string>> terminal(const Environment& environment,
                                                 const IsInstalled& is_installed) {
  for (const std::string& one : {environment("TERMINAL"), std::string("x-terminal-emulator")}) {
    std::vector<std::string> words = split_words(one);
    if (words.empty() || !is_installed(words.front())) continue;
    const std::string name = std::filesystem::path(words.front()).filename().string();
    // These read -e as one text, which would be split again.
    words.emplace_back(name == "gnome-terminal" ? "--" : name == "xfce4-terminal" ? "-x" : "-e");
    return words;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;  // of a word
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote ? c == quote : c == '\'' || c == '"') {
      quote = quote ? 0 : c;
    } else if (!quote && (c == ' ' || c == '\t' || c == '\n')) {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      words.back() += text[++i];
    } else if (c != '\'' && c != '"') {
      words.back() += c;
    } else if (quote && c != quote) {
      words.back() += c;  // the other quote inside of this one
    }
  }
  if (quote) return {};
  return words;
}

EditorCommand editor_command(const std::filesystem::path& file, int line,
                             const Environment& environment, const IsInstalled& is_installed) {
  for (const char* variable : {"HEADWAY_EDITOR", "VISUAL", "EDITOR"}) {
    const std::string value = environment(variable);
    if (value.find_first_not_of(" \t\n") == std::string::npos) continue;
    const std::vector<std::string> given = split_words(value);
    if (given.empty())
      return {{}, fmt::format("{} is not a command: {}", variable, display_text(value, 100))};
    if (!is_installed(given.front()))
      return {{},
              fmt::format("{} names {}, which is not installed.", variable,
                          display_text(given.front(), 100))};
    const Known* editor = known(given.front());
    EditorCommand command;
    const bool placed = std::any_of(given.begin() + 1, given.end(), [](const std::string& word) {
      return word.find("{file}") != std::string::npos;
    });
    if (needs_terminal(given, editor)) {
      const auto in = terminal(environment, is_installed);
      if (!in)
        return {
            {},
            fmt::format("{} ({}) needs a terminal: set TERMINAL, or HEADWAY_EDITOR to an editor "
                        "with a window, such as “code -g {{file}}:{{line}}”.",
                        display_text(given.front(), 100), variable)};
      command.words = *in;
    }
    command.words.push_back(given.front());
    for (std::size_t i = 1; i < given.size(); ++i)
      command.words.push_back(filled(given[i], file.string(), line));
    if (!placed && !editor) command.words.push_back(file.string());
    if (!placed && editor) {
      const bool already = given.back() == editor->place[0];  // "code -g"
      for (std::size_t i = already ? 1 : 0; i < editor->place.size(); ++i)
        if (!editor->place[i].empty())
          command.words.push_back(filled(editor->place[i], file.string(), line));
    }
    return command;
  }
  return {};
}

}  // namespace headway::gui
