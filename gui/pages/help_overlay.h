// SPDX-License-Identifier: MIT
#pragma once

#include <QFont>
#include <QPointer>
#include <QString>
#include <QWidget>
#include <vector>

#include "gui/timeline/theme.h"

namespace headway::gui {

/// A key or gesture with its effect; a heading where `right` is empty.
struct HelpLine {
  QString left;
  QString right;
  int height = 0;
};
struct HelpBlock {
  std::vector<HelpLine> lines;
  int keys = 0;  ///< widths of the two halves, 10 pixels apart
  int words = 0;
};
/// The positions of all lines. Words that are too long for their column wrap.
struct HelpLayout {
  std::vector<std::vector<HelpBlock>> columns;
  QFont font;
  int line = 0;
  int column_width = 0;
  int height = 0;  ///< of the tallest column
};
/// Uses as few columns as fit the height; a smaller font if three do not fit.
HelpLayout lay_out(const QFont& font, QSize room);

/// All keys and gestures, shown over the window; any key or click closes it.
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
  QPointer<QWidget> focused_;  ///< the widget with the keyboard focus before the help was shown
  const Theme* theme_ = &Theme::light();
};

}  // namespace headway::gui
