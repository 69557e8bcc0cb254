// SPDX-License-Identifier: MIT
#pragma once

#include <QWidget>

#include "gui/models/figures/step_outliers.h"
#include "gui/timeline/hover_card.h"

namespace headway::gui {

/// A histogram of step durations.
class HistogramView : public QWidget {
  Q_OBJECT
 public:
  explicit HistogramView(QWidget* parent = nullptr);

  /// The chart must outlive the view or be replaced; null: empty.
  void set_chart(const StepChart* chart, const StepSpread& spread);
  void set_theme(const Theme& theme);
  QSize sizeHint() const override { return {340, 150}; }
  QSize minimumSizeHint() const override { return {220, 120}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  QRect plot() const;
  int x_of(DurationNs length) const;

  const Theme* theme_ = &Theme::light();
  HoverCard* card_;
  StepHistogram histogram_;
  StepSpread spread_;
};

}  // namespace headway::gui
