// SPDX-License-Identifier: MIT
#include "gui/pages/input_page.h"

#include <QScrollArea>
#include <QVBoxLayout>

#include "gui/models/figures/input_pipeline.h"
#include "gui/pages/data_table.h"
#include "gui/pages/labels.h"

namespace headway::gui {

InputPage::InputPage(QWidget* parent)
    : ComputedPage(parent),
      text_(plain_label({})),
      workers_(new StackedBarsView),
      tabs_(new QTabWidget),
      stages_(new DataTable(tr("Stages of the input pipeline"))),
      threads_(new DataTable(tr("Loader workers"))),
      waits_(new DataTable(tr("Waits for a batch by step"))),
      copies_(new DataTable(tr("Copies to the device"))) {
  text_->setContentsMargins(14, 10, 14, 10);
  QScrollArea* scroll = new QScrollArea;
  scroll->setWidget(workers_);
  scroll->setWidgetResizable(true);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  QWidget* top = new QWidget;
  QVBoxLayout* layout = new QVBoxLayout(top);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(text_);
  layout->addWidget(scroll, 1);
  tabs_->setDocumentMode(true);
  tabs_->setAccessibleName(tr("Input pipeline figures"));
  tabs_->addTab(stages_, tr("Stages"));
  tabs_->addTab(threads_, tr("Workers"));
  tabs_->addTab(waits_, tr("Waits by step"));
  tabs_->addTab(copies_, tr("Copies to the device"));
  QSplitter* body = body_ = new QSplitter(Qt::Vertical);
  body->setHandleWidth(1);
  body->setChildrenCollapsible(false);
  body->addWidget(top);
  body->addWidget(tabs_);
  body->setStretchFactor(1, 1);
  body->setSizes({340, 420});
  body->setFocusProxy(workers_);
  set_body(body);
  connect(workers_, &StackedBarsView::followed, this, &InputPage::follow);
  for (DataTable* table : {stages_, threads_, waits_, copies_})
    connect(table, &DataTable::row_followed, this, &InputPage::follow);
}

BackgroundTask::Work InputPage::make_work() {
  return [this, session = session()](const std::atomic<bool>&) -> BackgroundTask::Show {
    auto made =
        std::make_shared<InputPipeline>(make_input_pipeline(session->trace, session->analysis));
    auto shared = [&](LinkedTable& table) {
      return std::shared_ptr<const LinkedTable>(made, &table);
    };
    return [this, made, stages = shared(made->stages), threads = shared(made->threads),
            waits = shared(made->waits), copies = shared(made->copies)] {
      if (!made->missing.empty()) return show_empty(QString::fromStdString(made->missing));
      text_->setText(QString::fromStdString(made->text));
      workers_->set_bars(made->workers);
      workers_->parentWidget()->parentWidget()->setVisible(made->knows_stages);
      stages_->set_table(stages);
      threads_->set_table(threads);
      waits_->set_table(waits);
      copies_->set_table(copies);
      body_->setSizes({made->knows_stages ? 340 : 60, 420});
      tabs_->setTabVisible(0, made->knows_stages);
      tabs_->setTabVisible(1, made->knows_stages);
      tabs_->setTabVisible(2, made->knows_waits);
      tabs_->setTabVisible(3, !copies->table.rows.empty());
    };
  };
}

void InputPage::clear() {
  text_->setText({});
  workers_->set_bars({});
  for (DataTable* table : {stages_, threads_, waits_, copies_}) table->set_table(nullptr);
}

void InputPage::set_theme(const Theme& theme) {
  workers_->set_theme(theme);
}

QString InputPage::text() const {
  return text_->text();
}

PageWidget* make_input_page() {
  return new InputPage;
}

}  // namespace headway::gui
