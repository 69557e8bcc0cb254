// SPDX-License-Identifier: MIT
#include "gui/pages/range_rows_panel.h"

#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "gui/models/figures/row_statistics.h"
#include "gui/pages/labels.h"

namespace headway::gui {

namespace {

constexpr int kNamesWidth = 640;

}  // namespace

RangeRowsPanel::RangeRowsPanel(QWidget* parent)
    : QWidget(parent),
      task_(new BackgroundTask(this)),
      table_(new DataTable(tr("Time range by row"))),
      copy_(new QToolButton),
      state_(dim_label({})) {
  copy_->setText(tr("Copy as text"));
  copy_->setToolTip(tr("Copy the selected rows, or all shown rows"));
  copy_->setAutoRaise(true);
  table_->add_control(copy_);
  table_->filter().setPlaceholderText(tr("Filter rows"));
  table_->filter().setMaximumWidth(160);
  table_->view().setTextElideMode(Qt::ElideRight);
  state_->setContentsMargins(10, 6, 10, 6);
  QVBoxLayout* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(state_);
  layout->addWidget(table_, 1);
  setFocusProxy(table_);
  connect(table_, &DataTable::row_followed, this, &RangeRowsPanel::followed);
  connect(copy_, &QToolButton::clicked, this, [this] {
    table_->copy(false);
    emit copied();
  });
  connect(task_, &BackgroundTask::failed, state_, [this](const QString& why) {
    state_->setText(why);
    state_->show();
  });
  set_range(nullptr, {});
}

void RangeRowsPanel::set_range(std::shared_ptr<const Session> session, Interval range) {
  if (session == session_ && range == range_ && !old_) return;
  task_->cancel();
  session_ = std::move(session);
  range_ = range;
  old_ = true;
  if (isVisible()) want();
}

void RangeRowsPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  want();
}

void RangeRowsPanel::want() {
  if (!old_) return;
  const bool any = session_ && !range_.empty();
  state_->setText(tr("Select a time range: drag along the ruler, or Shift+drag on the rows."));
  state_->setVisible(!any);
  copy_->setEnabled(any);
  if (!any) {
    old_ = false;
    return table_->set_table(nullptr);
  }
  task_->start([this, session = session_,
                range = range_](const std::atomic<bool>& cancelled) -> BackgroundTask::Show {
    return [this, rows = row_statistics(session->timeline, range, &cancelled)] {
      old_ = false;
      table_->set_table(rows);
      // The names are in the last column and may be long: the first name matters most.
      const int names = rows ? rows->column("names") : -1;
      if (names < 0) return;
      table_->view().resizeColumnToContents(names);
      table_->view().setColumnWidth(names,
                                    std::min(kNamesWidth, table_->view().columnWidth(names)));
    };
  });
}

}  // namespace headway::gui
