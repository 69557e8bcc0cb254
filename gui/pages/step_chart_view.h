// SPDX-License-Identifier: MIT
#pragma once

#include <QWidget>
#include <map>
#include <optional>

#include "gui/models/figures/step_chart.h"
#include "gui/timeline/hover_card.h"
#include "gui/timeline/theme.h"

namespace headway::gui {

/// Steps as bars, stacked by class. Steps that are excluded from the figures are pale and marked.
class StepChartView : public QWidget {
  Q_OBJECT
 public:
  explicit StepChartView(QWidget* parent = nullptr);

  /// The chart must outlive the view or be replaced; null: empty.
  void set_chart(const StepChart* chart);
  /// Bars to mark, with the reason of each; by index into the chart's bars.
  void set_outliers(std::map<std::uint32_t, QString> reasons);
  void set_theme(const Theme& theme);
  /// The bar at a point: index into the chart's bars.
  std::optional<std::uint32_t> bar_at(const QPoint& point) const;
  /// The bottom centre of a bar.
  QPoint place_of(std::uint32_t bar) const;
  std::uint32_t first() const { return first_; }
  std::uint32_t last() const { return last_; }

 signals:
  void bar_followed(std::uint32_t bar);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  struct Shape;
  Shape shape() const;
  void paint_axis(QPainter& painter, const Shape& shape) const;
  void paint_bar(QPainter& painter, const Shape& shape, const QRect& slot,
                 const StepBar& bar) const;
  void paint_cut_values(QPainter& painter, const Shape& shape) const;
  void paint_numbers(QPainter& painter, const Shape& shape) const;
  void set_current(std::uint32_t bar);
  QStringList describe_bar(std::uint32_t bar, std::uint32_t shared) const;

  const StepChart* chart_ = nullptr;
  std::map<std::uint32_t, QString> outliers_;
  const Theme* theme_ = &Theme::light();
  HoverCard* card_;
  std::uint32_t first_ = 0;
  std::uint32_t last_ = 0;
  std::optional<std::uint32_t> current_;
};

}  // namespace headway::gui
