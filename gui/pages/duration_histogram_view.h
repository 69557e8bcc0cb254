// SPDX-License-Identifier: MIT
#pragma once

#include <QWidget>
#include <algorithm>
#include <optional>
#include <utility>

#include "gui/models/figures/duration_histogram.h"
#include "gui/timeline/hover_card.h"

namespace headway::gui {

/// Durations on a logarithmic scale. Dragging selects a range of them, arrow keys move it, and with
/// Shift they widen it. A click beside the selection or Esc removes it.
class DurationHistogramView : public QWidget {
  Q_OBJECT
 public:
  explicit DurationHistogramView(QWidget* parent = nullptr);

  /// Keeps the selection.
  void set_histogram(const DurationHistogram& histogram);
  void set_theme(const Theme& theme);
  /// [first, last) of bins; none: all.
  const std::optional<std::pair<int, int>>& selection() const { return selection_; }
  void select(std::optional<std::pair<int, int>> bins);
  /// Where bars are drawn; the axis is below it.
  QRect plot() const;
  /// Left edge of a bin.
  int x_of(int bin) const;
  QSize sizeHint() const override { return {300, 140}; }
  QSize minimumSizeHint() const override { return {160, 90}; }

 signals:
  /// Emitted for the user's selections only. `least` 0 with `below` INT64_MAX ns: all durations.
  void range_selected(headway::DurationNs least, headway::DurationNs below);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  int bin_at(int x) const;
  // One empty bin on both sides, so that a single bar does not fill the view.
  int first_shown() const { return std::max(0, histogram_.first() - 1); }
  int last_shown() const { return std::min(DurationHistogram::bins(), histogram_.last() + 1); }
  void choose(std::optional<std::pair<int, int>> bins);
  /// Emits range_selected() for the selected bins.
  void tell_selection();

  const Theme* theme_ = &Theme::light();
  HoverCard* card_;
  DurationHistogram histogram_;
  std::optional<std::pair<int, int>> selection_;
  int anchor_ = -1;  ///< bin where a drag began; -1: none
  bool dragged_ = false;
};

}  // namespace headway::gui
