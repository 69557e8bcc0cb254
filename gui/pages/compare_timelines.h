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

/// The timelines of two traces above each other, a step of the one aligned with a step of the
/// other at their starts: zoom and movement of one are those of both, and the rulers count from
/// the steps' starts. What is selected in one is selected in the other.
class CompareTimelines : public QWidget {
  Q_OBJECT
 public:
  explicit CompareTimelines(QWidget* parent = nullptr);

  /// Null: empty. Aligns the median steps.
  void set_pair(std::shared_ptr<const SessionPair> pair);
  void set_theme(const Theme& theme);
  /// Aligns these two steps at their starts and shows both whole.
  void show_steps(std::optional<StepPair> steps);
  std::optional<StepPair> steps() const { return steps_; }
  /// Selects one target in each and moves so that both are seen; none: nothing there.
  void show_targets(const Target& a, const Target& b);
  TimelineView& view(Side side) { return *views_[static_cast<std::size_t>(side)]; }
  /// What is later in B, by trace time, than in A.
  DurationNs offset() const;

 private:
  QWidget* bar();
  QToolButton* button(const QString& text, const QString& name);
  /// Takes zoom and movement over to the other side.
  void follow(Side leader);
  /// Selects on the other side what does the same work (SessionPair::counterpart).
  void select_counterpart(Side from, const Target& target);
  void describe(Side side);
  /// Both steps whole, the longer one with a little air.
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
  bool following_ = false;  ///< the views answer each other: once is enough
};

}  // namespace headway::gui
