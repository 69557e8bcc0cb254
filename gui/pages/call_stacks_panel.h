// SPDX-License-Identifier: MIT
#pragma once

#include <QComboBox>
#include <QLineEdit>
#include <QScrollArea>
#include <QWidget>
#include <memory>

#include "gui/background_task.h"
#include "gui/models/flames/call_stacks.h"
#include "gui/models/opening/session.h"
#include "gui/pages/flame_view.h"

namespace headway::gui {

class WrapLabel;

/// What a thread of the host did in the selected stretch of time, as an icicle: outermost ranges on top. Made on another
/// thread, and only while it is seen.
class CallStacksPanel : public QWidget {
  Q_OBJECT
 public:
  explicit CallStacksPanel(QWidget* parent = nullptr);

  /// The stretch, and what it belongs to: a selected gap, step or event. Empty: nothing is selected.
  void set_range(std::shared_ptr<const Session> session, Interval range, const Target& about);
  void set_theme(const Theme& theme) { view_->set_theme(theme); }
  FlameView& view() { return *view_; }
  QComboBox& threads() { return *threads_; }
  QLineEdit& search() { return *search_; }
  /// What stands above the stacks: whose time, and how much of it no range explains.
  QString note() const;

 signals:
  /// The longest event of a box.
  void followed(const headway::gui::Target& target);
  /// The line of the program that a box stands for.
  void source_wanted(const headway::gui::Target& target);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  /// Makes the stacks if they are old and the panel is seen.
  void want();
  /// Of another thread, which the reader chose.
  void make(trace::ThreadId thread);
  void show_threads(const StackThreads& found);
  void show_stacks(std::shared_ptr<const FlameGraph> stacks);

  std::shared_ptr<const Session> session_;
  Interval range_;
  Target about_;
  bool old_ = true;  ///< what is shown is not of `range_`
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
