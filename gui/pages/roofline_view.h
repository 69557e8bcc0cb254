// SPDX-License-Identifier: MIT
#pragma once

#include <QWidget>
#include <memory>

#include "gui/models/figures/roofline.h"
#include "gui/timeline/hover_card.h"

namespace headway::gui {

/// Kernels by arithmetic intensity and rate under the device's roofs; both axes are logarithmic.
class RooflineView : public QWidget {
  Q_OBJECT
 public:
  explicit RooflineView(QWidget* parent = nullptr);

  void set_roofline(std::shared_ptr<const Roofline> roofline);
  void set_theme(const Theme& theme);
  /// Centre of a point, by index into Roofline's points.
  QPointF place_of(std::size_t point) const;
  std::optional<std::size_t> point_at(const QPointF& at) const;
  QSize minimumSizeHint() const override { return {420, 240}; }

 signals:
  void followed(const headway::gui::Target& longest);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  QRectF plot() const;
  /// In pixels: the area grows with the share of device time, between two bounds.
  double radius_of(const RooflinePoint& point) const;
  /// The pixel position of an intensity (flops per byte) and a rate (flops per second).
  QPointF at(double intensity, double rate) const;
  void paint_grid(QPainter& painter) const;
  void paint_roofs(QPainter& painter, std::vector<QRectF>& taken) const;
  void paint_points(QPainter& painter, std::vector<QRectF>& taken) const;
  QStringList describe(std::size_t point) const;
  void set_current(std::size_t point);

  std::shared_ptr<const Roofline> data_;
  LogAxis x_;  ///< flops per byte
  LogAxis y_;  ///< flops per second
  const Theme* theme_ = &Theme::light();
  HoverCard* card_;
  std::optional<std::size_t> current_;
};

}  // namespace headway::gui
