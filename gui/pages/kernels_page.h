// SPDX-License-Identifier: MIT
#pragma once

#include <QComboBox>

#include "gui/pages/computed_page.h"

namespace headway::gui {

class DataTable;

/// Kernels by name, by family or by launch; each row links to its longest kernel.
class KernelsPage : public ComputedPage {
  Q_OBJECT
 public:
  explicit KernelsPage(QWidget* parent = nullptr);

  void set_theme(const Theme&) override {}
  DataTable& table() { return *table_; }
  QComboBox& grouping() { return *grouping_; }
  QComboBox& scope() { return *scope_; }

 protected:
  BackgroundTask::Work make_work() override;
  void clear() override;
  void open_link(const Link& link) override;

 private:
  QComboBox* grouping_;
  QComboBox* scope_;
  DataTable* table_;
};

}  // namespace headway::gui
