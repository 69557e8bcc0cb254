// SPDX-License-Identifier: MIT
#pragma once

#include <QObject>

class QTableView;
class QWidget;

namespace headway::gui {

/// The widths of a table's columns: each as wide as what is in sight needs; the first, which names
/// the row, takes what the others leave, whatever the window's size, until the reader drags it.
class ColumnWidths : public QObject {
  Q_OBJECT
 public:
  /// Belongs to the view.
  explicit ColumnWidths(QTableView& view);

  /// After the rows changed.
  void fit();
  /// Another table: the width that the reader gave the first column is no longer meant.
  void forget() { dragged_ = false; }

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void stretch_first();

  QTableView& view_;
  QWidget* viewport_;
  bool dragged_ = false;  ///< the reader chose the first column's width
  bool fitting_ = false;  ///< the change of a width is ours
};

}  // namespace headway::gui
