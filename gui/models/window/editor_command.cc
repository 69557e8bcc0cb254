// SPDX-License-Identifier: MIT
#include "gui/models/window/editor_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "gui/models/text/display_text.h"

namespace headway::gui {
namespace {

/// How an editor's command line names a file and a line.
struct KnownEditor {
  std::string_view program;
  std::array<std::string_view, 3> location;  ///< argument templates; unused ones are empty
  bool terminal = false;
};

constexpr std::array<std::string_view, 3> kGoTo = {"-g", "{file}:{line}", ""};
constexpr std::array<std::string_view, 3> kPlus = {"+{line}", "{file}", ""};
constexpr std::array<std::string_view, 3> kColon = {"{file}:{line}", "", ""};
constexpr std::array<std::string_view, 3> kLine = {"--line", "{line}", "{file}"};

constexpr auto kKnown = std::to_array<KnownEditor>({
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

const KnownEditor* known_editor(const std::string& program) {
  const std::string name = std::filesystem::path(program).filename().string();
  const auto found = std::ranges::find(kKnown, name, &KnownEditor::program);
  return found == kKnown.end() ? nullptr : &*found;
}

/// Replaces {file} and {line} in one word, once: a file name that holds {line} stays unchanged.
std::string filled(std::string_view word, const std::string& file, int line) {
  std::string result;
  while (!word.empty()) {
    if (word.starts_with("{file}")) {
      result += file;
      word.remove_prefix(6);
    } else if (word.starts_with("{line}")) {
      result += std::to_string(line);
      word.remove_prefix(6);
    } else {
      result += word.front();
      word.remove_prefix(1);
    }
  }
  return result;
}

bool needs_terminal(const std::vector<std::string>& words, const KnownEditor* editor) {
  if (editor && editor->terminal) return true;
  // Emacs opens a window unless an option forbids it.
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
    // With -e these two take one string, which they would split again.
    words.emplace_back(name == "gnome-terminal" ? "--" : name == "xfce4-terminal" ? "-x" : "-e");
    return words;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote ? c == quote : c == '\'' || c == '"') {
      quote = quote ? 0 : c;
    } else if (!quote && (c == ' ' || c == '\t' || c == '\n')) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      words.back() += text[++i];
    } else if (c != '\'' && c != '"') {
      words.back() += c;
    } else if (quote && c != quote) {
      words.back() += c;  // the other kind of quote inside this one
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
    const KnownEditor* editor = known_editor(given.front());
    EditorCommand command;
    const bool has_location = std::any_of(
        given.begin() + 1, given.end(),
        [](const std::string& word) { return word.find("{file}") != std::string::npos; });
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
    if (!has_location && !editor) command.words.push_back(file.string());
    if (!has_location && editor) {
      const bool already = given.back() == editor->location[0];  // EDITOR="code -g"
      for (std::size_t i = already ? 1 : 0; i < editor->location.size(); ++i)
        if (!editor->location[i].empty())
          command.words.push_back(filled(editor->location[i], file.string(), line));
    }
    return command;
  }
  return {};
}

}  // namespace headway::gui
