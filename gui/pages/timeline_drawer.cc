// SPDX-License-Identifier: MIT
#include "gui/pages/timeline_drawer.h"

#include <QAbstractItemView>
#include <QKeyEvent>
#include <QTabBar>
#include <QToolButton>

#include "gui/timeline/key_bindings.h"

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
  for (QAbstractItemView* table : findChildren<QAbstractItemView*>())
    table->installEventFilter(this);
}

void TimelineDrawer::toggle(QWidget& panel) {
  const bool hide_it = shows(panel);
  setCurrentWidget(&panel);
  setVisible(!hide_it);
  if (!hide_it) panel.setFocus(Qt::ShortcutFocusReason);
  emit turned();
  if (hide_it) emit left();
}

bool TimelineDrawer::turn(const QKeyEvent& event) {
  for (Command command : commands_for(event)) {
    if (command != Command::kSearchList && command != Command::kRangeByRow &&
        command != Command::kCallStacks)
      continue;
    emit asked(command);
    return true;
  }
  return false;
}

bool TimelineDrawer::eventFilter(QObject* object, QEvent* event) {
  if (event->type() == QEvent::KeyPress && turn(static_cast<const QKeyEvent&>(*event))) return true;
  return QTabWidget::eventFilter(object, event);
}

void TimelineDrawer::keyPressEvent(QKeyEvent* event) {
  if (turn(*event)) return;
  if (event->key() != Qt::Key_Escape) return QTabWidget::keyPressEvent(event);
  hide();
  emit turned();
  emit left();
}

}  // namespace headway::gui
