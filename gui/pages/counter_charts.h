// SPDX-License-Identifier: MIT
#pragma once

#include <QWidget>
#include <memory>

#include "gui/models/figures/memory_usage.h"
#include "gui/models/timeline/time_mapping.h"
#include "gui/timeline/hover_card.h"

namespace headway::gui {

/// Counters below each other on a common time axis. Ctrl+wheel zooms, dragging moves, a click goes
/// to that time on the timeline.
class CounterCharts : public QWidget {
  Q_OBJECT
 public:
  explicit CounterCharts(QWidget* parent = nullptr);

  void set_data(std::shared_ptr<const MemoryUsage> usage, Interval bounds);
  void set_theme(const Theme& theme);
  const TimeMapping& mapping() const { return mapping_; }
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {320, sizeHint().height()}; }

 signals:
  /// A click at that time.
  void time_followed(headway::TimeNs time);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  /// Width for the largest axis number, the same in all charts.
  int axis_width() const;
  /// Where the curve of a chart is drawn, without its axis.
  QRect plot(std::size_t chart) const;
  void set_mapping(const TimeMapping& mapping);
  void paint_chart(QPainter& painter, std::size_t chart, const ColumnGrid& grid) const;
  void paint_times(QPainter& painter) const;

  std::shared_ptr<const MemoryUsage> data_;
  Interval bounds_;
  TimeMapping mapping_;
  const Theme* theme_ = &Theme::light();
  HoverCard* card_;
  QPoint pressed_;
  TimeMapping pressed_mapping_;  ///< mapping at the start of the drag
  bool dragged_ = false;         ///< the pointer moved since it was pressed: no click
};

}  // namespace headway::gui
