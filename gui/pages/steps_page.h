// SPDX-License-Identifier: MIT
#pragma once

#include <QComboBox>
#include <QLabel>
#include <memory>

#include "gui/pages/legend_bar.h"
#include "gui/pages/page_widget.h"
#include "gui/pages/step_chart_view.h"

namespace headway::gui {

/// The steps of a device side by side.
class StepsPage : public PageWidget {
  Q_OBJECT
 public:
  explicit StepsPage(QWidget* parent = nullptr);

  void set_session(std::shared_ptr<const Session> session) override;
  void set_theme(const Theme& theme) override;
  StepChartView& chart() { return *chart_; }

 private:
  void show_chart(int index);

  std::shared_ptr<const Session> session_;
  QComboBox* device_;
  QLabel* how_;
  StepChartView* chart_;
  LegendBar* legend_;
  QLabel* empty_;
};

}  // namespace headway::gui
