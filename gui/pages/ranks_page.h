// SPDX-License-Identifier: MIT
#pragma once

#include <QComboBox>
#include <QTabWidget>

#include "gui/pages/computed_page.h"
#include "gui/pages/heat_map_view.h"
#include "gui/pages/stacked_bars_view.h"

namespace headway::gui {

class DataTable;

/// Ranks by steps: which rank is slow, which waits, and why. For one rank with several devices, its
/// devices.
class RanksPage : public ComputedPage {
  Q_OBJECT
 public:
  explicit RanksPage(QWidget* parent = nullptr);

  void set_theme(const Theme& theme) override;
  HeatMapView& map() { return *map_; }
  QComboBox& metric_choice() { return *metric_; }
  DataTable& stragglers() { return *stragglers_; }

 protected:
  BackgroundTask::Work make_work() override;
  void clear() override;

 private:
  QWidget* make_body();

  std::shared_ptr<const RankMap> data_;
  QComboBox* metric_;
  WrapLabel* text_;
  HeatMapView* map_;
  QTabWidget* tabs_;
  StackedBarsView* stacks_;
  DataTable* ranks_;
  DataTable* stragglers_;
  DataTable* collectives_;
};

}  // namespace headway::gui
