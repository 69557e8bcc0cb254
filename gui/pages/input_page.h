// SPDX-License-Identifier: MIT
#pragma once

#include <QSplitter>
#include <QTabWidget>

#include "gui/pages/computed_page.h"
#include "gui/pages/stacked_bars_view.h"

namespace headway::gui {

class DataTable;

/// How batches are made: the work of each loader worker, the stage that limits, the waits for
/// batches.
class InputPage : public ComputedPage {
  Q_OBJECT
 public:
  explicit InputPage(QWidget* parent = nullptr);

  void set_theme(const Theme& theme) override;
  StackedBarsView& workers() { return *workers_; }
  DataTable& stages() { return *stages_; }
  QString text() const;

 protected:
  BackgroundTask::Work make_work() override;
  void clear() override;

 private:
  QSplitter* body_ = nullptr;
  WrapLabel* text_;
  StackedBarsView* workers_;
  QTabWidget* tabs_;
  DataTable* stages_;
  DataTable* threads_;
  DataTable* waits_;
  DataTable* copies_;
};

}  // namespace headway::gui
