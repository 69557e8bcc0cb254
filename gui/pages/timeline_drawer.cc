// SPDX-License-Identifier: MIT
#include "gui/pages/timeline_drawer.h"

#include <QKeyEvent>
#include <QTabBar>
#include <QToolButton>

namespace headway::gui {

TimelineDrawer::TimelineDrawer(QWidget* parent)
    : QTabWidget(parent),
      hits_(new HitsPanel),
      rows_(new RangeRowsPanel),
      stacks_(new CallStacksPanel) {
  setDocumentMode(true);
  setAccessibleName(tr("Tables of the timeline"));
  addTab(hits_, tr("Search hits"));
  addTab(rows_, tr("Range by row"));
  addTab(stacks_, tr("Call stacks"));
  QToolButton* close = new QToolButton;
  close->setText(QStringLiteral("×"));
  close->setAutoRaise(true);
  close->setAccessibleName(tr("Hide these tables"));
  close->setToolTip(tr("Hide (Esc)"));
  setCornerWidget(close);
  hide();
  const auto leave = [this] {
    hide();
    emit turned();
    emit left();
  };
  connect(close, &QToolButton::clicked, this, leave);
  connect(this, &QTabWidget::currentChanged, this, &TimelineDrawer::turned);
  connect(hits_, &HitsPanel::followed, this, &TimelineDrawer::followed);
  connect(rows_, &RangeRowsPanel::followed, this, &TimelineDrawer::followed);
  connect(stacks_, &CallStacksPanel::followed, this, &TimelineDrawer::followed);
}

void TimelineDrawer::toggle(QWidget& panel) {
  const bool hide_it = shows(panel);
  setCurrentWidget(&panel);
  setVisible(!hide_it);
  if (!hide_it) panel.setFocus(Qt::ShortcutFocusReason);
  emit turned();
  if (hide_it) emit left();
}

void TimelineDrawer::keyPressEvent(QKeyEvent* event) {
  if (event->key() != Qt::Key_Escape) return QTabWidget::keyPressEvent(event);
  hide();
  emit turned();
  emit left();
}

}  // namespace headway::gui
