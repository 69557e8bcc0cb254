// SPDX-License-Identifier: MIT
#pragma once

#include <QWidget>
#include <vector>

#include "analyzer/model/time_class.h"
#include "gui/timeline/theme.h"

namespace headway::gui {

/// The colours of time classes with their names, on as many lines as needed, or on one line with a
/// button for the rest.
class LegendBar : public QWidget {
  Q_OBJECT
 public:
  explicit LegendBar(QWidget* parent = nullptr);

  void set_classes(std::vector<analyzer::TimeClass> classes);
  void set_theme(const Theme& theme);
  /// Adds a last entry that explains how merged events are drawn.
  void explain_merging(bool explain);

  /// Uses one line; entries that do not fit appear when the user clicks a last entry or presses
  /// Space.
  void set_single_line(bool single);
  bool is_open() const { return open_; }
  void set_open(bool open);

  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent*) override { update(); }
  void focusOutEvent(QFocusEvent*) override { update(); }

 private:
  struct Entry {
    QString text;
    QString doc;  ///< the meaning of the class, shown as a tooltip
    QBrush fill;
    QRect box;  ///< in pixels of the widget
    bool merging = false;
    bool opens = false;  ///< not a class: shows or hides the remaining entries
  };
  /// Keeps the entries that fit on a line, and adds one that opens the rest.
  void cut_to_line(std::vector<Entry>& entries, int width) const;
  /// All entries with their positions. `height`: receives the height of all lines; may be null.
  std::vector<Entry> arranged(int width, int* height) const;

  const Theme* theme_ = &Theme::light();
  std::vector<analyzer::TimeClass> classes_;
  bool explain_merging_ = false;
  bool single_ = false;
  bool open_ = false;
};

/// The classes that any device of the analysis spent time on.
struct Session;
std::vector<analyzer::TimeClass> used_classes(const Session& session);

}  // namespace headway::gui
