// SPDX-License-Identifier: MIT
#include "gui/models/window/menus.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

namespace headway::gui {

TEST_CASE("every command of the timeline has one entry, and no submenu is long") {
  std::map<Command, int> entries;
  for (const Submenu& menu : timeline_submenus()) {
    CHECK(menu.commands.size() <= 14);  // fits on a screen of 700 pixels
    for (Command command : menu.commands) ++entries[command];
  }
  for (const Shortcut& one : shortcuts()) {
    CAPTURE(std::string(one.text));
    const bool general = one.group == shortcuts().front().group;
    const bool search = one.command == Command::kSearch || one.command == Command::kSearchNext ||
                        one.command == Command::kSearchPrevious;
    CHECK(entries[one.command] == (general && !search ? 0 : 1));
  }
}

TEST_CASE("menu texts leave out what only the help has room for") {
  for (const Shortcut& one : shortcuts()) {
    const std::string text = menu_text(one.command);
    CAPTURE(text);
    CHECK(!text.empty());
    CHECK(text.size() <= 60);
    CHECK(text.find(':') == std::string::npos);
  }
}

}  // namespace headway::gui
