// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "gui/models/window/shortcuts.h"

namespace headway::gui {

/// A submenu of the Timeline menu. Every timeline command is in one submenu or in the menu itself.
struct Submenu {
  std::string_view title;  ///< with its access key: "&Zoom"; empty: the menu itself
  std::span<const Command> commands;
};
std::span<const Submenu> timeline_submenus();

/// The text of a command in a menu: its help text without the details.
std::string menu_text(Command command);

}  // namespace headway::gui
