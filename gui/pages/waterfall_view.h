// SPDX-License-Identifier: MIT
#pragma once

#include <QWidget>
#include <optional>

#include "gui/models/figures/summary.h"
#include "gui/timeline/theme.h"

namespace headway::gui {

/// The time classes of one step: each bar starts where the one above it ends; together they are the
/// step.
class WaterfallView : public QWidget {
  Q_OBJECT
 public:
  explicit WaterfallView(QWidget* parent = nullptr);

  void set_waterfall(std::optional<Waterfall> waterfall);
  void set_theme(const Theme& theme);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {320, sizeHint().height()}; }
  int row_height() const { return fontMetrics().height() + 8; }

 signals:
  void class_followed(analyzer::TimeClass time_class);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  std::optional<std::size_t> row_at(int y) const;
  void set_current(std::optional<std::size_t> row);

  std::optional<Waterfall> waterfall_;
  const Theme* theme_ = &Theme::light();
  std::optional<std::size_t> current_;
};

}  // namespace headway::gui
