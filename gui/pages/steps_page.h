// SPDX-License-Identifier: MIT
#pragma once

#include <QComboBox>
#include <QLabel>
#include <memory>

#include "gui/models/session.h"
#include "gui/pages/legend_bar.h"
#include "gui/pages/step_chart_view.h"

namespace headway::gui {

/// The steps of a device side by side.
class StepsPage : public QWidget {
  Q_OBJECT
 public:
  explicit StepsPage(QWidget* parent = nullptr);

  void set_session(std::shared_ptr<const Session> session);
  void set_theme(const Theme& theme);
  StepChartView& chart() { return *chart_; }

 signals:
  /// A step to look at: which, and where on the device.
  void step_followed(std::uint32_t step, headway::Interval where);

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
