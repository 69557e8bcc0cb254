// SPDX-License-Identifier: MIT
// The commands of the timeline.
#include <QScrollBar>
#include <cmath>

#include "gui/models/details/findings.h"
#include "gui/timeline/timeline_view.h"

namespace headway::gui {
namespace {

constexpr double kZoomStep = 1.5;
constexpr double kPanShare = 0.15;

}  // namespace

bool TimelineView::run(Command command) {
  const double page = frame_.area_width();
  // Moves by whole pixels, so that items that stay in view need not be looked up again.
  const double step = std::round(kPanShare * page);
  switch (command) {
    case Command::kZoomIn:
      zoom(kZoomStep, pointer_in_area());
      return true;
    case Command::kZoomOut:
      zoom(1 / kZoomStep, pointer_in_area());
      return true;
    case Command::kPanLeft:
      set_mapping(frame_.mapping.panned(-step, frame_.model->bounds));
      return true;
    case Command::kPanRight:
      set_mapping(frame_.mapping.panned(step, frame_.model->bounds));
      return true;
    case Command::kScrollUp:
      set_scroll(frame_.scroll - verticalScrollBar()->singleStep());
      return true;
    case Command::kScrollDown:
      set_scroll(frame_.scroll + verticalScrollBar()->singleStep());
      return true;
    case Command::kFitAll: {
      Interval all = frame_.model->bounds;
      // A margin, so that the first and last events do not touch the edge.
      DurationNs air{all.length().ns / 100 + 1};
      show_interval({all.begin - air, all.end + air});
      return true;
    }
    case Command::kZoomToSelection:
      if (!overlay_.range.empty()) {
        show_interval(overlay_.range);
      } else if (overlay_.selection) {
        jump_to(overlay_.selection,
                with_context(frame_.model->interval_of(overlay_.selection), frame_.model->bounds));
      }
      return true;
    case Command::kBack:
      return go_through_history(back_, forward_);
    case Command::kForward:
      return go_through_history(forward_, back_);
    case Command::kNextSameName:
      select_same_name(true);
      return true;
    case Command::kPreviousSameName:
      select_same_name(false);
      return true;
    case Command::kNextOnLane:
      select_on_lane(true);
      return true;
    case Command::kPreviousOnLane:
      select_on_lane(false);
      return true;
    case Command::kFollowLink:
      follow_link();
      return true;
    case Command::kCriticalPath:
      show_path(!path_shown_);
      return true;
    case Command::kMark:
      set_mark();
      return true;
    case Command::kClear:
      clear_one();
      return true;
    default:
      return run_on_row(command);
  }
}

}  // namespace headway::gui
