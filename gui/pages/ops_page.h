// SPDX-License-Identifier: MIT
#pragma once

#include <QComboBox>
#include <QLineEdit>
#include <QTableView>
#include <memory>

#include "gui/pages/op_table_model.h"
#include "gui/pages/page_widget.h"

namespace headway::gui {

class WrapLabel;

/// Device time by op of the model, type of op, or kernel: sorted, filtered, each line leading to
/// its longest event.
class OpsPage : public PageWidget {
  Q_OBJECT
 public:
  explicit OpsPage(QWidget* parent = nullptr);

  void set_session(std::shared_ptr<const Session> session) override;
  void set_theme(const Theme& theme) override;
  /// Shows and selects the line that a device op belongs to.
  void open(const Link& link) override;
  QTableView& table() { return *table_; }
  QLineEdit& filter() { return *filter_; }
  QComboBox& grouping() { return *grouping_; }

 private:
  void regroup();
  void show_basis();

  std::shared_ptr<const Session> session_;
  OpTableModel* model_;
  QTableView* table_;
  QLineEdit* filter_;
  QComboBox* grouping_;
  WrapLabel* basis_;
  WrapLabel* empty_;
};

}  // namespace headway::gui
