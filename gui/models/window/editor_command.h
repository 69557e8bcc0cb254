// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace headway::gui {

/// Reads a variable of the environment; empty: not set.
using Environment = std::function<std::string(const char* name)>;
/// True when a program of that name can be started.
using IsInstalled = std::function<bool(const std::string& program)>;

/// A program with its arguments, started without a shell.
struct EditorCommand {
  std::vector<std::string> words;  ///< empty: none is configured; the desktop may open the file
  std::string problem;             ///< set if the configured program cannot be used: a sentence
};

/// How to open a line of a file. The first of HEADWAY_EDITOR, VISUAL and EDITOR that is set counts.
/// It may contain arguments and quotes as in a shell; nothing else is expanded. {file} and {line}
/// are replaced. Without {file} the place is appended in the editor's syntax: `-g FILE:LINE` for VS
/// Code and its kin, `+LINE FILE` for Vim, Emacs, nano and others, FILE alone for unknown programs.
/// An editor that needs a terminal gets one: the program in TERMINAL, else x-terminal-emulator.
EditorCommand editor_command(const std::filesystem::path& file, int line,
                             const Environment& environment, const IsInstalled& is_installed);

/// Splits a command line into words by blanks, quotes and backslashes. Empty when a quote is not
/// closed.
std::vector<std::string> split_words(std::string_view text);

}  // namespace headway::gui
