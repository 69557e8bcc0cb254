// SPDX-License-Identifier: MIT
#include "gui/pages/steps_page.h"

#include <QHBoxLayout>
#include <QSplitter>
#include <QVBoxLayout>

#include "gui/models/text/display_text.h"
#include "gui/pages/data_table.h"
#include "gui/pages/labels.h"

namespace headway::gui {

StepsPage::StepsPage(QWidget* parent)
    : ComputedPage(parent),
      device_(new QComboBox),
      how_(plain_label({})),
      chart_(new StepChartView),
      legend_(new LegendBar),
      histogram_(new HistogramView),
      text_(plain_label({})),
      outliers_(new DataTable(tr("Steps far slower than the others"))) {
  device_->setAccessibleName(tr("Device"));
  how_->set_single_line(true);
  outliers_->set_compact(true);
  set_body(make_body());
  connect(device_, &QComboBox::currentIndexChanged, this, &StepsPage::show_chart);
  connect(outliers_, &DataTable::row_followed, this, &StepsPage::follow);
  connect(chart_, &StepChartView::bar_followed, this, [this](std::uint32_t index) {
    const StepBar& one =
        session()->step_charts[static_cast<std::size_t>(device_->currentIndex())].bars[index];
    emit followed(
        {.page = Page::kTimeline, .target = Target::step(one.step), .view = one.interval});
  });
}

QWidget* StepsPage::make_body() {
  QWidget* top = new QWidget;
  QHBoxLayout* bar = new QHBoxLayout;
  bar->setContentsMargins(10, 7, 10, 7);
  bar->setSpacing(10);
  bar->addWidget(device_);
  bar->addWidget(how_, 1);
  QVBoxLayout* layout = new QVBoxLayout(top);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(bar);
  layout->addWidget(chart_, 1);
  layout->addWidget(legend_);
  QWidget* right = new QWidget;
  QVBoxLayout* list = new QVBoxLayout(right);
  list->setContentsMargins(0, 0, 0, 0);
  list->setSpacing(0);
  text_->setContentsMargins(10, 6, 10, 6);
  list->addWidget(text_);
  list->addWidget(outliers_, 1);
  list->addStretch();
  QSplitter* below = new QSplitter;
  below->setHandleWidth(1);
  below->addWidget(histogram_);
  below->addWidget(right);
  below->setStretchFactor(1, 1);
  below->setSizes({360, 900});
  QSplitter* body = new QSplitter(Qt::Vertical);
  body->setHandleWidth(1);
  body->setChildrenCollapsible(false);
  body->addWidget(top);
  body->addWidget(below);
  body->setStretchFactor(0, 1);
  body->setSizes({600, 210});
  body->setFocusProxy(chart_);
  return body;
}

BackgroundTask::Work StepsPage::make_work() {
  return [this, session = session()](const std::atomic<bool>&) -> BackgroundTask::Show {
    std::vector<Spread> spreads;
    for (const StepChart& chart : session->step_charts) {
      Spread& one = spreads.emplace_back();
      one.spread = spread_of(chart);
      one.outliers = std::make_shared<const LinkedTable>(outlier_table(chart, one.spread));
    }
    return [this, session, spreads = std::move(spreads)] {
      spreads_ = spreads;
      QString how = QString::fromStdString(display_text(session->analysis.steps.how, 300));
      how_->setText(how);
      if (spreads_.empty())
        return show_empty(tr("No training steps were found in this trace.\n%1\n\nMark each step "
                             "with an NVTX range named \"step\", and record again.")
                              .arg(how));
      device_->clear();
      for (const StepChart& chart : session->step_charts)
        device_->addItem(QString::fromStdString(chart.title));
      device_->setVisible(spreads_.size() > 1);
      show_chart(0);
    };
  };
}

void StepsPage::clear() {
  chart_->set_chart(nullptr);
  histogram_->set_chart(nullptr, {});
  outliers_->set_table(nullptr);
  spreads_.clear();
  device_->clear();
}

void StepsPage::show_chart(int index) {
  if (index < 0 || index >= static_cast<int>(spreads_.size())) return;
  const StepChart& chart = session()->step_charts[static_cast<std::size_t>(index)];
  const Spread& spread = spreads_[static_cast<std::size_t>(index)];
  chart_->set_chart(&chart);
  std::map<std::uint32_t, QString> reasons;
  for (const StepOutlier& outlier : spread.spread.outliers)
    reasons[outlier.bar] = QString::fromStdString(outlier.reason);
  chart_->set_outliers(std::move(reasons));
  legend_->set_classes(chart.classes);
  histogram_->set_chart(&chart, spread.spread);
  text_->setText(QString::fromStdString(spread.spread.text));
  outliers_->set_table(spread.outliers);
  outliers_->setVisible(!spread.outliers->table.rows.empty());
}

void StepsPage::set_theme(const Theme& theme) {
  chart_->set_theme(theme);
  legend_->set_theme(theme);
  histogram_->set_theme(theme);
}

PageWidget* make_steps_page() {
  return new StepsPage;
}

}  // namespace headway::gui
