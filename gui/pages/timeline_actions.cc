// SPDX-License-Identifier: MIT
// Actions on a place of the timeline: its menu, copying, bookmarks, going to a place.
#include <fmt/format.h>

#include <QClipboard>
#include <QGuiApplication>
#include <algorithm>

#include "analyzer/whatif/fix.h"
#include "common/format.h"
#include "gui/models/details/details.h"
#include "gui/models/details/findings.h"
#include "gui/models/details/range_text.h"
#include "gui/models/text/display_text.h"
#include "gui/models/timeline/ticks.h"
#include "gui/pages/timeline_page.h"
#include "gui/timeline/key_bindings.h"

namespace headway::gui {
namespace {

/// Adds an entry that shows its key; the view handles the key itself.
template <class Run>
QAction* add_entry(QMenu& menu, const QString& text, const QString& keys, Run run) {
  QString shown = text;
  shown.replace('&', QStringLiteral("&&"));  // ampersands in names of the program are not shortcuts
  QAction* action = menu.addAction(keys.isEmpty() ? shown : shown + '\t' + keys);
  QObject::connect(action, &QAction::triggered, &menu, run);
  return action;
}

/// The first of a command's keys: menus have room for one.
QString first_key(Command command) {
  return sequences(command).front().toString(QKeySequence::NativeText);
}

}  // namespace

void TimelinePage::open_menu(const Hit& hit, const QPoint& global) {
  if (!session_) return;
  if (menu_) menu_->deleteLater();
  menu_ = new QMenu(this);
  menu_->setAttribute(Qt::WA_DeleteOnClose);
  QMenu& menu = *menu_;
  if (view_->selection() && (hit.target || hit.zone == Hit::Zone::kName)) {
    if (hit.target) add_event_actions(menu);
  } else if (hit.item && hit.item->count > 1) {
    add_entry(
        menu,
        tr("Zoom in on these %1 events").arg(QString::fromStdString(format_count(hit.item->count))),
        {}, [this, item = *hit.item] {
          const TimeMapping& mapping = view_->mapping();
          double x = item.x / view_->frame().pixel_ratio;
          view_->show_interval({mapping.time_at(x - 8), mapping.time_at(x + 8)});
        });
  }
  if (!view_->range().empty()) add_range_actions(menu);
  auto entry = [&](const QString& text, Command command) {
    add_entry(menu, text, first_key(command), [this, command] { run(command); });
  };
  if (hit.zone != Hit::Zone::kName) {
    menu.addSeparator();
    entry(tr("Bookmark"), Command::kBookmark);
    entry(tr("Set a mark to measure from"), Command::kMark);
    entry(tr("Go to …"), Command::kGoTo);
  }
  if (view_->predicted()) {
    entry(tr("Hide the predicted step"), Command::kPredictedStep);
  } else if (const int finding = finding_to_predict(); finding >= 0) {
    const auto& of = session_->analysis.findings[static_cast<std::size_t>(finding)];
    const std::string_view title = analyzer::find_fix(of.predicted->fix)->title;
    entry(tr("Show a step with “%1”")
              .arg(QString::fromUtf8(title.data(), static_cast<qsizetype>(title.size()))),
          Command::kPredictedStep);
  }
  if (hit.row.valid()) add_row_actions(menu, hit.row);
  menu.popup(global);
}

void TimelinePage::add_event_actions(QMenu& menu) {
  auto entry = [&](const QString& text, Command command) {
    return add_entry(menu, text, first_key(command), [this, command] { run(command); });
  };
  const Target target = view_->selection();
  entry(tr("Zoom to it"), Command::kZoomToSelection);
  if (const auto frames = source_frames(session_->timeline, target, 1); !frames.empty())
    entry(
        tr("Open %1 in the editor").arg(QString::fromStdString(source_text(frames.front().place))),
        Command::kOpenSource);
  add_entry(menu, tr("Show host activity meanwhile"), first_key(Command::kCallStacks), [this] {
    if (!drawer_->shows(drawer_->stacks())) run(Command::kCallStacks);
  })->setEnabled(target.kind != Target::Kind::kPrediction);
  if (target.kind != Target::Kind::kEvent) return;
  entry(tr("Follow its link"), Command::kFollowLink)->setEnabled(!view_->overlay().links.empty());
  entry(tr("Show in the op table"), Command::kShowInOps)
      ->setEnabled(target.event.kind != analyzer::EventRef::Kind::kRange);
  entry(tr("Find the events of this name"), Command::kFilterToName);
  menu.addSeparator();
  const QString name = QString::fromUtf8(
      analyzer::name_of(session_->trace, target.event).data(),
      static_cast<qsizetype>(analyzer::name_of(session_->trace, target.event).size()));
  add_entry(menu, tr("Copy the name"), {}, [this, name] { copy(name, tr("the name")); });
  entry(tr("Copy the details"), Command::kCopy);
  QAction* sql = add_entry(menu, tr("Copy as SQL"), {}, [this, target] {
    copy(QString::fromStdString(event_as_sql(session_->trace, target.event)), tr("a SELECT"));
  });
  sql->setEnabled(is_sqlite_file(session_->trace));
}

void TimelinePage::add_range_actions(QMenu& menu) {
  menu.addSeparator();
  add_entry(menu, tr("Zoom to the time range"), first_key(Command::kZoomToSelection),
            [this] { view_->show_interval(view_->range()); });
  add_entry(menu, tr("Show per-row activity in the time range"), first_key(Command::kRangeByRow),
            [this] {
              if (!drawer_->shows(drawer_->rows())) run(Command::kRangeByRow);
            });
  add_entry(menu, tr("Show host activity in the time range"), first_key(Command::kCallStacks),
            [this] {
              if (!drawer_->shows(drawer_->stacks())) run(Command::kCallStacks);
            });
  add_entry(menu, tr("Copy the events of the time range"), first_key(Command::kCopyEvents),
            [this] { copy_events(); });
  add_entry(menu, tr("Copy the time range as SQL"), first_key(Command::kCopySql), [this] {
    copy_sql();
  })->setEnabled(is_sqlite_file(session_->trace));
}

void TimelinePage::add_row_actions(QMenu& menu, RowId row) {
  menu.addSeparator();
  const QString name =
      QString::fromStdString(display_text(view_->frame().model->row(row).label, 40));
  const bool pinned = view_->layout().is_pinned(row);
  add_entry(menu, pinned ? tr("Unpin row “%1”").arg(name) : tr("Pin row “%1” to the top").arg(name),
            first_key(Command::kPinRow), [this, row, pinned] { view_->pin(row, !pinned); });
  add_entry(menu, tr("Hide row “%1”").arg(name), first_key(Command::kHideRow),
            [this, row] { view_->hide(row); });
  auto entry = [&](const QString& text, Command command) {
    return add_entry(menu, text, first_key(command), [this, command] { run(command); });
  };
  entry(tr("Move it up"), Command::kMoveRowUp);
  entry(tr("Move it down"), Command::kMoveRowDown);
  entry(tr("Show all rows"), Command::kShowAllRows)->setEnabled(view_->layout().hidden() > 0);
}

/// Shows the host's call stacks in the selected time range, or during the selected target.
void TimelinePage::show_stacks() {
  if (following_stack_ || !session_) return;
  const Target& target = view_->selection();
  const bool whole = target && target.kind != Target::Kind::kPrediction;
  Interval when = view_->range();
  if (when.empty() && whole) when = session_->timeline.interval_of(target);
  drawer_->stacks().set_range(session_, when, whole ? target : Target{});
}

void TimelinePage::open_source(const Target& target) {
  if (!session_ || !target) return tell(tr("Select an event first"));
  const auto frames = source_frames(session_->timeline, target, 1);
  if (frames.empty())
    return tell(tr("No surrounding range is named after a source line, e.g. train.py(42): step"));
  tell(details_->open_source(frames.front().place));
}

void TimelinePage::filter_to_name() {
  const Target target = view_->selection();
  if (target.kind != Target::Kind::kEvent) return tell(tr("Select an event first"));
  std::string_view name = analyzer::name_of(session_->trace, target.event);
  search_->search_for_name(QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())));
  only_hits_->setChecked(true);
}

void TimelinePage::add_bookmark() {
  if (!session_) return;
  Interval when{view_->here(), view_->here()};
  std::string note;
  if (!view_->range().empty()) {
    when = view_->range();
  } else if (view_->selection()) {
    when = view_->frame().model->interval_of(view_->selection());
    note = title_of(*view_->frame().model, view_->selection());
  }
  const std::size_t part =
      part_of(session_->parts, *view_->frame().model, view_->selection(), view_->current_row());
  bookmarks_->add(part, when, std::move(note));
  tabs_->setCurrentWidget(bookmarks_);
  tell(tr("Bookmarked %1").arg(QString::fromStdString(format_time(when.begin, {1'000}))));
}

/// A step or time range fills the view; a point in time moves to the middle.
void TimelinePage::go(const Destination& destination) {
  if (!session_) return;
  if (destination.target) return show_target(destination.target);
  if (!destination.interval.empty())
    return view_->show_interval(with_context(destination.interval, session_->timeline.bounds));
  const DurationNs half = view_->mapping().visible().length() / 2;
  view_->show_interval({destination.interval.begin - half, destination.interval.begin + half});
}

void TimelinePage::copy(const QString& text, const QString& what) {
  QGuiApplication::clipboard()->setText(text);
  tell(tr("Copied %1").arg(what));
}

void TimelinePage::copy_events() {
  Interval when = view_->range();
  if (when.empty() && view_->selection())
    when = view_->frame().model->interval_of(view_->selection());
  if (when.empty()) return tell(tr("Select a time range first: Shift+drag"));
  std::string text = events_as_text(session_->timeline, when);
  copy(QString::fromStdString(text), tr("the events of the time range"));
}

void TimelinePage::copy_sql() {
  if (!is_sqlite_file(session_->trace))
    return tell(tr("This trace is not an SQLite file, so SELECT cannot read it"));
  if (!view_->range().empty()) {
    copy(QString::fromStdString(events_as_sql(session_->trace, view_->range())), tr("a SELECT"));
  } else if (view_->selection().kind == Target::Kind::kEvent) {
    copy(QString::fromStdString(event_as_sql(session_->trace, view_->selection().event)),
         tr("a SELECT"));
  } else {
    tell(tr("Select a time range first: Shift+drag"));
  }
}

void TimelinePage::go_to_place(const std::string& text) {
  const Destination place = parse_destination(session_->timeline, text, view_->here());
  if (place.target || !place.interval.empty()) return go(place);
  // The whole trace is still visible: shows a point in time with a step on either side.
  const DurationNs whole = session_->timeline.bounds.length();
  const DurationNs step = session_->analysis.median_step;
  const DurationNs half = step.ns > 0 ? std::min(step, whole / 20) : whole / 40;
  view_->show_interval({place.interval.begin - half, place.interval.begin + half});
}

QString TimelinePage::view_command() const {
  if (!session_) return {};
  const Interval view = view_->mapping().visible();
  std::string file = session_->trace.path;
  for (std::size_t at = 0; (at = file.find('\'', at)) != std::string::npos; at += 4)
    file.replace(at, 1, "'\\''");
  const auto seconds = [](TimeNs t) {
    return fmt::format("{:.9f}s", static_cast<double>(std::max<std::int64_t>(0, t.ns)) * 1e-9);
  };
  return QString::fromStdString(fmt::format("headway view '{}' --range {}..{}", file,
                                            seconds(view.begin), seconds(view.end)));
}

/// Shows a text about the result where the time at the pointer is shown otherwise.
void TimelinePage::tell(const QString& text) {
  pointed_->setText(text);
}

void TimelinePage::show_hidden_rows() {
  const std::size_t hidden = view_->layout().hidden();
  hidden_->setVisible(hidden > 0);
  hidden_->setText(tr("%1 %2 hidden – show all (%3)")
                       .arg(hidden)
                       .arg(hidden == 1 ? tr("row") : tr("rows"))
                       .arg(first_key(Command::kShowAllRows)));
  if (view_->layout().filter().empty() && !row_filter_->text().isEmpty()) {
    QSignalBlocker quiet(row_filter_);
    row_filter_->clear();
  }
  if (!view_->shows_only_hits() && only_hits_->isChecked()) {
    QSignalBlocker quiet(only_hits_);
    only_hits_->setChecked(false);
  }
}

}  // namespace headway::gui
