// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace headway::gui {

/// The commands that have keys.
enum class Command : std::uint8_t {
  kOpen,
  kQuit,
  kNextPage,
  kPreviousPage,
  kToggleRail,
  kTogglePanels,
  kSearch,
  kSearchNext,
  kSearchPrevious,
  kHelp,
  kBack,
  kForward,
  kZoomIn,
  kZoomOut,
  kPanLeft,
  kPanRight,
  kScrollUp,
  kScrollDown,
  kFitAll,
  kGoTo,
  kMark,
  kZoomToSelection,
  kNextSameName,
  kPreviousSameName,
  kNextOnLane,
  kPreviousOnLane,
  kFollowLink,
  kCriticalPath,
  kPredictedStep,
  kWhatIf,
  kBookmark,
  kEditBookmark,
  kNextBookmark,
  kPreviousBookmark,
  kRowUp,
  kRowDown,
  kMoveRowUp,
  kMoveRowDown,
  kPinRow,
  kHideRow,
  kFilterRows,
  kShowAllRows,
  kSearchList,
  kFilterToName,
  kMenu,
  kFold,
  kFoldAll,
  kUnfoldAll,
  kShowInOps,
  kOpenSource,
  kCopy,
  kRangeByRow,
  kCallStacks,
  kCopyEvents,
  kCopySql,
  kCopyView,
  kClear,
};

/// A key binding, declared once (shortcuts.cc): key handling, the menus and the help overlay read it. Its row in
/// docs/user-guide/view.md is written by hand.
struct Shortcut {
  Command command;
  std::string_view group;  ///< heading in the help
  std::string_view keys;   ///< in Qt's portable notation, alternatives separated by " | "
  std::string_view text;   ///< what it does, in the imperative
};
std::span<const Shortcut> shortcuts();
const Shortcut& shortcut(Command command);

/// A mouse action; the help shows these after the keys.
struct MouseAction {
  std::string_view gesture;
  std::string_view text;
};
std::span<const MouseAction> mouse_actions();

}  // namespace headway::gui
