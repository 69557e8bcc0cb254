// SPDX-License-Identifier: MIT
#pragma once

#include <QWidget>

#include "gui/models/figures/stacked_bars.h"
#include "gui/timeline/hover_card.h"

namespace headway::gui {

/// Horizontal bars of parts with a time axis and a legend; its height follows the number of bars.
class StackedBarsView : public QWidget {
  Q_OBJECT
 public:
  explicit StackedBarsView(QWidget* parent = nullptr);

  void set_bars(StackedBars bars);
  void set_theme(const Theme& theme);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {320, sizeHint().height()}; }
  /// Where a part of a bar is drawn.
  QRect rect_of(std::size_t bar, std::size_t part) const;

 signals:
  void followed(const headway::gui::Target& target);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Hit {
    std::size_t bar = 0;
    std::size_t part = 0;
  };
  int bar_height() const { return fontMetrics().height() + 6; }
  int pitch() const { return bar_height() + 5; }
  int names_width() const;
  QRect plot() const;
  /// Paints the legend, or measures its height when `painter` is null.
  int legend(QPainter* painter, int top, int width) const;
  std::optional<Hit> hit(const QPoint& point) const;
  QStringList describe(const Hit& at) const;
  void set_current(Hit at);

  StackedBars bars_;
  const Theme* theme_ = &Theme::light();
  HoverCard* card_;
  std::optional<Hit> current_;  ///< bar part with the keyboard focus
};

}  // namespace headway::gui
