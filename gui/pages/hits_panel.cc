// SPDX-License-Identifier: MIT
#include "gui/pages/hits_panel.h"

#include <QHeaderView>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "gui/pages/labels.h"

namespace headway::gui {

namespace {

constexpr int kRowWidth = 120;

}  // namespace

HitsPanel::HitsPanel(QWidget* parent)
    : QWidget(parent),
      task_(new BackgroundTask(this)),
      table_(new DataTable(tr("Hits of the search"))),
      histogram_(new DurationHistogramView),
      state_(dim_label({})) {
  table_->filter().setPlaceholderText(tr("Filter the list"));
  table_->filter().setMaximumWidth(160);
  QSplitter* splitter = new QSplitter;
  splitter->addWidget(table_);
  splitter->addWidget(histogram_);
  splitter->setHandleWidth(1);
  splitter->setStretchFactor(0, 3);
  splitter->setStretchFactor(1, 1);
  splitter->setSizes({640, 220});
  splitter->setChildrenCollapsible(false);
  state_->setContentsMargins(10, 6, 10, 6);
  QVBoxLayout* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(state_);
  layout->addWidget(splitter, 1);
  setFocusProxy(table_);
  connect(table_, &DataTable::row_followed, this, &HitsPanel::followed);
  // The list is for stepping through: one click goes to a hit.
  connect(&table_->view(), &QTableView::clicked, this, [this](const QModelIndex& index) {
    if (const auto& shown = table_->model().table())
      emit followed(shown->link(table_->model().source(index.row())));
  });
  connect(
      table_->view().horizontalHeader(), &QHeaderView::sortIndicatorChanged, this,
      [this](int column, Qt::SortOrder order) { sorted_by(column, order == Qt::DescendingOrder); });
  connect(histogram_, &DurationHistogramView::range_selected, this,
          [this](DurationNs least, DurationNs below) {
            query_.least = least;
            query_.below = below;
            old_ = true;
            want();
          });
  connect(task_, &BackgroundTask::failed, state_, [this](const QString& why) {
    state_->setText(why);
    state_->show();
  });
  set_search(nullptr, nullptr);
}

void HitsPanel::set_search(std::shared_ptr<const Session> session,
                           std::shared_ptr<const Search> search) {
  task_->cancel();
  session_ = std::move(session);
  search_ = std::move(search);
  query_ = {};
  old_ = true;
  histogram_->select(std::nullopt);
  if (isVisible()) want();
}

void HitsPanel::set_theme(const Theme& theme) {
  histogram_->set_theme(theme);
}

void HitsPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  want();
}

void HitsPanel::want() {
  if (!old_) return;
  if (!search_) {
    show_list({});
    state_->setText(tr("Search for a name above (/) to list hits here."));
    state_->show();
    return;
  }
  task_->start([this, session = session_, search = search_,
                query = query_](const std::atomic<bool>& cancelled) {
    HitList list = list_hits(*session, *search, query, &cancelled);
    return [this, list = std::move(list)] { show_list(list); };
  });
}

void HitsPanel::show_list(HitList list) {
  old_ = false;
  list_ = std::move(list);
  state_->setVisible(list_.hits == 0);
  state_->setText(tr("No event name contains this text."));
  table_->set_table(list_.table);
  // Names and durations matter most; the row's path may be shortened in the middle.
  if (list_.table)
    table_->view().setColumnWidth(1, std::min(kRowWidth, table_->view().columnWidth(1)));
  histogram_->set_histogram(list_.histogram);
}

/// If the list does not have all hits, sorting by duration replaces them by the longest or
/// shortest.
void HitsPanel::sorted_by(int column, bool descending) {
  if (!search_ || !list_.table) return;
  const bool by_length = column == list_.table->column("duration_ns");
  const HitQuery::Keep keep = !by_length   ? HitQuery::Keep::kFirst
                              : descending ? HitQuery::Keep::kLongest
                                           : HitQuery::Keep::kShortest;
  if (keep == query_.keep) return;
  query_.keep = keep;
  if (list_.table->table.rows.size() == list_.in_duration) return;  // the list has all hits
  old_ = true;
  want();
}

}  // namespace headway::gui
