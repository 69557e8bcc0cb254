// SPDX-License-Identifier: MIT
#pragma once

#include <QComboBox>

#include "gui/pages/computed_page.h"
#include "gui/pages/data_table.h"
#include "gui/pages/flame_pane.h"
#include "gui/pages/tabbed_page.h"

namespace headway::gui {

/// Device time by op of the model, op type, or kernel; each line links to its longest event.
class OpTablePane : public ComputedPage {
  Q_OBJECT
 public:
  explicit OpTablePane(QWidget* parent = nullptr);

  void set_theme(const Theme&) override {}
  DataTable& table() { return *table_; }
  QComboBox& grouping() { return *grouping_; }

 protected:
  BackgroundTask::Work make_work() override;
  void clear() override;
  /// Shows and selects the line that a device op belongs to.
  void open_link(const Link& link) override;

 private:
  QComboBox* grouping_;
  DataTable* table_;
  std::string wanted_;  ///< key to select when the table is ready
};

/// Ops as a table and as a flame graph.
class OpsPage : public TabbedPage {
  Q_OBJECT
 public:
  explicit OpsPage(QWidget* parent = nullptr);

  QTableView& table() { return pane_->table().view(); }
  QLineEdit& filter() { return pane_->table().filter(); }
  QComboBox& grouping() { return pane_->grouping(); }
  OpTablePane& ops() { return *pane_; }
  FlamePane& flames() { return *flames_; }

 private:
  OpTablePane* pane_;
  FlamePane* flames_;
};

}  // namespace headway::gui
