// SPDX-License-Identifier: MIT
#include "gui/pages/what_if_panel.h"

#include <QHeaderView>
#include <QPainter>
#include <QScrollArea>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "common/format.h"
#include "gui/models/text/display_text.h"
#include "gui/pages/labels.h"

namespace headway::gui {
namespace {

constexpr int kFixRole = Qt::UserRole;       ///< index into all_fixes()
constexpr int kTextRole = Qt::UserRole + 1;  ///< text of the FixChoice

QString shown(std::string_view text) {
  return QString::fromStdString(display_text(text, 2000));
}

/// Escapes each line, because it may contain text of the trace.
QString shown_lines(const std::string& text) {
  QStringList lines;
  for (const QString& line : QString::fromStdString(text).split('\n'))
    lines.push_back(shown(line.toStdString()));
  return lines.join('\n');
}

const analyzer::Fix* fix_of(const QTreeWidgetItem& item) {
  return analyzer::all_fixes()[static_cast<std::size_t>(item.data(0, kFixRole).toInt())];
}

int number_of(const analyzer::Fix* fix) {
  const auto all = analyzer::all_fixes();
  return static_cast<int>(std::ranges::find(all, fix) - all.begin());
}

/// Wraps the titles, which are sentences in a narrow panel. The check box has an outline that is
/// visible on dark colours.
class FixDelegate : public QStyledItemDelegate {
 public:
  explicit FixDelegate(QTreeWidget* list) : QStyledItemDelegate(list), list_(list) {}

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QSize size = QStyledItemDelegate::sizeHint(option, index);
    const QFontMetrics metrics(index.data(Qt::FontRole).isValid()
                                   ? qvariant_cast<QFont>(index.data(Qt::FontRole))
                                   : list_->font());
    int height = metrics.height();
    if (index.column() == 0 && index.parent().isValid()) {
      const int box = list_->style()->pixelMetric(QStyle::PM_IndicatorWidth, nullptr, list_);
      const int width = list_->columnWidth(0) - 2 * list_->indentation() - box - 12;
      height = metrics
                   .boundingRect(QRect(0, 0, std::max(40, width), 1000), Qt::TextWordWrap,
                                 index.data().toString())
                   .height();
    }
    size.setHeight(height + 5);
    return size;
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    QStyledItemDelegate::paint(painter, option, index);
    QStyleOptionViewItem shown = option;
    initStyleOption(&shown, index);
    if (!(shown.features & QStyleOptionViewItem::HasCheckIndicator)) return;
    const QRect box =
        list_->style()->subElementRect(QStyle::SE_ItemViewItemCheckIndicator, &shown, list_);
    painter->setPen(option.palette.color(QPalette::PlaceholderText));
    painter->drawRect(box.adjusted(0, 0, -1, -1));
  }

 private:
  QTreeWidget* list_;
};

}  // namespace

WhatIfPanel::WhatIfPanel(QWidget* parent)
    : QWidget(parent),
      study_task_(new BackgroundTask(this)),
      ask_task_(new BackgroundTask(this)),
      headline_(heading_label({}, 0.5)),
      below_(plain_label({})),
      plan_(new QPushButton),
      list_(new QTreeWidget),
      text_(dim_label({})) {
  list_->setColumnCount(2);
  list_->setHeaderHidden(true);
  list_->header()->setStretchLastSection(false);
  list_->header()->setSectionResizeMode(0, QHeaderView::Stretch);
  list_->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
  list_->setFrameShape(QFrame::NoFrame);
  list_->setIndentation(8);
  list_->setRootIsDecorated(false);
  list_->setWordWrap(true);
  list_->setItemDelegate(new FixDelegate(list_));
  list_->setAccessibleName(tr("Fixes to tick"));
  headline_->setAccessibleName(tr("Predicted step"));
  headline_->setContentsMargins(10, 7, 10, 1);
  below_->setContentsMargins(10, 1, 10, 7);
  plan_->hide();
  QScrollArea* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setWidget(text_);
  text_->setContentsMargins(10, 5, 10, 5);
  text_->setAlignment(Qt::AlignTop);
  QVBoxLayout* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(headline_);
  layout->addWidget(below_);
  layout->addWidget(plan_, 0, Qt::AlignLeft);
  layout->addWidget(list_, 3);
  layout->addWidget(scroll, 1);
  setFocusProxy(list_);
  connect(plan_, &QPushButton::clicked, this, [this] {
    std::vector<const analyzer::Fix*> fixes;
    for (const analyzer::PredictedGain& one : session_->analysis.plan)
      fixes.push_back(analyzer::find_fix(one.fix));
    tick(std::move(fixes));
  });
  connect(list_, &QTreeWidget::itemChanged, this, [this](QTreeWidgetItem*, int column) {
    if (column != 0) return;
    read_ticks();
    ask();
  });
  connect(list_->header(), &QHeaderView::sectionResized, list_, [this] { list_->doItemsLayout(); });
  connect(list_, &QTreeWidget::currentItemChanged, this, &WhatIfPanel::show_text);
  for (BackgroundTask* task : {study_task_, ask_task_}) {
    connect(task, &BackgroundTask::failed, this, [this](const QString& why) {
      show_state(tr("Cannot predict"), why, true);
      emit failed(why);
    });
  }
}

void WhatIfPanel::set_session(std::shared_ptr<const Session> session) {
  // After a first look, ticks wait for the analysis.
  const bool same = session && session_ && session->trace_owner == session_->trace_owner;
  study_task_->cancel();
  ask_task_->cancel();
  study_.reset();
  answer_.reset();
  if (!same) ticked_.clear();
  session_ = std::move(session);
  fill(session_ && session_->analysed ? suggested_fixes(session_->analysis)
                                      : std::vector<FixChoice>());
  show_plan();
  ask();
  if (isVisible()) want_study();
}

void WhatIfPanel::set_theme(const Theme& theme) {
  theme_ = &theme;
  show_state(headline_->text(), below_->text(), trouble_);
}

void WhatIfPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  want_study();
}

void WhatIfPanel::fill(const std::vector<FixChoice>& choices) {
  const QSignalBlocker quiet(list_);
  list_->clear();
  QTreeWidgetItem* heading = nullptr;
  FixGroup group{};
  for (const FixChoice& choice : choices) {
    if (!heading || choice.group != group) {
      group = choice.group;
      heading = new QTreeWidgetItem(list_);
      heading->setText(0, shown(heading_of(group)));
      heading->setFirstColumnSpanned(true);
      heading->setFlags(Qt::ItemIsEnabled);
      QFont font = list_->font();
      font.setBold(true);
      heading->setFont(0, font);
      heading->setExpanded(true);
    }
    QTreeWidgetItem* item = new QTreeWidgetItem(heading);
    item->setText(0, shown(choice.fix->title));
    item->setToolTip(0, shown(choice.fix->title).toHtmlEscaped());
    item->setText(1, shown(choice.gain));
    item->setTextAlignment(1, Qt::AlignRight | Qt::AlignVCenter);
    item->setData(0, kFixRole, number_of(choice.fix));
    item->setData(0, kTextRole, shown_lines(choice.text));
    if (choice.group == FixGroup::kNotHere) {
      item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable);
      item->setForeground(0, palette().placeholderText());
      continue;
    }
    item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
    item->setCheckState(0, Qt::Unchecked);
  }
  show_ticks();
  show_text();
}

void WhatIfPanel::show_ticks() {
  const QSignalBlocker quiet(list_);
  for (QTreeWidgetItemIterator it(list_); *it; ++it) {
    if (!((*it)->flags() & Qt::ItemIsUserCheckable)) continue;
    const bool is_ticked = std::ranges::find(ticked_, fix_of(**it)) != ticked_.end();
    (*it)->setCheckState(0, is_ticked ? Qt::Checked : Qt::Unchecked);
    if (is_ticked && !list_->currentItem()) list_->setCurrentItem(*it);
  }
}

void WhatIfPanel::show_plan() {
  const auto* plan = session_ && session_->analysed ? &session_->analysis.plan : nullptr;
  plan_->setVisible(plan && !plan->empty());
  if (!plan || plan->empty()) return;
  plan_->setText(tr("Tick fixes together (%1): step %2")
                     .arg(plan->size())
                     .arg(shown(format_duration(plan->back().step))));
}

void WhatIfPanel::read_ticks() {
  ticked_.clear();
  for (QTreeWidgetItemIterator it(list_, QTreeWidgetItemIterator::Checked); *it; ++it)
    ticked_.push_back(fix_of(**it));
}

void WhatIfPanel::tick(std::vector<const analyzer::Fix*> fixes) {
  ticked_ = std::move(fixes);
  list_->setCurrentItem(nullptr);
  show_ticks();
  show_text();
  ask();
}

/// Replays all fixes that can be ticked one by one, for the figures in the list.
void WhatIfPanel::want_study() {
  if (!session_ || !session_->analysed || study_) return;
  const auto events = static_cast<std::int64_t>(session_->trace.event_count());
  show_state(ticked_.empty() ? tr("Tick fixes") : tr("Replaying …"),
             tr("%1 events with each known fix").arg(shown(format_count(events))));
  if (study_task_->is_running()) return;
  study_task_->start([this, session = session_](const std::atomic<bool>&) -> BackgroundTask::Show {
    return [this, study = std::make_shared<const WhatIfStudy>(session)] {
      study_ = study;
      if (!study_->missing().empty()) {
        show_state(tr("Cannot predict"), tr("because %1").arg(shown(study_->missing())), true);
        emit failed(shown(study_->missing()));
        return;
      }
      fill(study_->choices());
      ask();
    };
  });
}

/// Replays with the ticked fixes, once the graph is ready.
void WhatIfPanel::ask() {
  ask_task_->cancel();
  answer_.reset();
  const bool analysed = session_ && session_->analysed;
  if (!analysed) {
    show_state(tr("Nothing to predict yet"), tr("Fixes come with the analysis."));
  } else if (ticked_.empty()) {
    show_state(tr("Tick fixes"), tr("to see the predicted step with all of them."));
    emit ticks_changed();
    emit predicted(nullptr);
    return;
  } else if (!study_) {
    want_study();
  } else {
    show_state(tr("Replaying …"), ticked_.size() == 1
                                      ? tr("the recorded steps with this fix")
                                      : tr("the recorded steps with %1 fixes").arg(ticked_.size()));
    ask_task_->start([this, fixes = ticked_, study = study_](const std::atomic<bool>& cancelled) {
      WhatIfAnswer answer = study->ask(fixes, &cancelled);
      return [this, answer = std::move(answer)] { show_answer(answer); };
    });
  }
  emit ticks_changed();
}

void WhatIfPanel::show_answer(WhatIfAnswer answer) {
  if (!answer.missing.empty()) {
    show_state(tr("Cannot predict"), shown(answer.missing), true);
    emit predicted(nullptr);
    emit failed(shown(answer.missing));
    return;
  }
  answer_ = std::make_shared<const WhatIfAnswer>(std::move(answer));
  QString below = shown(answer_->interval());
  if (const std::string more = answer_->comparison(); !more.empty()) below += '\n' + shown(more);
  show_state(shown(answer_->headline()), below);
  emit predicted(answer_->timeline);
}

void WhatIfPanel::show_state(const QString& headline, const QString& below, bool trouble) {
  trouble_ = trouble;
  // Keeps a percent sign on the same line as its number.
  const auto kept = [](QString text) {
    return text.replace(QStringLiteral(" %"), QStringLiteral("\u00a0%"));
  };
  headline_->setText(kept(headline));
  below_->setText(kept(below));
  QPalette colors;
  if (trouble) colors.setColor(QPalette::WindowText, theme_->error);
  headline_->setPalette(colors);
}

void WhatIfPanel::show_text() {
  const QTreeWidgetItem* item = list_->currentItem();
  const QString text = item ? item->data(0, kTextRole).toString() : QString();
  text_->setText(text.isEmpty() ? tr("Select a fix to see what it changes.") : text);
}

QString WhatIfPanel::result() const {
  return headline_->text() + '\n' + below_->text();
}

}  // namespace headway::gui
