// SPDX-License-Identifier: MIT
#include "gui/pages/compare_timelines.h"

#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>

#include "common/format.h"
#include "gui/models/details/details.h"
#include "gui/models/details/findings.h"
#include "gui/models/text/display_text.h"

namespace headway::gui {
namespace {

constexpr std::array kSides = {Side::kA, Side::kB};

std::size_t at(Side side) {
  return static_cast<std::size_t>(side);
}

QString letter(Side side) {
  return side == Side::kA ? QStringLiteral("A") : QStringLiteral("B");
}

QString file_name(const Session& session) {
  std::string name = std::filesystem::path(session.trace.path).filename().string();
  return QString::fromStdString(display_text(name, 80));
}

}  // namespace

StepBox::StepBox(QWidget* parent) : QSpinBox(parent) {
  setKeyboardTracking(false);
  setMinimumWidth(110);
}

void StepBox::set_bars(const std::vector<StepBar>* bars) {
  bars_ = bars;
  setEnabled(bars && !bars->empty());
  setRange(0, isEnabled() ? static_cast<int>(bars->size()) - 1 : 0);
}

QString StepBox::textFromValue(int value) const {
  if (!bars_ || static_cast<std::size_t>(value) >= bars_->size()) return QStringLiteral("–");
  return QString::number((*bars_)[static_cast<std::size_t>(value)].number);
}

int StepBox::valueFromText(const QString& text) const {
  bool fine = false;
  QString digits = text.startsWith(prefix()) ? text.mid(prefix().size()) : text;
  qlonglong number = digits.trimmed().toLongLong(&fine);
  if (!fine || !bars_) return value();
  auto found = std::find_if(bars_->begin(), bars_->end(),
                            [&](const StepBar& bar) { return bar.number == number; });
  return found == bars_->end() ? value() : static_cast<int>(found - bars_->begin());
}

QValidator::State StepBox::validate(QString&, int&) const {
  return QValidator::Acceptable;  // a number without a step leaves the choice unchanged
}

CompareTimelines::CompareTimelines(QWidget* parent) : QWidget(parent), aligned_(dim_label({})) {
  QVBoxLayout* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  QSplitter* splitter = new QSplitter(Qt::Vertical);
  splitter->setHandleWidth(1);
  splitter->setChildrenCollapsible(false);
  for (Side side : kSides) {
    TimelineView* view = views_[at(side)] = new TimelineView;
    view->setAccessibleName(tr("Timeline of %1").arg(letter(side)));
    // Both views need the same width, so that equal columns are equal times in the step.
    view->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
    view->setMinimumHeight(110);
    WrapLabel* title = titles_[at(side)] = plain_label({});
    title->set_single_line(true);
    title->setContentsMargins(10, 3, 10, 3);
    boxes_[at(side)] = new StepBox;
    boxes_[at(side)]->setPrefix(tr("%1: step ").arg(letter(side)));
    boxes_[at(side)]->setAccessibleName(tr("Step of %1").arg(letter(side)));
    QWidget* box = new QWidget;
    QVBoxLayout* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(title);
    column->addWidget(view, 1);
    splitter->addWidget(box);
    connect(view, &TimelineView::view_changed, this, [this, side] { follow(side); });
    connect(view, &TimelineView::selection_changed, this,
            [this, side](const Target& target) { select_counterpart(side, target); });
    connect(boxes_[at(side)], &QSpinBox::valueChanged, this, [this](int) {
      show_steps(StepPair{static_cast<std::uint32_t>(boxes_[0]->value()),
                          static_cast<std::uint32_t>(boxes_[1]->value())});
    });
  }
  layout->addWidget(bar());
  layout->addWidget(splitter, 1);
  setFocusProxy(views_[0]);
}

QToolButton* CompareTimelines::button(const QString& text, const QString& name) {
  QToolButton* tool = new QToolButton;
  tool->setText(text);
  tool->setAutoRaise(true);
  tool->setToolTip(name);
  tool->setAccessibleName(name);
  return tool;
}

QWidget* CompareTimelines::bar() {
  QWidget* bar = new QWidget;
  QHBoxLayout* layout = new QHBoxLayout(bar);
  layout->setContentsMargins(8, 3, 10, 3);
  layout->setSpacing(6);
  previous_ = button(QStringLiteral("←"), tr("The step before on both sides"));
  next_ = button(QStringLiteral("→"), tr("The next step on both sides"));
  median_ = button(tr("Median steps"), tr("The steady steps of median length"));
  QToolButton* whole = button(tr("Fit"), tr("Zoom to the aligned steps"));
  for (QWidget* widget :
       std::initializer_list<QWidget*>{previous_, boxes_[0], boxes_[1], next_, median_, whole})
    layout->addWidget(widget);
  aligned_->set_single_line(true);
  layout->addWidget(aligned_, 1);
  for (QToolButton* one : {previous_, next_}) {
    connect(one, &QToolButton::clicked, this, [this, forward = one == next_] {
      if (pair_ && steps_) show_steps(pair_->stepped(*steps_, forward));
    });
  }
  connect(median_, &QToolButton::clicked, this, [this] {
    if (pair_) show_steps(pair_->median_steps());
  });
  connect(whole, &QToolButton::clicked, this, &CompareTimelines::fit);
  return bar;
}

void CompareTimelines::set_pair(std::shared_ptr<const SessionPair> pair) {
  following_ = true;
  for (Side side : kSides) {
    QSignalBlocker quiet(boxes_[at(side)]);
    boxes_[at(side)]->set_bars(pair && pair->has_steps() ? &pair->bars(side) : nullptr);
    views_[at(side)]->set_session(pair ? pair->sessions[at(side)] : nullptr);
  }
  following_ = false;
  pair_ = std::move(pair);
  const bool steps = pair_ && pair_->has_steps();
  for (QWidget* widget : std::initializer_list<QWidget*>{previous_, next_, median_})
    widget->setEnabled(steps);
  aligned_->setText(
      !pair_  ? QString()
      : steps ? tr("Both steps begin at 0, where their work on the device starts.")
              : tr("Without steps on both sides, the starts of device work are aligned."));
  show_steps(pair_ ? pair_->median_steps() : std::nullopt);
}

void CompareTimelines::set_theme(const Theme& theme) {
  for (TimelineView* view : views_) view->set_theme(theme);
}

DurationNs CompareTimelines::offset() const {
  if (!pair_) return {};
  return pair_->interval(Side::kB, steps_).begin - pair_->interval(Side::kA, steps_).begin;
}

void CompareTimelines::show_steps(std::optional<StepPair> steps) {
  steps_ = steps;
  if (!pair_) {
    for (Side side : kSides) describe(side);
    return;
  }
  for (Side side : kSides) {
    QSignalBlocker quiet(boxes_[at(side)]);
    if (steps_)
      boxes_[at(side)]->setValue(static_cast<int>(side == Side::kA ? steps_->a : steps_->b));
    views_[at(side)]->set_origin(pair_->interval(side, steps_).begin);
    describe(side);
  }
  fit();
}

/// Shows the longer of the two steps with a margin.
void CompareTimelines::fit() {
  if (!pair_) return;
  Interval a = pair_->interval(Side::kA, steps_);
  DurationNs longest = std::max(a.length(), pair_->interval(Side::kB, steps_).length());
  DurationNs air{longest.ns / 40 + 1};
  views_[0]->show_interval({a.begin - air, a.begin + longest + air});
}

void CompareTimelines::follow(Side leader) {
  if (following_ || !pair_) return;
  following_ = true;
  DurationNs later = leader == Side::kA ? offset() : -offset();
  view(other(leader)).follow(view(leader), later);
  following_ = false;
}

void CompareTimelines::select_counterpart(Side from, const Target& target) {
  describe(from);
  if (following_ || !pair_) return;
  following_ = true;
  Target found = target ? pair_->counterpart(from, target, steps_) : Target{};
  view(other(from)).select(found, static_cast<bool>(found));
  following_ = false;
}

void CompareTimelines::show_targets(const Target& a, const Target& b) {
  if (!pair_ || (!a && !b)) return;
  // In the time of trace A.
  std::optional<Interval> both;
  auto add = [&](Interval when) {
    both = both ? Interval{std::min(both->begin, when.begin), std::max(both->end, when.end)} : when;
  };
  if (a) add(pair_->session(Side::kA).timeline.interval_of(a));
  if (b) {
    Interval in_b = pair_->session(Side::kB).timeline.interval_of(b);
    add({in_b.begin - offset(), in_b.end - offset()});
  }
  views_[0]->show_interval(with_context(*both, {TimeNs::min(), TimeNs::max()}));
  following_ = true;
  for (Side side : kSides) {
    const Target& target = side == Side::kA ? a : b;
    view(side).select(target, static_cast<bool>(target));
  }
  following_ = false;
}

/// Sets the title of a side: file, step, and selection.
void CompareTimelines::describe(Side side) {
  if (!pair_) return titles_[at(side)]->setText({});
  const Session& session = pair_->session(side);
  QStringList words{letter(side), file_name(session)};
  if (steps_) {
    const StepBar& bar = pair_->bars(side)[side == Side::kA ? steps_->a : steps_->b];
    const QString length = QString::fromStdString(format_duration(bar.length()));
    // The ribbon below shows the host's steps, which begin and end at other times.
    const bool device = session.step_charts.front().has_classes;
    words << (device ? tr("step %1 on the device, %2") : tr("step %1, %2"))
                 .arg(bar.number)
                 .arg(length);
    if (!bar.steady) words << tr("excluded");
  }
  if (const Target& target = view(side).selection()) {
    words << tr("selected: %1, %2")
                 .arg(QString::fromStdString(title_of(session.timeline, target)),
                      QString::fromStdString(
                          format_duration(session.timeline.interval_of(target).length())));
  }
  titles_[at(side)]->setText(words.join(QStringLiteral("  ·  ")));
}

}  // namespace headway::gui
