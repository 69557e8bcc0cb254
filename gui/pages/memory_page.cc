// SPDX-License-Identifier: MIT
#include "gui/pages/memory_page.h"

#include <QScrollArea>
#include <QVBoxLayout>

#include "gui/models/details/findings.h"
#include "gui/pages/data_table.h"
#include "gui/pages/labels.h"

namespace headway::gui {

MemoryPage::MemoryPage(QWidget* parent)
    : ComputedPage(parent),
      tabs_(new QTabWidget),
      text_(plain_label({})),
      charts_(new CounterCharts),
      growth_(new DataTable(tr("Memory counters"))),
      steps_(new DataTable(tr("Memory peaks by step"))),
      calls_(new DataTable(tr("Allocations and frees"))),
      copies_(new DataTable(tr("Copies and memory sets"))) {
  text_->setContentsMargins(14, 10, 14, 6);
  QScrollArea* scroll = new QScrollArea;
  scroll->setWidget(charts_);
  scroll->setWidgetResizable(true);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  QWidget* over_time = new QWidget;
  QVBoxLayout* layout = new QVBoxLayout(over_time);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(text_);
  layout->addWidget(scroll, 1);
  over_time->setFocusProxy(charts_);
  tabs_->setDocumentMode(true);
  tabs_->setAccessibleName(tr("Memory figures"));
  tabs_->addTab(over_time, tr("Over time"));
  tabs_->addTab(growth_, tr("Peaks and growth"));
  tabs_->addTab(steps_, tr("By step"));
  tabs_->addTab(calls_, tr("Allocations"));
  tabs_->addTab(copies_, tr("Copies"));
  set_body(tabs_);
  connect(charts_, &CounterCharts::time_followed, this, [this](TimeNs time) {
    // Shows a hundredth of the visible time around that point, so that there is something to see.
    DurationNs around = charts_->mapping().visible().length() / 200;
    Interval view{time - std::max(around, DurationNs{500}),
                  time + std::max(around, DurationNs{500})};
    emit followed({.page = Page::kTimeline, .view = view});
  });
  for (DataTable* table : {growth_, steps_, calls_, copies_})
    connect(table, &DataTable::row_followed, this, &MemoryPage::follow);
}

BackgroundTask::Work MemoryPage::make_work() {
  return [this, session = session()](const std::atomic<bool>&) -> BackgroundTask::Show {
    auto made = std::make_shared<MemoryUsage>(make_memory_usage(session->trace, session->analysis));
    auto part = [&](LinkedTable& table) {
      return std::shared_ptr<const LinkedTable>(made, &table);
    };
    return [this, session, usage = std::shared_ptr<const MemoryUsage>(made),
            growth = part(made->growth), steps = part(made->steps), calls = part(made->calls),
            copies = part(made->copies)] {
      data_ = usage;
      bool counters = !usage->series.empty();
      QString text = QString::fromStdString(counters ? usage->text : usage->missing);
      if (!counters && calls->table.rows.empty() && copies->table.rows.empty())
        return show_empty(text + tr("\n\nNeither allocations nor copies were recorded."));
      text_->setText(text);
      charts_->set_data(usage, session->timeline.bounds);
      charts_->setVisible(counters);
      growth_->set_table(growth);
      steps_->set_table(steps);
      calls_->set_table(calls);
      copies_->set_table(copies);
      tabs_->setTabVisible(1, counters);
      tabs_->setTabVisible(2, counters && !steps->table.rows.empty());
      tabs_->setTabEnabled(3, !calls->table.rows.empty());
      tabs_->setTabToolTip(3, calls->table.rows.empty() ? tr("No call that allocates or frees "
                                                             "device memory was recorded")
                                                        : QString());
      tabs_->setTabEnabled(4, !copies->table.rows.empty());
      tabs_->setCurrentIndex(counters ? 0 : !copies->table.rows.empty() ? 4 : 3);
    };
  };
}

void MemoryPage::clear() {
  data_ = nullptr;
  charts_->set_data(nullptr, {});
  for (DataTable* table : {growth_, steps_, calls_, copies_}) table->set_table(nullptr);
}

void MemoryPage::set_theme(const Theme& theme) {
  charts_->set_theme(theme);
}

PageWidget* make_memory_page() {
  return new MemoryPage;
}

}  // namespace headway::gui
