// SPDX-License-Identifier: MIT
#include "gui/models/window/editor_command.h"

#include <doctest/doctest.h>

#include <map>

namespace headway::gui {
namespace {

using Words = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

EditorCommand command(const Variables& variables, const std::string& file = "/src/train.py",
                      const std::string& missing = "nothing") {
  return editor_command(
      file, 42,
      [&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? std::string() : found->second;
      },
      [&](const std::string& program) { return program != missing; });
}

}  // namespace

TEST_CASE("the first variable that is set names the editor, and known editors get the line") {
  CHECK(command({}).words.empty());
  CHECK(command({}).problem.empty());
  CHECK(command({{"EDITOR", "gedit"}}).words == Words{"gedit", "+42", "/src/train.py"});
  CHECK(command({{"EDITOR", "vim"}, {"VISUAL", "code --wait"}}).words ==
        Words{"code", "--wait", "-g", "/src/train.py:42"});
  CHECK(command({{"VISUAL", "kate"}, {"HEADWAY_EDITOR", "/opt/bin/subl"}}).words ==
        Words{"/opt/bin/subl", "/src/train.py:42"});
  CHECK(command({{"HEADWAY_EDITOR", "code -g"}}).words == Words{"code", "-g", "/src/train.py:42"});
  CHECK(command({{"HEADWAY_EDITOR", "kate"}}).words ==
        Words{"kate", "--line", "42", "/src/train.py"});
  CHECK(command({{"HEADWAY_EDITOR", "my-editor -x"}}).words ==
        Words{"my-editor", "-x", "/src/train.py"});
  CHECK(command({{"HEADWAY_EDITOR", "  "}, {"EDITOR", "gedit"}}).words.front() == "gedit");
}

TEST_CASE("{file} and {line} are filled in where they stand, once") {
  CHECK(command({{"HEADWAY_EDITOR", "ed --goto={file}:{line} '{line}'"}}).words ==
        Words{"ed", "--goto=/src/train.py:42", "42"});
  // What a file is called is neither split nor filled in.
  const std::string hostile = "/src/a b; rm -rf ~ `x` $(y) {line} \"'.py";
  CHECK(command({{"HEADWAY_EDITOR", "ed {file}"}}, hostile).words == Words{"ed", hostile});
  CHECK(command({{"HEADWAY_EDITOR", "code"}}, hostile).words ==
        Words{"code", "-g", hostile + ":42"});
}

TEST_CASE("editors of the terminal get one, or say that they need it") {
  CHECK(command({{"EDITOR", "vim"}, {"TERMINAL", "kitty --single-instance"}}).words ==
        Words{"kitty", "--single-instance", "-e", "vim", "+42", "/src/train.py"});
  CHECK(command({{"EDITOR", "nano"}}).words ==
        Words{"x-terminal-emulator", "-e", "nano", "+42", "/src/train.py"});
  CHECK(command({{"EDITOR", "emacs -nw"}, {"TERMINAL", "gnome-terminal"}}).words ==
        Words{"gnome-terminal", "--", "emacs", "-nw", "+42", "/src/train.py"});
  const EditorCommand none = command({{"EDITOR", "vim"}}, "/src/train.py", "x-terminal-emulator");
  CHECK(none.words.empty());
  CHECK(none.problem.find("vim (EDITOR) needs a terminal") == 0);
}

TEST_CASE("an editor that is not there, or a command that is none, is said") {
  CHECK(command({{"VISUAL", "gone"}}, "/a.py", "gone").problem ==
        "VISUAL names gone, which is not installed.");
  CHECK(command({{"HEADWAY_EDITOR", "code 'open"}}).problem ==
        "HEADWAY_EDITOR is not a command: code 'open");
}

TEST_CASE("words are split as a shell splits them, without doing anything else") {
  CHECK(split_words("  a  b\tc ") == Words{"a", "b", "c"});
  CHECK(split_words("'a b' \"c d\" e\\ f g'h i'j") == Words{"a b", "c d", "e f", "gh ij"});
  CHECK(split_words("\"it's\" '\"' ''") == Words{"it's", "\"", ""});
  CHECK(split_words("$HOME `x` *") == Words{"$HOME", "`x`", "*"});
  CHECK(split_words("'open").empty());
  CHECK(split_words("").empty());
}

}  // namespace headway::gui
