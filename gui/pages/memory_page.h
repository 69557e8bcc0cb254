// SPDX-License-Identifier: MIT
#pragma once

#include <QTabWidget>

#include "gui/pages/computed_page.h"
#include "gui/pages/counter_charts.h"

namespace headway::gui {

class DataTable;

/// Memory over time and by step, allocations, and copies between memories.
class MemoryPage : public ComputedPage {
  Q_OBJECT
 public:
  explicit MemoryPage(QWidget* parent = nullptr);

  void set_theme(const Theme& theme) override;
  CounterCharts& charts() { return *charts_; }
  DataTable& copies() { return *copies_; }
  QTabWidget& tabs() { return *tabs_; }

 protected:
  BackgroundTask::Work make_work() override;
  void clear() override;

 private:
  std::shared_ptr<const MemoryUsage> data_;
  QTabWidget* tabs_;
  WrapLabel* text_;
  CounterCharts* charts_;
  DataTable* growth_;
  DataTable* steps_;
  DataTable* calls_;
  DataTable* copies_;
};

}  // namespace headway::gui
