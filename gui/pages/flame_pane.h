// SPDX-License-Identifier: MIT
#pragma once

#include <QComboBox>
#include <QLineEdit>
#include <QScrollArea>

#include "gui/pages/computed_page.h"
#include "gui/pages/flame_view.h"

namespace headway::gui {

/// A flame graph of device or host time with its search.
class FlamePane : public ComputedPage {
  Q_OBJECT
 public:
  explicit FlamePane(QWidget* parent = nullptr);

  void set_theme(const Theme& theme) override;
  FlameView& view() { return *view_; }
  QLineEdit& search() { return *search_; }
  QComboBox& weight() { return *weight_; }
  QComboBox& scope() { return *scope_; }
  QString note() const;

 protected:
  BackgroundTask::Work make_work() override;
  void clear() override;

 private:
  void show_note();

  QComboBox* weight_;
  QComboBox* scope_;
  QLineEdit* search_;
  WrapLabel* note_;
  FlameView* view_;
  QScrollArea* scroll_;
  std::shared_ptr<const FlameGraph> graph_;
};

}  // namespace headway::gui
