// SPDX-License-Identifier: MIT
#include "gui/pages/column_widths.h"

#include <QEvent>
#include <QHeaderView>
#include <QTableView>
#include <algorithm>

namespace headway::gui {
namespace {

constexpr int kNarrowest = 56;
constexpr int kWidest = 260;
constexpr int kFirstLeast = 180;

}  // namespace

ColumnWidths::ColumnWidths(QTableView& view)
    : QObject(&view), view_(view), viewport_(view.viewport()) {
  viewport_->installEventFilter(this);
  connect(view_.horizontalHeader(), &QHeaderView::sectionResized, this, [this](int section) {
    if (fitting_) return;
    if (section == 0) dragged_ = true;
    stretch_first();
  });
}

void ColumnWidths::fit() {
  fitting_ = true;
  for (int column = 0; column < view_.model()->columnCount(); ++column) {
    view_.resizeColumnToContents(column);
    int wanted = view_.columnWidth(column) + 8;
    view_.setColumnWidth(column, std::clamp(wanted, kNarrowest, kWidest));
  }
  fitting_ = false;
  stretch_first();
}

void ColumnWidths::stretch_first() {
  if (dragged_ || fitting_ || view_.model()->columnCount() == 0) return;
  int others = 0;
  for (int column = 1; column < view_.model()->columnCount(); ++column)
    others += view_.columnWidth(column);
  fitting_ = true;
  view_.setColumnWidth(0, std::max(kFirstLeast, view_.viewport()->width() - others));
  fitting_ = false;
}

bool ColumnWidths::eventFilter(QObject* object, QEvent* event) {
  // Also called for a view that is being destroyed and is no table any more.
  if (object == viewport_ && event->type() == QEvent::Resize) stretch_first();
  return QObject::eventFilter(object, event);
}

}  // namespace headway::gui
