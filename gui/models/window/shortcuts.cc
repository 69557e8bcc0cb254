// SPDX-License-Identifier: MIT
#include "gui/models/window/shortcuts.h"

#include <algorithm>
#include <array>

#include "common/error.h"

namespace headway::gui {
namespace {

constexpr std::string_view kGeneral = "Everywhere";
constexpr std::string_view kMove = "Move through time";
constexpr std::string_view kEvents = "Events";
constexpr std::string_view kRows = "Rows";

constexpr auto kShortcuts = std::to_array<Shortcut>({
    {Command::kOpen, kGeneral, "Ctrl+O", "Open a trace"},
    {Command::kQuit, kGeneral, "Ctrl+Q", "Quit"},
    {Command::kNextPage, kGeneral, "Ctrl+PgDown", "Show the next page"},
    {Command::kPreviousPage, kGeneral, "Ctrl+PgUp", "Show the previous page"},
    {Command::kToggleRail, kGeneral, "Ctrl+B", "Show or hide the list of pages"},
    {Command::kSearch, kGeneral, "/ | Ctrl+F", "Search for names"},
    {Command::kSearchNext, kGeneral, "F3", "Go to the next hit of the search"},
    {Command::kSearchPrevious, kGeneral, "Shift+F3", "Go to the previous hit of the search"},
    {Command::kHelp, kGeneral, "? | F1", "Show or hide the keyboard shortcuts"},
    {Command::kZoomIn, kMove, "W | +", "Zoom in at the pointer"},
    {Command::kZoomOut, kMove, "S | -", "Zoom out"},
    {Command::kPanLeft, kMove, "A | Left", "Move to earlier times"},
    {Command::kPanRight, kMove, "D | Right", "Move to later times"},
    {Command::kFitAll, kMove, "F", "Fit the whole trace"},
    {Command::kGoTo, kMove, "Ctrl+G", "Go to a time, a step or a share: 12.5s, +3ms, step 7, 50%"},
    {Command::kMark, kMove, "M", "Set a mark at the pointer; a second one measures"},
    {Command::kZoomToSelection, kMove, "Z", "Zoom to the selected event or time range"},
    {Command::kTogglePanels, kMove, "Ctrl+E", "Show or hide the panels beside the timeline"},
    {Command::kBack, kMove, "Alt+Left | Backspace", "Go back to the view before the last jump"},
    {Command::kForward, kMove, "Alt+Right", "Go forward again"},
    {Command::kNextSameName, kEvents, "N | ]", "Select the next event of the same name"},
    {Command::kPreviousSameName, kEvents, "P | [", "Select the previous event of the same name"},
    {Command::kNextOnLane, kEvents, "Ctrl+Right", "Select the next event on the same line"},
    {Command::kPreviousOnLane, kEvents, "Ctrl+Left", "Select the previous event on the same line"},
    {Command::kFollowLink, kEvents, "G", "Go from a call to its device op, or back"},
    {Command::kCriticalPath, kEvents, "C", "Show or hide the critical path"},
    {Command::kPredictedStep, kEvents, "X", "Show or hide a step predicted with the finding's fix"},
    {Command::kWhatIf, kEvents, "Shift+X", "Tick fixes and see the predicted step"},
    {Command::kSearchList, kEvents, "L", "Show or hide the list of hits and their durations"},
    {Command::kFilterToName, kEvents, "E", "Find events of this name, on rows that have any"},
    {Command::kBookmark, kEvents, "B", "Bookmark the time range, the selection or this time"},
    {Command::kEditBookmark, kEvents, "F2", "Edit the note of the bookmark"},
    {Command::kNextBookmark, kEvents, ".", "Go to the next bookmark"},
    {Command::kPreviousBookmark, kEvents, ",", "Go to the previous bookmark"},
    {Command::kShowInOps, kEvents, "O", "Show the selected event in the op table"},
    {Command::kOpenSource, kEvents, "Shift+O", "Open its line of source in the editor"},
    {Command::kCopy, kEvents, "Ctrl+C", "Copy the details as text"},
    {Command::kRangeByRow, kEvents, "I", "Show or hide per-row activity in the time range"},
    {Command::kCallStacks, kEvents, "K", "Show or hide host activity in the selected time"},
    {Command::kCopyEvents, kEvents, "Ctrl+Shift+C", "Copy the events of the time range as text"},
    {Command::kCopySql, kEvents, "Ctrl+Shift+S", "Copy the events of the time range as SQL"},
    {Command::kCopyView, kEvents, "Ctrl+Shift+L", "Copy the command that opens this view"},
    {Command::kMenu, kEvents, "Menu | Shift+F10", "Open the menu of the selection or row"},
    {Command::kClear, kEvents, "Esc",
     "Clear: the search, the time range, the marks, the selection, then the predicted step"},
    {Command::kRowUp, kRows, "Up", "Go to the row above"},
    {Command::kRowDown, kRows, "Down", "Go to the row below"},
    {Command::kScrollUp, kRows, "PgUp", "Scroll up"},
    {Command::kScrollDown, kRows, "PgDown", "Scroll down"},
    {Command::kMoveRowUp, kRows, "Shift+Up", "Move the row up"},
    {Command::kMoveRowDown, kRows, "Shift+Down", "Move the row down"},
    {Command::kPinRow, kRows, "T", "Pin or unpin the row"},
    {Command::kHideRow, kRows, "H", "Hide the row"},
    {Command::kFilterRows, kRows, "R", "Filter the rows by their names"},
    {Command::kShowAllRows, kRows, "Shift+H", "Show all rows again"},
    {Command::kFold, kRows, "Return", "Fold or unfold the row"},
    {Command::kFoldAll, kRows, "Shift+Return", "Fold all rows"},
    {Command::kUnfoldAll, kRows, "Ctrl+Return", "Unfold all rows"},
});

constexpr auto kMouseActions = std::to_array<MouseAction>({
    {"Wheel", "Zoom at the pointer"},
    {"Shift+wheel", "Move through time"},
    {"Ctrl+wheel", "Scroll the rows; so does the wheel over their names"},
    {"Drag", "Move through time and rows"},
    {"Shift+drag", "Select a time range: its length and contents"},
    {"Ctrl+drag, right drag", "Draw a box to zoom to"},
    {"Right click", "Open the menu"},
    {"Drag a row's name", "Move the row"},
    {"Click", "Select an event; on a row's name: fold or unfold it"},
    {"Double click", "Zoom to an event"},
    {"Drag the edge of the names", "Make the names wider or narrower"},
    {"Drag the box in the overview", "Move the view; drag its edges to resize it"},
    {"Drag beside the box", "Select a new view; click to move the view"},
});

}  // namespace

std::span<const Shortcut> shortcuts() {
  return kShortcuts;
}

const Shortcut& shortcut(Command command) {
  auto found = std::find_if(kShortcuts.begin(), kShortcuts.end(),
                            [&](const Shortcut& s) { return s.command == command; });
  HEADWAY_INVARIANT(found != kShortcuts.end());
  return *found;
}

std::span<const MouseAction> mouse_actions() {
  return kMouseActions;
}

}  // namespace headway::gui
