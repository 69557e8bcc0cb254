// SPDX-License-Identifier: MIT
#include "gui/models/window/menus.h"

#include <array>

namespace headway::gui {
namespace {

constexpr std::array kSearch = {
    Command::kSearch,       Command::kSearchNext,   Command::kSearchPrevious,  Command::kSearchList,
    Command::kFilterToName, Command::kNextSameName, Command::kPreviousSameName};
constexpr std::array kZoom = {Command::kZoomIn, Command::kZoomOut, Command::kZoomToSelection,
                              Command::kFitAll, Command::kPanLeft, Command::kPanRight,
                              Command::kGoTo,   Command::kBack,    Command::kForward};
constexpr std::array kSelection = {
    Command::kNextOnLane, Command::kPreviousOnLane, Command::kFollowLink, Command::kMark,
    Command::kShowInOps,  Command::kOpenSource,     Command::kRangeByRow, Command::kCallStacks,
    Command::kCopy,       Command::kCopyEvents,     Command::kCopySql,    Command::kCopyView,
    Command::kMenu,       Command::kClear};
constexpr std::array kRows = {Command::kRowUp,       Command::kRowDown,   Command::kScrollUp,
                              Command::kScrollDown,  Command::kMoveRowUp, Command::kMoveRowDown,
                              Command::kPinRow,      Command::kHideRow,   Command::kFilterRows,
                              Command::kShowAllRows, Command::kFold,      Command::kFoldAll,
                              Command::kUnfoldAll};
constexpr std::array kBookmarks = {Command::kBookmark, Command::kEditBookmark,
                                   Command::kNextBookmark, Command::kPreviousBookmark};
constexpr std::array kDirect = {Command::kCriticalPath, Command::kPredictedStep, Command::kWhatIf,
                                Command::kTogglePanels};

constexpr auto kSubmenus = std::to_array<Submenu>({{"&Search", kSearch},
                                                   {"&Zoom", kZoom},
                                                   {"S&election", kSelection},
                                                   {"&Rows", kRows},
                                                   {"&Bookmarks", kBookmarks},
                                                   {"", kDirect}});

}  // namespace

std::span<const Submenu> timeline_submenus() {
  return kSubmenus;
}

std::string menu_text(Command command) {
  const std::string_view text = shortcut(command).text;
  return std::string(text.substr(0, text.find_first_of(":;")));
}

}  // namespace headway::gui
