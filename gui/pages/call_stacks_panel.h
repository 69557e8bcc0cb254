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
  QString note() const;

 signals:
  void followed(const headway::gui::Target& target);
  void source_wanted(const headway::gui::Target& target);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void want();
  void make(trace::ThreadId thread);
  void show_threads(const StackThreads& found);
  void show_stacks(std::shared_ptr<const FlameGraph> stacks);

  std::shared_ptr<const Session> session_;
  Interval range_;
  Target about_;
  bool old_ = true;
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
