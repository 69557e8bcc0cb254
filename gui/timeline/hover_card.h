// SPDX-License-Identifier: MIT
#pragma once

#include <QString>
#include <QWidget>

#include "gui/timeline/theme.h"

namespace headway::gui {

/// The note at the pointer. A child widget and plain text only: no window of its own (cheap over X
/// forwarding, part of a grabbed picture), no rich text (names are data).
class HoverCard : public QWidget {
  Q_OBJECT
 public:
  explicit HoverCard(QWidget* parent);

  void set_theme(const Theme& theme);
  /// Shows the lines, the first one bold, beside `pointer`, inside the parent.
  void show_at(const QPoint& pointer, const QStringList& lines);
  const QStringList& lines() const { return lines_; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QFont bold() const;

  const Theme* theme_ = &Theme::light();
  QStringList lines_;
};

}  // namespace headway::gui
