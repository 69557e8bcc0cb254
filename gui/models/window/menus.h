// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "gui/models/window/shortcuts.h"

namespace headway::gui {

/// A submenu of the Timeline menu. Every command of the timeline is in one of them or in the menu itself.
struct Submenu {
  std::string_view title;  ///< with its access key: "&Zoom"; empty: in the menu itself
  std::span<const Command> commands;
};
std::span<const Submenu> timeline_submenus();

/// What a menu says of a command: its text without the details that the help has.
std::string menu_text(Command command);

}  // namespace headway::gui
