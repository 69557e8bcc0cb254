// SPDX-License-Identifier: MIT
#pragma once

#include <QComboBox>
#include <memory>
#include <vector>

#include "gui/pages/computed_page.h"
#include "gui/pages/histogram_view.h"
#include "gui/pages/legend_bar.h"
#include "gui/pages/step_chart_view.h"

namespace headway::gui {

class DataTable;

/// The steps of a device side by side, the spread of their durations, and the outliers with the
/// class that grew.
class StepsPage : public ComputedPage {
  Q_OBJECT
 public:
  explicit StepsPage(QWidget* parent = nullptr);

  void set_theme(const Theme& theme) override;
  StepChartView& chart() { return *chart_; }
  HistogramView& histogram() { return *histogram_; }
  DataTable& outliers() { return *outliers_; }

 protected:
  BackgroundTask::Work make_work() override;
  void clear() override;

 private:
  /// The figures shown for one chart of the session.
  struct Spread {
    StepSpread spread;
    std::shared_ptr<const LinkedTable> outliers;
  };
  QWidget* make_body();
  void show_chart(int index);

  std::vector<Spread> spreads_;  ///< by chart
  QComboBox* device_;
  WrapLabel* how_;
  StepChartView* chart_;
  LegendBar* legend_;
  HistogramView* histogram_;
  WrapLabel* text_;
  DataTable* outliers_;
};

}  // namespace headway::gui
