// SPDX-License-Identifier: MIT
// Rows of TimelineView: folding, pinning, hiding, moving, and the row that keys act on.
#include <QAccessible>
#include <QScrollBar>
#include <algorithm>

#include "gui/timeline/timeline_view.h"

namespace headway::gui {

void TimelineView::set_current_row(RowId row) {
  if (frame_.current_row == row) return;
  frame_.current_row = row;
  repaint_picture();
  if (std::optional<std::size_t> index = layout_.index_of(row); index && hasFocus()) {
    QAccessibleEvent event(this, QAccessible::Focus);
    event.setChild(static_cast<int>(*index));
    QAccessible::updateAccessibility(&event);
  }
}

void TimelineView::fold(RowId row, bool folded) {
  layout_.set_folded(row, folded);
  arranged();
}

void TimelineView::pin(RowId row, bool pinned) {
  layout_.set_pinned(row, pinned);
  arranged();
}

void TimelineView::hide(RowId row) {
  std::optional<std::size_t> index = layout_.index_of(row);
  layout_.hide(row);
  // Keys continue with the row that took its place.
  if (!layout_.index_of(frame_.current_row)) {
    frame_.current_row = {};
    if (index && !layout_.shown().empty())
      frame_.current_row = layout_.shown()[std::min(*index, layout_.shown().size() - 1)].row;
  }
  arranged();
}

void TimelineView::set_row_filter(std::string_view text) {
  if (layout_.filter() == text) return;
  layout_.set_filter(text);
  arranged();
}

void TimelineView::show_only_hits(bool only) {
  only_hits_ = only;
  if (only && hits_) {
    layout_.set_only(hits_->rows());
  } else {
    layout_.set_only(std::nullopt);
  }
  arranged();
}

void TimelineView::show_all_rows() {
  only_hits_ = false;
  layout_.show_all();
  arranged();
}

/// The row that keys act on: the current one, else that of the selection.
RowId TimelineView::row_for_commands() const {
  RowId row = frame_.current_row;
  if (!row.valid()) {
    std::optional<gui::Place> place = frame_.model->find(overlay_.selection);
    if (place) row = place->row;
  }
  std::optional<std::size_t> index = layout_.index_of(row);
  return index ? layout_.shown()[*index].row : RowId::none();
}

void TimelineView::step_row(bool down) {
  const std::vector<RowLayout::Shown>& shown = layout_.shown();
  if (shown.empty()) return;
  std::optional<std::size_t> index = layout_.index_of(row_for_commands());
  std::size_t next = 0;
  if (index) {
    next =
        down ? std::min(*index + 1, shown.size() - 1) : *index - std::min<std::size_t>(1, *index);
  } else {
    // The first visible row.
    next = layout_.index_at(frame_.scroll + frame_.sticky_height()).value_or(0);
  }
  set_current_row(shown[next].row);
  scroll_to_row(shown[next].row);
}

void TimelineView::scroll_to_row(RowId row) {
  const RowLayout::Shown& shown = layout_.shown()[*layout_.index_of(row)];
  const int sticky = frame_.sticky_height();
  if (shown.pinned && sticky) return;
  const int page = frame_.rows_rect().height();
  if (shown.y < frame_.scroll + sticky) set_scroll(shown.y - sticky);
  if (shown.y + shown.height > frame_.scroll + page)
    set_scroll(std::min(shown.y - sticky, shown.y + shown.height - page));
}

bool TimelineView::run_on_row(Command command) {
  switch (command) {
    case Command::kFoldAll:
    case Command::kUnfoldAll:
      layout_.fold_all(command == Command::kFoldAll);
      arranged();
      return true;
    case Command::kShowAllRows:
      show_all_rows();
      return true;
    case Command::kRowUp:
    case Command::kRowDown:
      step_row(command == Command::kRowDown);
      return true;
    default:
      break;
  }
  RowId row = row_for_commands();
  switch (command) {
    case Command::kFold:
      // The row itself, or its parent if it cannot be folded.
      if (row.valid() && !frame_.model->row(row).can_fold()) row = frame_.model->row(row).parent;
      if (row.valid()) fold(row, !layout_.is_folded(row));
      return true;
    case Command::kPinRow:
      if (row.valid()) pin(row, !layout_.is_pinned(row));
      return true;
    case Command::kHideRow:
      if (row.valid()) hide(row);
      return true;
    case Command::kMoveRowUp:
    case Command::kMoveRowDown:
      if (row.valid() && layout_.move(row, command == Command::kMoveRowDown)) {
        arranged();
        scroll_to_row(row);
      }
      return true;
    case Command::kMenu: {
      // At the selection, else at the row's name.
      std::optional<QRectF> box = box_of(frame_, overlay_.selection);
      QPoint point(frame_.gutter / 2, frame_.header_height() + 4);
      if (box && frame_.area_rect().contains(box->center().toPoint())) {
        point = box->center().toPoint();
      } else if (row.valid()) {
        point.setY(frame_.screen_y(layout_.shown()[*layout_.index_of(row)].y) + 4);
      }
      open_menu(point);
      return true;
    }
    default:
      return false;
  }
}

/// A dragged row goes before or behind the sibling under the pointer.
void TimelineView::drag_row_to(const QPoint& point) {
  overlay_.drop_y = -1;
  drop_sibling_ = {};
  viewport()->update();
  std::optional<std::size_t> index = layout_.index_at(frame_.layout_y(point.y()));
  std::optional<std::size_t> from = layout_.index_of(dragged_row_);
  if (!index || !from || point.y() < frame_.header_height()) return;
  const std::vector<RowLayout::Shown>& shown = layout_.shown();
  const bool pinned = layout_.is_pinned(dragged_row_);
  RowId sibling = shown[*index].row;
  auto is_sibling = [&](RowId row) {
    return pinned ? layout_.is_pinned(row)
                  : frame_.model->row(row).parent == frame_.model->row(dragged_row_).parent &&
                        !layout_.is_pinned(row);
  };
  while (sibling.valid() && !is_sibling(sibling)) sibling = frame_.model->row(sibling).parent;
  std::optional<std::size_t> at = layout_.index_of(sibling);
  if (!sibling.valid() || sibling == dragged_row_ || !at) return;
  drop_sibling_ = sibling;
  drop_behind_ = *at > *from;
  std::size_t edge = *at;
  if (drop_behind_) {
    do ++edge;
    while (edge < shown.size() && shown[edge].depth > shown[*at].depth &&
           shown[edge].pinned == shown[*at].pinned);
  }
  std::int64_t y = edge < shown.size() ? shown[edge].y : layout_.height();
  overlay_.drop_y = std::max(frame_.header_height(), frame_.screen_y(y) - 2);
}

void TimelineView::drop_row() {
  if (drop_sibling_.valid() && layout_.move_to(dragged_row_, drop_sibling_, drop_behind_))
    arranged();
  drop_sibling_ = {};
  overlay_.drop_y = -1;
  viewport()->update();
}

}  // namespace headway::gui
