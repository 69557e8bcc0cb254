// SPDX-License-Identifier: MIT
#pragma once

#include <QToolButton>
#include <QWidget>
#include <memory>

#include "gui/models/opening/session.h"
#include "gui/pages/data_table.h"
#include "gui/timeline/background_task.h"

namespace headway::gui {

class WrapLabel;

/// Statistics of each row for the selected time range. Computed on another thread, and only while
/// the panel is visible.
class RangeRowsPanel : public QWidget {
  Q_OBJECT
 public:
  explicit RangeRowsPanel(QWidget* parent = nullptr);

  /// An empty range: nothing is selected.
  void set_range(std::shared_ptr<const Session> session, Interval range);
  DataTable& table() { return *table_; }

 signals:
  void followed(const headway::gui::Target& target);
  void copied();

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void want();

  std::shared_ptr<const Session> session_;
  Interval range_;
  bool old_ = true;
  BackgroundTask* task_;
  DataTable* table_;
  QToolButton* copy_;
  WrapLabel* state_;
};

}  // namespace headway::gui
