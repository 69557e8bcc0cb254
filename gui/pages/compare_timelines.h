// SPDX-License-Identifier: MIT
#pragma once

#include <QSpinBox>
#include <QToolButton>
#include <array>
#include <memory>
#include <optional>

#include "gui/models/opening/session_pair.h"
#include "gui/pages/labels.h"
#include "gui/timeline/timeline_view.h"

namespace headway::gui {

/// Chooses a step by the number that the program gave it.
class StepBox : public QSpinBox {
  Q_OBJECT
 public:
  explicit StepBox(QWidget* parent = nullptr);
  /// `bars` must live as long as they are shown; null: nothing to choose from.
  void set_bars(const std::vector<StepBar>* bars);

 protected:
  QString textFromValue(int value) const override;
  int valueFromText(const QString& text) const override;
  QValidator::State validate(QString& text, int& position) const override;

 private:
  const std::vector<StepBar>* bars_ = nullptr;
};

/// The timelines of two traces, one above the other. A step of one is aligned with a step of the
/// other at their starts: both zoom and move together, and the rulers count from the starts of the
/// steps. A selection in one is also made in the other.
class CompareTimelines : public QWidget {
  Q_OBJECT
 public:
  explicit CompareTimelines(QWidget* parent = nullptr);

  /// Null: empty. Aligns the median steps.
  void set_pair(std::shared_ptr<const SessionPair> pair);
  void set_theme(const Theme& theme);
  /// Aligns these two steps at their starts and shows both completely.
  void show_steps(std::optional<StepPair> steps);
  std::optional<StepPair> steps() const { return steps_; }
  /// Selects a target on each side and moves so that both are visible; a target may be none.
  void show_targets(const Target& a, const Target& b);
  TimelineView& view(Side side) { return *views_[static_cast<std::size_t>(side)]; }
  /// Add this to a time in A for the aligned time in B.
  DurationNs offset() const;

 private:
  QWidget* bar();
  QToolButton* button(const QString& text, const QString& name);
  /// Copies zoom and position of one side to the other.
  void follow(Side leader);
  /// Selects the event of the other side that does the same work (SessionPair::counterpart).
  void select_counterpart(Side from, const Target& target);
  void describe(Side side);
  /// Shows both steps completely: the longer one with a margin.
  void fit();

  std::shared_ptr<const SessionPair> pair_;
  std::optional<StepPair> steps_;
  std::array<TimelineView*, 2> views_;  ///< by Side
  std::array<WrapLabel*, 2> titles_;
  std::array<StepBox*, 2> boxes_;
  WrapLabel* aligned_;
  QToolButton* previous_;
  QToolButton* next_;
  QToolButton* median_;
  bool following_ = false;  ///< one view is following the other: stops the second from answering
};

}  // namespace headway::gui
