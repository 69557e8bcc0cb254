// SPDX-License-Identifier: MIT
#pragma once

#include <QLabel>

namespace headway::gui {

/// A label for text of the recorded program. It shows plain text only, and it breaks a word that is
/// too long for the line (as C++ names are) instead of widening the page. A right click copies.
class WrapLabel : public QLabel {
  Q_OBJECT
 public:
  explicit WrapLabel(const QString& text, QWidget* parent = nullptr);

  /// One line that ends in an ellipsis if it does not fit.
  void set_single_line(bool single);
  /// For secondary text: uses the palette's placeholder colour.
  void set_dim(bool dim);

  int heightForWidth(int width) const override;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  template <class Visit>
  int for_each_line(int width, Visit visit) const;

  bool single_ = false;
  bool dim_ = false;
};

WrapLabel* plain_label(const QString& text, QWidget* parent = nullptr);
WrapLabel* dim_label(const QString& text, QWidget* parent = nullptr);
/// A heading, `points` larger than the program's font.
WrapLabel* heading_label(const QString& text, qreal points, QWidget* parent = nullptr);

/// A text that works as a link, by mouse or keyboard.
class LinkLabel : public WrapLabel {
  Q_OBJECT
 public:
  explicit LinkLabel(const QString& text, QWidget* parent = nullptr);

 signals:
  void followed();

 protected:
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace headway::gui
