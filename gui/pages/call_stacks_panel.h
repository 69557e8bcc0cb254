// SPDX-License-Identifier: MIT
#pragma once

#include <QComboBox>
#include <QLineEdit>
#include <QScrollArea>
#include <QWidget>
#include <memory>

#include "gui/models/flames/call_stacks.h"
#include "gui/models/opening/session.h"
#include "gui/pages/flame_view.h"
#include "gui/timeline/background_task.h"

namespace headway::gui {

class WrapLabel;

/// What a host thread did in the selected time range, as an icicle: outermost ranges on top.
/// Computed on another thread, and only while the panel is visible.
class CallStacksPanel : public QWidget {
  Q_OBJECT
 public:
  explicit CallStacksPanel(QWidget* parent = nullptr);

  /// The time range and the selected target that it belongs to: a gap, step or event. Empty: no
  /// selection.
  void set_range(std::shared_ptr<const Session> session, Interval range, const Target& about);
  void set_theme(const Theme& theme) { view_->set_theme(theme); }
  FlameView& view() { return *view_; }
  QComboBox& threads() { return *threads_; }
  QLineEdit& search() { return *search_; }
  /// The text above the stacks: which thread, and how much of its time no range covers.
  QString note() const;

 signals:
  /// The user wants to see the longest event of a box.
  void followed(const headway::gui::Target& target);
  /// The user wants to see the source line of a box.
  void source_wanted(const headway::gui::Target& target);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  /// Computes the stacks if they are out of date and the panel is visible.
  void want();
  /// Computes the stacks of a thread that the user chose.
  void make(trace::ThreadId thread);
  void show_threads(const StackThreads& found);
  void show_stacks(std::shared_ptr<const FlameGraph> stacks);

  std::shared_ptr<const Session> session_;
  Interval range_;
  Target about_;
  bool old_ = true;  ///< what is shown does not belong to `range_`
  BackgroundTask* task_;
  QComboBox* threads_;
  QLineEdit* search_;
  WrapLabel* note_;
  WrapLabel* state_;
  QWidget* bar_;
  FlameView* view_;
  QScrollArea* scroll_;
};

}  // namespace headway::gui
