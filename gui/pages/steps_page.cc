// SPDX-License-Identifier: MIT
#include "gui/pages/steps_page.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

#include "gui/models/display_text.h"
#include "gui/pages/labels.h"

namespace headway::gui {

StepsPage::StepsPage(QWidget* parent)
    : PageWidget(parent),
      device_(new QComboBox),
      how_(plain_label({})),
      chart_(new StepChartView),
      legend_(new LegendBar),
      empty_(plain_label({})) {
  device_->setAccessibleName(tr("Device"));
  QHBoxLayout* bar = new QHBoxLayout;
  bar->setContentsMargins(10, 7, 10, 7);
  bar->setSpacing(10);
  bar->addWidget(device_);
  bar->addWidget(how_, 1);
  QVBoxLayout* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(bar);
  layout->addWidget(chart_, 1);
  layout->addWidget(legend_);
  empty_->setAlignment(Qt::AlignCenter);
  empty_->hide();
  layout->addWidget(empty_, 1);
  connect(device_, &QComboBox::currentIndexChanged, this, &StepsPage::show_chart);
  connect(chart_, &StepChartView::bar_followed, this, [this](std::uint32_t index) {
    const StepBar& one =
        session_->step_charts[static_cast<std::size_t>(device_->currentIndex())].bars[index];
    emit followed(
        {.page = Page::kTimeline, .target = Target::step(one.step), .view = one.interval});
  });
}

void StepsPage::set_session(std::shared_ptr<const Session> session) {
  chart_->set_chart(nullptr);
  session_ = std::move(session);
  device_->clear();
  bool any = session_ && !session_->step_charts.empty();
  chart_->setVisible(any);
  legend_->setVisible(any);
  empty_->setVisible(!any);
  if (!session_) return;
  QString how = QString::fromStdString(display_text(session_->analysis.steps.how, 300));
  how_->setText(any ? how : QString());
  empty_->setText(tr("No training steps were found in this trace.\n%1\n\nMark each step with an "
                     "NVTX range named \"step\", and record again.")
                      .arg(how));
  for (const StepChart& chart : session_->step_charts)
    device_->addItem(QString::fromStdString(chart.title));
  device_->setVisible(session_->step_charts.size() > 1);
  if (any) show_chart(0);
}

void StepsPage::show_chart(int index) {
  if (!session_ || index < 0 || index >= static_cast<int>(session_->step_charts.size())) return;
  const StepChart& chart = session_->step_charts[static_cast<std::size_t>(index)];
  chart_->set_chart(&chart);
  legend_->set_classes(chart.classes);
}

void StepsPage::set_theme(const Theme& theme) {
  chart_->set_theme(theme);
  legend_->set_theme(theme);
}

}  // namespace headway::gui
