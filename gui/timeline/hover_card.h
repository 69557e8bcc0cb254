// SPDX-License-Identifier: MIT
#pragma once

#include <QString>
#include <QWidget>

#include "gui/timeline/theme.h"

namespace headway::gui {

/// The note at the pointer. A child widget, not a window: cheap over X forwarding and part of a
/// grabbed picture. Plain text only, because names are untrusted.
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
