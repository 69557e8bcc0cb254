// SPDX-License-Identifier: MIT
#pragma once

#include <QPushButton>
#include <QTreeWidget>
#include <memory>
#include <vector>

#include "gui/models/prediction/what_if.h"
#include "gui/timeline/background_task.h"
#include "gui/timeline/theme.h"

namespace headway::gui {

class WrapLabel;

/// Fixes to tick, and the predicted step time with all ticked fixes. Replays on another thread;
/// each tick cancels the former replay. The dependency graph is made when the panel is first
/// visible or a fix is ticked, and is kept while the trace is open.
class WhatIfPanel : public QWidget {
  Q_OBJECT
 public:
  explicit WhatIfPanel(QWidget* parent = nullptr);

  /// Unticks all fixes.
  void set_session(std::shared_ptr<const Session> session);
  void set_theme(const Theme& theme);
  /// Ticks these fixes and no others. If one does not apply, the result area says so.
  void tick(std::vector<const analyzer::Fix*> fixes);
  void untick_all() {
    if (!ticked_.empty()) tick({});
  }
  const std::vector<const analyzer::Fix*>& ticked() const { return ticked_; }
  bool is_replaying() const { return study_task_->is_running() || ask_task_->is_running(); }
  /// The answer for the ticked fixes; null while it is not known, or when none is ticked.
  const WhatIfAnswer* answer() const { return answer_.get(); }
  const std::shared_ptr<const WhatIfStudy>& study() const { return study_; }
  /// The text above the list.
  QString result() const;
  QTreeWidget& list() { return *list_; }
  /// The button that ticks the report's plan; hidden if there is no plan.
  QPushButton& plan() { return *plan_; }

 signals:
  /// The ticked fixes changed; the answer is not known yet.
  void ticks_changed();
  /// The prediction to show beside the recorded step; null: none.
  void predicted(std::shared_ptr<const headway::gui::PredictedTimeline> timeline);
  void failed(const QString& why);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  /// Fills the list: fixes that help, fixes that do not, and fixes that do not apply.
  void fill(const std::vector<FixChoice>& choices);
  void show_ticks();
  void show_plan();
  /// Reads the ticks of the list into `ticked_`.
  void read_ticks();
  /// Makes the graph on another thread, once; then calls ask().
  void want_study();
  /// Replays with the ticked fixes; cancels the former replay.
  void ask();
  void show_answer(WhatIfAnswer answer);
  void show_state(const QString& headline, const QString& below, bool trouble = false);
  void show_text();

  const Theme* theme_ = &Theme::light();
  std::shared_ptr<const Session> session_;
  std::shared_ptr<const WhatIfStudy> study_;
  std::shared_ptr<const WhatIfAnswer> answer_;
  std::vector<const analyzer::Fix*> ticked_;
  BackgroundTask* study_task_;
  BackgroundTask* ask_task_;
  WrapLabel* headline_;
  WrapLabel* below_;
  QPushButton* plan_;
  QTreeWidget* list_;
  WrapLabel* text_;
  bool trouble_ = false;  ///< the state that is shown is an error
};

}  // namespace headway::gui
