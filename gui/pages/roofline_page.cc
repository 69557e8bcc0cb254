// SPDX-License-Identifier: MIT
#include "gui/pages/roofline_page.h"

#include <QSplitter>
#include <QVBoxLayout>

#include "gui/pages/data_table.h"
#include "gui/pages/labels.h"

namespace headway::gui {

RooflinePage::RooflinePage(QWidget* parent)
    : ComputedPage(parent),
      grouping_(new QComboBox),
      text_(plain_label({})),
      view_(new RooflineView),
      table_(new DataTable(tr("Achieved and possible rates"))) {
  grouping_->addItems({tr("By model op"), tr("By op type"), tr("By kernel")});
  grouping_->setCurrentIndex(static_cast<int>(OpGrouping::kType));
  grouping_->setAccessibleName(tr("Group kernels"));
  QHBoxLayout* bar = new QHBoxLayout;
  bar->setContentsMargins(10, 7, 10, 7);
  bar->setSpacing(10);
  bar->addWidget(grouping_, 0, Qt::AlignTop);
  bar->addWidget(text_, 1);
  QWidget* top = new QWidget;
  QVBoxLayout* layout = new QVBoxLayout(top);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(bar);
  layout->addWidget(view_, 1);
  QSplitter* body = new QSplitter(Qt::Vertical);
  body->setHandleWidth(1);
  body->setChildrenCollapsible(false);
  body->addWidget(top);
  body->addWidget(table_);
  body->setStretchFactor(0, 1);
  body->setSizes({540, 240});
  body->setFocusProxy(view_);
  set_body(body);
  connect(grouping_, &QComboBox::currentIndexChanged, this, [this] { restart(); });
  connect(view_, &RooflineView::followed, this, &RooflinePage::follow);
  connect(table_, &DataTable::row_followed, this, &RooflinePage::follow);
}

BackgroundTask::Work RooflinePage::make_work() {
  OpGrouping grouping = static_cast<OpGrouping>(grouping_->currentIndex());
  return [this, session = session(), grouping](const std::atomic<bool>&) -> BackgroundTask::Show {
    auto made = std::make_shared<const Roofline>(
        make_roofline(session->trace, session->analysis, grouping));
    return [this, made] {
      if (!made->missing.empty()) return show_empty(QString::fromStdString(made->missing));
      text_->setText(QString::fromStdString(made->text));
      view_->set_roofline(made);
      table_->set_table(std::shared_ptr<const LinkedTable>(made, &made->table));
    };
  };
}

void RooflinePage::clear() {
  view_->set_roofline(nullptr);
  table_->set_table(nullptr);
}

void RooflinePage::set_theme(const Theme& theme) {
  view_->set_theme(theme);
}

PageWidget* make_roofline_page() {
  return new RooflinePage;
}

}  // namespace headway::gui
