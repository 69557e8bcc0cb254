// SPDX-License-Identifier: MIT
#pragma once

#include <QPushButton>
#include <QTreeWidget>
#include <memory>
#include <vector>

#include "gui/background_task.h"
#include "gui/models/prediction/what_if.h"
#include "gui/timeline/theme.h"

namespace headway::gui {

class WrapLabel;

/// Fixes to tick, and what a step would take with all that are ticked. Replays on another thread; a
/// tick cancels the replay of the former ones. The graph is made when the panel is first seen or
/// something is ticked, and is kept while the trace is open.
class WhatIfPanel : public QWidget {
  Q_OBJECT
 public:
  explicit WhatIfPanel(QWidget* parent = nullptr);

  /// Nothing is ticked afterwards.
  void set_session(std::shared_ptr<const Session> session);
  void set_theme(const Theme& theme);
  /// Ticks these and no others; one that does not apply is said where the answer would stand.
  void tick(std::vector<const analyzer::Fix*> fixes);
  void untick_all() {
    if (!ticked_.empty()) tick({});
  }
  const std::vector<const analyzer::Fix*>& ticked() const { return ticked_; }
  bool is_replaying() const { return study_task_->is_running() || ask_task_->is_running(); }
  /// The answer for what is ticked; null while it is not known, or when nothing is.
  const WhatIfAnswer* answer() const { return answer_.get(); }
  const std::shared_ptr<const WhatIfStudy>& study() const { return study_; }
  /// What stands above the list.
  QString result() const;
  QTreeWidget& list() { return *list_; }
  /// Ticks the report's plan; hidden where it has none.
  QPushButton& plan() { return *plan_; }

 signals:
  /// Other fixes are ticked, or none; the answer is not known yet.
  void ticks_changed();
  /// What to show beside the recorded step; null: nothing.
  void predicted(std::shared_ptr<const headway::gui::PredictedTimeline> timeline);
  void failed(const QString& why);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  /// The list: fixes that help, that do not, and that do not apply here.
  void fill(const std::vector<FixChoice>& choices);
  void show_ticks();
  void show_plan();
  /// From the list into `ticked_`.
  void read_ticks();
  /// Makes the graph on another thread, once; then asks.
  void want_study();
  /// Replays with what is ticked; a former question is cancelled.
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
