// SPDX-License-Identifier: MIT
#pragma once

#include <QComboBox>

#include "gui/pages/computed_page.h"
#include "gui/pages/roofline_view.h"

namespace headway::gui {

class DataTable;

/// The rates that kernels achieve, compared with the device's limits.
class RooflinePage : public ComputedPage {
  Q_OBJECT
 public:
  explicit RooflinePage(QWidget* parent = nullptr);

  void set_theme(const Theme& theme) override;
  RooflineView& view() { return *view_; }
  DataTable& table() { return *table_; }

 protected:
  BackgroundTask::Work make_work() override;
  void clear() override;

 private:
  QComboBox* grouping_;
  WrapLabel* text_;
  RooflineView* view_;
  DataTable* table_;
};

}  // namespace headway::gui
