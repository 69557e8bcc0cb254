// SPDX-License-Identifier: MIT
#pragma once

#include <QWidget>
#include <memory>

#include "gui/models/figures/rank_map.h"
#include "gui/timeline/hover_card.h"

namespace headway::gui {

/// A map of ranks by steps, coloured by one figure. Where steps are narrower than a pixel, a column
/// shows the largest value of its steps.
class HeatMapView : public QWidget {
  Q_OBJECT
 public:
  explicit HeatMapView(QWidget* parent = nullptr);

  void set_map(std::shared_ptr<const RankMap> map);
  void set_metric(RankMetric metric);
  void set_theme(const Theme& theme);
  /// Where a cell is drawn.
  QRect rect_of(std::uint32_t row, std::uint32_t column) const;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 signals:
  /// Indices into the map's ranks and steps.
  void cell_followed(std::uint32_t row, std::uint32_t column);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  /// A cell: rank and step, as indices into the map.
  struct At {
    std::uint32_t row = 0;
    std::uint32_t column = 0;
  };
  QRect plot() const;
  int row_height() const;
  /// Minimum row height, in pixels, at which ranks are named.
  int least_labelled() const;
  int name_width() const;
  std::optional<At> at(const QPoint& point) const;
  /// The colour of a value, scaled between the ends of the metric's range.
  QRgb color_of(DurationNs value) const;
  void paint_rows(QPainter& painter, const QRect& area) const;
  void paint_axis(QPainter& painter, const QRect& area) const;
  void paint_legend(QPainter& painter, const QRect& area) const;
  QStringList describe(const At& cell) const;
  void set_current(At cell);

  std::shared_ptr<const RankMap> map_;
  RankMetric metric_ = RankMetric::kStep;
  std::pair<DurationNs, DurationNs> range_;
  const Theme* theme_ = &Theme::light();
  HoverCard* card_;
  std::optional<At> current_;
};

}  // namespace headway::gui
