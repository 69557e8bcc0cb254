// SPDX-License-Identifier: MIT
#pragma once

#include <QWidget>
#include <optional>

#include "gui/models/opening/session_pair.h"
#include "gui/timeline/theme.h"

namespace headway::gui {

/// From A's step to B's: the bar of each class starts where the bar above it ends, the largest
/// change first, so that the bars lead from one duration to the other. Negligible changes share one
/// row.
class ChangeWaterfall : public QWidget {
  Q_OBJECT
 public:
  explicit ChangeWaterfall(QWidget* parent = nullptr);

  /// Null: nothing is shown.
  void set_pair(std::shared_ptr<const SessionPair> pair);
  void set_theme(const Theme& theme);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {260, sizeHint().height()}; }
  int row_height() const { return fontMetrics().height() + 6; }

 signals:
  /// The user wants to see the longest stretch of that class.
  void class_followed(headway::analyzer::TimeClass time_class);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  struct Columns;
  Columns columns() const;
  void paint_row(QPainter& painter, const Columns& columns, int row, const QString& name,
                 const QString& value, DurationNs from, DurationNs to, const QColor& color) const;
  /// Index into `changes_` of the row at `y`; none outside the rows.
  std::optional<std::size_t> class_at(int y) const;
  void set_current(std::optional<std::size_t> row);

  std::shared_ptr<const SessionPair> pair_;
  const Theme* theme_ = &Theme::light();
  std::vector<ClassChange> changes_;    ///< changes that have a row of their own
  DurationNs rest_;                     ///< the sum of all other changes
  std::optional<std::size_t> current_;  ///< index into `changes_`
};

}  // namespace headway::gui
