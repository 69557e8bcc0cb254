// SPDX-License-Identifier: MIT
#include "gui/pages/timeline_page.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QVBoxLayout>

#include "analyzer/whatif/fix.h"
#include "common/error.h"
#include "common/format.h"
#include "gui/models/details/details.h"
#include "gui/models/details/findings.h"
#include "gui/models/prediction/predicted_timeline.h"
#include "gui/pages/labels.h"
#include "gui/timeline/key_bindings.h"

namespace headway::gui {
namespace {

QWidget* with_title(const QString& title, QWidget* body) {
  QWidget* box = new QWidget;
  QVBoxLayout* layout = new QVBoxLayout(box);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  QLabel* label = heading_label(title, 0);
  label->setContentsMargins(10, 5, 10, 5);
  layout->addWidget(label);
  layout->addWidget(body, 1);
  return box;
}

}  // namespace

TimelinePage::TimelinePage(QWidget* parent)
    : PageWidget(parent),
      view_(new TimelineView),
      search_(new SearchBar),
      legend_(new LegendBar),
      details_(new DetailsPanel),
      evidence_(new EvidenceTree),
      bookmarks_(new BookmarksPanel),
      what_if_(new WhatIfPanel),
      drawer_(new TimelineDrawer),
      go_to_(new GoToBar(
          [this](const std::string& text) {
            if (!session_) fail_usage("No trace is open.");
            return parse_destination(session_->timeline, text, view_->here());
          },
          view_)),
      row_filter_(new QLineEdit),
      hidden_(new LinkLabel({})),
      path_(new QToolButton),
      only_hits_(new QToolButton),
      hit_list_(new QToolButton),
      prediction_(new QToolButton),
      prediction_note_(new LinkLabel({})),
      handle_(new QToolButton),
      pointed_(plain_label({})),
      span_(plain_label({})) {
  QWidget* left = new QWidget;
  QVBoxLayout* left_layout = new QVBoxLayout(left);
  left_layout->setContentsMargins(0, 0, 0, 0);
  left_layout->setSpacing(0);
  prediction_note_->setObjectName(QStringLiteral("prediction"));
  prediction_note_->setContentsMargins(10, 4, 10, 4);
  prediction_note_->hide();
  left_layout->addWidget(prediction_note_);
  left_layout->addWidget(view_, 1);
  hidden_->setContentsMargins(10, 4, 10, 4);
  hidden_->hide();
  left_layout->addWidget(hidden_);
  left_layout->addWidget(legend_);
  legend_->explain_merging(true);
  legend_->set_single_line(true);
  QSplitter* above = new QSplitter(Qt::Vertical);
  above->setObjectName(QStringLiteral("timeline-drawer"));
  above->addWidget(left);
  above->addWidget(drawer_);
  above->setHandleWidth(1);
  above->setStretchFactor(0, 1);
  above->setSizes({500, 220});
  above->setChildrenCollapsible(false);
  QSplitter* splitter = new QSplitter;
  splitter->setObjectName(QStringLiteral("timeline"));
  QWidget* beside = new QWidget;
  QHBoxLayout* with_handle = new QHBoxLayout(beside);
  with_handle->setContentsMargins(0, 0, 0, 0);
  with_handle->setSpacing(0);
  with_handle->addWidget(above, 1);
  with_handle->addWidget(handle_);
  splitter->addWidget(beside);
  splitter->addWidget(side_ = side());
  splitter->setHandleWidth(1);
  // On a large screen the panels get part of the extra room, so that their lines are not cut.
  splitter->setStretchFactor(0, 4);
  splitter->setStretchFactor(1, 1);
  splitter->setSizes({1040, 240});
  splitter->setChildrenCollapsible(false);
  handle_->setObjectName(QStringLiteral("panels"));
  handle_->setAutoRaise(true);
  handle_->setFixedWidth(14);
  handle_->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Expanding);
  handle_->setFocusPolicy(Qt::NoFocus);
  connect(handle_, &QToolButton::clicked, this, [this] { show_panels(!shows_panels()); });
  show_panels(true);
  QVBoxLayout* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(toolbar());
  layout->addWidget(splitter, 1);
  connect_parts();
  setFocusProxy(view_);
  view_->installEventFilter(this);
}

void TimelinePage::connect_parts() {
  connect(view_, &TimelineView::selection_changed, this, [this](const Target& target) {
    show_details();
    show_stacks();
    search_->set_current(target);
  });
  connect(view_, &TimelineView::relations_found, this, [this] {
    if (view_->range().empty() && view_->selection()) show_details();
  });
  connect(view_, &TimelineView::range_changed, this, [this](Interval range) {
    show_details();
    show_stacks();
    drawer_->rows().set_range(session_, range);
  });
  connect(view_, &TimelineView::pointed_at, pointed_, &QLabel::setText);
  connect(view_, &TimelineView::view_changed, this, &TimelinePage::show_span);
  connect(view_, &TimelineView::rows_arranged, this, &TimelinePage::show_hidden_rows);
  connect(view_, &TimelineView::menu_wanted, this,
          [this](const Hit& hit, const QPoint&, const QPoint& global) { open_menu(hit, global); });
  connect(details_, &DetailsPanel::followed, this, &TimelinePage::show_target);
  connect(search_, &SearchBar::found, this, [this](const Target& target) { show_target(target); });
  connect(search_, &SearchBar::left, view_, [this] { view_->setFocus(); });
  connect(search_, &SearchBar::marks_changed, this, [this] {
    view_->set_hits(search_->marks());
    only_hits_->setVisible(search_->marks() != nullptr || only_hits_->isChecked());
    hit_list_->setVisible(search_->marks() != nullptr || hit_list_->isChecked());
    drawer_->hits().set_search(session_, search_->shared_search());
  });
  connect(hit_list_, &QToolButton::clicked, this, [this] { drawer_->toggle(drawer_->hits()); });
  connect(&drawer_->stacks(), &CallStacksPanel::source_wanted, this, &TimelinePage::open_source);
  connect(drawer_, &TimelineDrawer::followed, this, [this](const Target& target) {
    following_stack_ = drawer_->shows(drawer_->stacks());
    show_target(target);
    following_stack_ = false;
  });
  connect(drawer_, &TimelineDrawer::asked, this, [this](Command command) { run(command); });
  connect(drawer_, &TimelineDrawer::left, view_, [this] { view_->setFocus(); });
  connect(drawer_, &TimelineDrawer::turned, this, [this] {
    hit_list_->setChecked(drawer_->shows(drawer_->hits()));
    hit_list_->setVisible(search_->marks() != nullptr || hit_list_->isChecked());
  });
  connect(&drawer_->rows(), &RangeRowsPanel::copied, this, [this] { tell(tr("Copied the rows")); });
  connect(only_hits_, &QToolButton::toggled, view_, &TimelineView::show_only_hits);
  connect(path_, &QToolButton::toggled, view_, &TimelineView::show_path);
  connect(prediction_, &QToolButton::clicked, this, &TimelinePage::toggle_prediction);
  connect(prediction_note_, &LinkLabel::followed, this, [this] {
    what_if_->untick_all();
    show_prediction_note();
    view_->setFocus();
  });
  connect(view_, &TimelineView::predicted_changed, this, [this] {
    // The user pressed Esc in the view.
    if (!leading_ && !view_->predicted()) what_if_->untick_all();
    show_prediction_note();
  });
  connect(what_if_, &WhatIfPanel::ticks_changed, this, &TimelinePage::show_prediction_note);
  connect(what_if_, &WhatIfPanel::predicted, this, &TimelinePage::show_predicted);
  connect(what_if_, &WhatIfPanel::failed, this, [this](const QString& why) {
    show_predicted(nullptr);
    prediction_->setChecked(false);
    prediction_note_->setText(tr("Nothing was predicted: %1").arg(why));
    prediction_note_->show();
  });
  connect(row_filter_, &QLineEdit::textChanged, this,
          [this](const QString& text) { view_->set_row_filter(text.toStdString()); });
  connect(row_filter_, &QLineEdit::returnPressed, view_, [this] { view_->setFocus(); });
  connect(hidden_, &LinkLabel::followed, this, [this] { run(Command::kShowAllRows); });
  connect(evidence_, &EvidenceTree::evidence_followed, this, &TimelinePage::show_evidence);
  connect(evidence_, &EvidenceTree::finding_opened, this,
          [this](int finding) { emit followed({.page = Page::kFindings, .finding = finding}); });
  connect(go_to_, &GoToBar::went, this, &TimelinePage::go);
  connect(go_to_, &GoToBar::left, view_, [this] { view_->setFocus(); });
  connect(bookmarks_, &BookmarksPanel::changed, this, [this] {
    view_->set_bookmarks(&bookmarks_->bookmarks().all());
    const std::size_t count = bookmarks_->bookmarks().all().size();
    tabs_->setTabText(1, count ? tr("Bookmarks (%1)").arg(count) : tr("Bookmarks"));
  });
  connect(bookmarks_, &BookmarksPanel::followed, this,
          [this](Interval when) { go({.interval = when, .target = {}}); });
}

void TimelinePage::show_details() {
  if (!view_->range().empty()) return details_->show_range(view_->range());
  const Target& target = view_->selection();
  if (target.kind == Target::Kind::kPrediction) {
    const TimelineModel& model = *view_->frame().model;
    return details_->show_lines(
        tr("%1 (predicted)").arg(QString::fromStdString(title_of(model, target))),
        describe(model, target));
  }
  details_->show_target(target, view_->overlay().links);
}

/// Runs commands of the page that the view does not have.
bool TimelinePage::eventFilter(QObject* object, QEvent* event) {
  if (object == row_filter_ && event->type() == QEvent::KeyPress &&
      static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
    row_filter_->clear();
    view_->setFocus();
    return true;
  }
  if (object == view_ && event->type() == QEvent::KeyPress) {
    for (Command command : commands_for(*static_cast<QKeyEvent*>(event))) {
      if (run(command)) return true;
    }
  }
  return QWidget::eventFilter(object, event);
}

/// Handles keys that the panels ignore: Esc returns to the timeline; keys with Ctrl work
/// everywhere.
void TimelinePage::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) return view_->setFocus();
  if (event->modifiers() & Qt::ControlModifier) {
    for (Command command : commands_for(*event))
      if (run(command)) return;
  }
  PageWidget::keyPressEvent(event);
}

QWidget* TimelinePage::toolbar() {
  QWidget* bar = new QWidget;
  QHBoxLayout* layout = new QHBoxLayout(bar);
  layout->setContentsMargins(8, 5, 10, 5);
  layout->setSpacing(6);
  auto button = [&](const QString& text, const QString& name, Command command) {
    QToolButton* tool = new QToolButton;
    tool->setText(text);
    tool->setAutoRaise(true);
    tool->setAccessibleName(name);
    tool->setToolTip(QStringLiteral("%1 (%2)").arg(name, keys_text(command)));
    connect(tool, &QToolButton::clicked, this, [this, command] { run(command); });
    layout->addWidget(tool);
  };
  button(tr("Fit"), tr("Fit the whole trace"), Command::kFitAll);
  button(QStringLiteral("−"), tr("Zoom out"), Command::kZoomOut);
  button(QStringLiteral("+"), tr("Zoom in"), Command::kZoomIn);
  button(QStringLiteral("←"), tr("Back to the view before"), Command::kBack);
  button(QStringLiteral("→"), tr("Forward again"), Command::kForward);
  path_->setText(tr("Critical path"));
  path_->setToolTip(
      QStringLiteral("%1 (%2)").arg(tr("Show what the end of the steps waited for, piece by piece"),
                                    keys_text(Command::kCriticalPath)));
  path_->setAccessibleName(tr("Critical path"));
  only_hits_->setText(tr("Rows"));
  only_hits_->setToolTip(tr("Show only rows with hits of the search"));
  only_hits_->setAccessibleName(tr("Only rows with hits"));
  only_hits_->hide();
  hit_list_->setText(tr("List"));
  hit_list_->setToolTip(QStringLiteral("%1 (%2)").arg(tr("List the hits with their durations"),
                                                      keys_text(Command::kSearchList)));
  hit_list_->setAccessibleName(tr("List of hits"));
  hit_list_->hide();
  prediction_->setText(tr("Predicted step"));
  prediction_->setToolTip(QStringLiteral("%1 (%2)").arg(
      tr("Show a step predicted with the selected finding's fix beside the recorded one"),
      keys_text(Command::kPredictedStep)));
  prediction_->setAccessibleName(tr("Predicted step"));
  prediction_->hide();
  for (QToolButton* toggle : {path_, prediction_, only_hits_, hit_list_}) {
    toggle->setCheckable(true);
    toggle->setAutoRaise(true);
  }
  row_filter_->setPlaceholderText(tr("Filter rows  (%1)").arg(keys_text(Command::kFilterRows)));
  row_filter_->setAccessibleName(tr("Filter rows by name"));
  row_filter_->setClearButtonEnabled(true);
  row_filter_->setMaxLength(200);
  row_filter_->setMinimumWidth(70);
  row_filter_->setMaximumWidth(170);
  row_filter_->installEventFilter(this);
  layout->addWidget(path_);
  layout->addWidget(prediction_);
  layout->addSpacing(8);
  layout->addWidget(row_filter_, 1);
  layout->addWidget(search_, 4);
  layout->addWidget(hit_list_);
  layout->addWidget(only_hits_);
  // If there is little room, these labels are cut and the window is not widened.
  for (WrapLabel* label : {pointed_, span_}) {
    label->set_single_line(true);
    label->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    label->setMinimumWidth(1);
    layout->addWidget(label);
  }
  span_->setMinimumWidth(4 + span_->fontMetrics().horizontalAdvance(QStringLiteral("↔ 0.00 ms")));
  span_->setToolTip(tr("Visible time"));
  pointed_->setAccessibleName(tr("Time at the pointer"));
  span_->setAccessibleName(tr("Visible time"));
  span_->setContentsMargins(4, 0, 0, 0);
  return bar;
}

void TimelinePage::show_panels(bool show) {
  side_->setVisible(show);
  handle_->setText(show ? QStringLiteral("›") : QStringLiteral("‹"));
  const QString what = show ? tr("Hide the panels") : tr("Show the panels");
  handle_->setAccessibleName(what);
  handle_->setToolTip(QStringLiteral("%1 (%2)").arg(what, keys_text(Command::kTogglePanels)));
}

QWidget* TimelinePage::side() {
  QSplitter* side = new QSplitter(Qt::Vertical);
  side->setObjectName(QStringLiteral("timeline-side"));
  side->addWidget(with_title(tr("Findings"), evidence_));
  tabs_ = new QTabWidget;
  tabs_->setDocumentMode(true);
  tabs_->setAccessibleName(tr("Selection, bookmarks and what-if"));
  // Three tabs in 200 pixels: titles are shortened, so that no scroll arrows are needed.
  tabs_->setUsesScrollButtons(false);
  tabs_->setElideMode(Qt::ElideRight);
  tabs_->addTab(details_, tr("Selection"));
  tabs_->addTab(bookmarks_, tr("Bookmarks"));
  tabs_->addTab(what_if_, tr("What if"));
  side->addWidget(tabs_);
  side->setHandleWidth(1);
  side->setSizes({320, 480});
  side->setStretchFactor(0, 2);
  side->setStretchFactor(1, 3);
  side->setChildrenCollapsible(false);
  side->setMinimumWidth(240);  // wide enough for the tab titles
  return side;
}

void TimelinePage::set_session(std::shared_ptr<const Session> session) {
  what_if_->set_session(session);
  prediction_note_->hide();
  details_->set_session(session);
  search_->set_session(session);
  view_->set_bookmarks(nullptr);
  row_filter_->clear();
  only_hits_->setChecked(false);
  evidence_->set_session(session, *theme_);
  legend_->set_classes(session ? used_classes(*session) : std::vector<analyzer::TimeClass>());
  session_ = session;
  view_->set_session(session);
  drawer_->rows().set_range(session, {});
  drawer_->stacks().set_range(session, {}, {});
  prediction_->setVisible(finding_to_predict() >= 0);
  bookmarks_->set_session(session.get());
  show_span();
}

void TimelinePage::update_session(std::shared_ptr<const Session> session) {
  if (!session_ || !session) return set_session(std::move(session));
  what_if_->set_session(session);
  prediction_note_->hide();
  Interval range = view_->range();
  details_->set_session(session);
  search_->update_session(session);
  evidence_->set_session(session, *theme_);
  legend_->set_classes(used_classes(*session));
  session_ = session;
  view_->update_session(std::move(session));
  prediction_->setVisible(finding_to_predict() >= 0);
  if (range.empty()) {
    details_->show_target(view_->selection());
  } else {
    details_->show_range(range);
  }
  drawer_->rows().set_range(session_, view_->range());
  show_stacks();
  show_span();
}

void TimelinePage::set_theme(const Theme& theme) {
  theme_ = &theme;
  view_->set_theme(theme);
  legend_->set_theme(theme);
  what_if_->set_theme(theme);
  drawer_->hits().set_theme(theme);
  drawer_->stacks().set_theme(theme);
  evidence_->set_session(session_, theme);
}

void TimelinePage::show_span() {
  span_->setText(QStringLiteral("↔ %1").arg(
      QString::fromStdString(format_duration(view_->mapping().visible().length()))));
}

void TimelinePage::open(const Link& link) {
  if (link.predicted) {
    show_prediction(link.finding);
  } else if (link.evidence >= 0) {
    show_evidence(link.finding, link.evidence);
  } else if (link.target.kind == Target::Kind::kStep && link.view) {
    show_step(link.target.index, *link.view);
  } else if (link.view) {
    view_->jump_to(link.target, *link.view);
  } else {
    show_target(link.target);
  }
}

void TimelinePage::show_evidence(int finding, int evidence) {
  if (!session_) return;
  const auto& all = session_->analysis.findings.at(static_cast<std::size_t>(finding)).evidence;
  EvidencePlace place = place_of(session_->timeline, all.at(static_cast<std::size_t>(evidence)));
  view_->select_range({});
  view_->jump_to(place.target, place.view);
  evidence_->set_current(finding, evidence);
}

void TimelinePage::show_target(const Target& target) {
  if (!session_ || !target) return;
  Interval when = session_->timeline.interval_of(target);
  Interval visible = view_->mapping().visible();
  bool wide = view_->mapping().ns_per_pixel() * 2 <= static_cast<double>(when.length().ns);
  bool fits = when.length() <= visible.length();
  // Change the scale only when the event would be too small to see or too long to fit.
  if (wide && fits) {
    view_->select_and_center(target);
  } else {
    view_->jump_to(target, with_context(when, session_->timeline.bounds));
  }
}

void TimelinePage::show_step(std::uint32_t step, Interval where) {
  if (!session_) return;
  Interval host = session_->timeline.interval_of(Target::step(step));
  Interval both{std::min(where.begin, host.begin), std::max(where.end, host.end)};
  DurationNs air = both.length() / 20;
  view_->jump_to(Target::step(step), {both.begin - air, both.end + air});
}

/// The selected finding if its gain is known, else the one whose fix gains most; -1: none.
int TimelinePage::finding_to_predict() const {
  if (!session_) return -1;
  const int current = evidence_->current_finding();
  const std::vector<analyzer::Finding>& findings = session_->analysis.findings;
  if (current >= 0 && findings[static_cast<std::size_t>(current)].predicted) return current;
  return best_predicted_finding(session_->analysis);
}

void TimelinePage::toggle_prediction() {
  if (!what_if_->ticked().empty()) {
    what_if_->untick_all();
    return show_prediction_note();
  }
  show_prediction(finding_to_predict());
}

void TimelinePage::show_prediction(int finding) {
  prediction_->setChecked(!what_if_->ticked().empty());
  if (!session_ || finding < 0) return tell(tr("No finding of this trace has a predicted gain"));
  const auto& predicted =
      session_->analysis.findings.at(static_cast<std::size_t>(finding)).predicted;
  if (!predicted) return tell(tr("The gain of this finding's fix is unknown"));
  const analyzer::Fix* fix = analyzer::find_fix(predicted->fix);
  tabs_->setCurrentWidget(what_if_);
  const auto& shown = view_->predicted();
  if (shown && shown->fixes == std::vector{fix} && what_if_->answer())
    return view_->show_predicted(shown);
  what_if_->tick({fix});
}

void TimelinePage::show_what_if() {
  show_panels(true);
  tabs_->setCurrentWidget(what_if_);
  what_if_->setFocus(Qt::ShortcutFocusReason);
}

void TimelinePage::show_predicted(std::shared_ptr<const PredictedTimeline> timeline) {
  leading_ = true;
  view_->show_predicted(std::move(timeline));
  leading_ = false;
  show_prediction_note();
}

/// Explains the predicted rows while they are shown, and says when a replay is running.
void TimelinePage::show_prediction_note() {
  const auto& shown = view_->predicted();
  const bool replaying = !what_if_->ticked().empty() && !what_if_->answer();
  prediction_->setChecked(shown || replaying);
  prediction_note_->setVisible(shown || replaying);
  if (replaying)
    return prediction_note_->setText(
        what_if_->ticked().size() == 1
            ? tr("Replaying the recording with the fix …")
            : tr("Replaying the recording with %1 fixes …").arg(what_if_->ticked().size()));
  if (!shown) return;
  prediction_note_->setText(
      tr("%1 – hide (%2)")
          .arg(QString::fromStdString(shown->sentence()), keys_text(Command::kPredictedStep)));
}

void TimelinePage::open_in_ops() {
  Target target = view_->selection();
  if (target.kind == Target::Kind::kEvent && target.event.kind == analyzer::EventRef::Kind::kCall)
    target = linked(session_->timeline, target);
  if (target.kind == Target::Kind::kEvent &&
      target.event.kind == analyzer::EventRef::Kind::kDeviceOp)
    emit followed({.page = Page::kOps, .target = target});
}

bool TimelinePage::run(Command command) {
  if (!session_) return view_->run(command);
  switch (command) {
    case Command::kSearch:
      search_->activate();
      return true;
    case Command::kSearchNext:
    case Command::kSearchPrevious:
      search_->go(command == Command::kSearchNext);
      return true;
    case Command::kShowInOps:
      open_in_ops();
      return true;
    case Command::kOpenSource:
      open_source(view_->selection());
      return true;
    case Command::kTogglePanels:
      show_panels(!shows_panels());
      return true;
    case Command::kGoTo:
      go_to_->activate();
      return true;
    case Command::kFilterRows:
      row_filter_->setFocus(Qt::ShortcutFocusReason);
      row_filter_->selectAll();
      return true;
    case Command::kShowAllRows:
      row_filter_->clear();
      only_hits_->setChecked(false);
      return view_->run(command);
    case Command::kFilterToName:
      filter_to_name();
      return true;
    case Command::kCriticalPath:
      path_->toggle();
      return true;
    case Command::kPredictedStep:
      toggle_prediction();
      return true;
    case Command::kSearchList:
      drawer_->toggle(drawer_->hits());
      return true;
    case Command::kCallStacks:
      if (!drawer_->shows(drawer_->stacks())) show_stacks();
      drawer_->toggle(drawer_->stacks());
      return true;
    case Command::kRangeByRow:
      drawer_->toggle(drawer_->rows());
      return true;
    case Command::kWhatIf:
      show_what_if();
      return true;
    case Command::kBookmark:
      add_bookmark();
      return true;
    case Command::kEditBookmark:
      tabs_->setCurrentWidget(bookmarks_);
      if (!bookmarks_->edit_current())
        tell(tr("No bookmark yet: %1 creates one").arg(keys_text(Command::kBookmark)));
      return true;
    case Command::kNextBookmark:
    case Command::kPreviousBookmark: {
      // Counts from the middle of the view, where the last bookmark was shown.
      const TimeMapping& mapping = view_->mapping();
      TimeNs middle = mapping.time_at(mapping.width() / 2.0);
      DurationNs pixel{static_cast<std::int64_t>(mapping.ns_per_pixel()) + 1};
      bool forward = command == Command::kNextBookmark;
      if (!bookmarks_->go(forward ? middle + pixel : middle - pixel, forward))
        tell(forward ? tr("No bookmark after this one") : tr("No bookmark before this one"));
      return true;
    }
    case Command::kCopy:
      copy(details_->text(), tr("the details"));
      return true;
    case Command::kCopyEvents:
      copy_events();
      return true;
    case Command::kCopySql:
      copy_sql();
      return true;
    case Command::kCopyView:
      copy(view_command(), tr("the command of this view"));
      return true;
    case Command::kClear:
      if (search_->clear()) return true;
      return view_->run(command);
    default:
      return view_->run(command);
  }
}

PageWidget* make_timeline_page() {
  return new TimelinePage;
}

}  // namespace headway::gui
