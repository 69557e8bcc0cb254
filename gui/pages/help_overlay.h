// SPDX-License-Identifier: MIT
#pragma once

#include <QPointer>
#include <QWidget>

#include "gui/timeline/theme.h"

namespace headway::gui {

/// All keys and gestures, over the window; any key or click closes it.
class HelpOverlay : public QWidget {
  Q_OBJECT
 public:
  explicit HelpOverlay(QWidget* parent);

  void set_theme(const Theme& theme);
  void toggle();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  QPointer<QWidget> focused_;  ///< before the help was shown: keys go on there
  const Theme* theme_ = &Theme::light();
};

}  // namespace headway::gui
