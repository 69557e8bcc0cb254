// SPDX-License-Identifier: MIT
#pragma once

#include <QObject>

class QTableView;
class QWidget;

namespace headway::gui {

/// Sets the widths of a table's columns. Each is as wide as its visible cells need; the first,
/// which names the row, takes the remaining width until the user drags it.
class ColumnWidths : public QObject {
  Q_OBJECT
 public:
  /// The view owns this object.
  explicit ColumnWidths(QTableView& view);

  /// Call after the rows changed.
  void fit();
  /// Call for another table: forgets the width that the user gave the first column.
  void forget() { dragged_ = false; }

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void stretch_first();

  QTableView& view_;
  QWidget* viewport_;
  bool dragged_ = false;  ///< the user chose the first column's width
  bool fitting_ = false;  ///< this object is changing a width
};

}  // namespace headway::gui
