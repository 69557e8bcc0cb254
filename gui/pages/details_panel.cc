// SPDX-License-Identifier: MIT
#include "gui/pages/details_panel.h"

#include <QGridLayout>

#include "common/format.h"
#include "gui/pages/labels.h"
#include "gui/pages/source_opener.h"

namespace headway::gui {

namespace {

/// In smaller traces a pass over the trace is not noticeable.
constexpr std::size_t kLargeTrace = 300'000;

}  // namespace

DetailsPanel::DetailsPanel(QWidget* parent) : QScrollArea(parent), task_(new BackgroundTask(this)) {
  setWidgetResizable(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setAccessibleName(tr("Details of the selection"));
  show_hint();
}

void DetailsPanel::set_session(std::shared_ptr<const Session> session) {
  session_ = std::move(session);
  show_hint();
}

bool DetailsPanel::is_large() const {
  return session_->trace.event_count() > kLargeTrace;
}

void DetailsPanel::show_hint() {
  task_->cancel();
  show_lines(tr("Nothing selected"), {{"",
                                       tr("Click an event for details. Drag along the ruler, or "
                                          "Shift+drag, to measure a time range.")
                                           .toStdString(),
                                       {}}});
}

void DetailsPanel::show_target(const Target& target, std::vector<EventLink> links) {
  if (!session_ || !target) return show_hint();
  task_->cancel();
  const QString title = QString::fromStdString(title_of(session_->timeline, target));
  auto lines_of = [session = session_, target, links = std::move(links)](bool statistics) {
    std::vector<Detail> lines = describe(session->timeline, target, statistics);
    std::vector<Detail> more = describe(session->trace, target.event, links);
    lines.insert(lines.end(), more.begin(), more.end());
    return lines;
  };
  show_lines(title, lines_of(!is_large()));
  if (!is_large()) return;
  task_->start([this, title, lines_of](const std::atomic<bool>&) -> BackgroundTask::Show {
    return [this, title, lines = lines_of(true)] { show_lines(title, lines); };
  });
}

void DetailsPanel::show_range(Interval range) {
  if (!session_ || range.empty()) return show_hint();
  const QString title = tr("Selected time");
  if (!is_large()) return show_lines(title, describe(session_->timeline, range));
  task_->start([this, title, range,
                session = session_](const std::atomic<bool>&) -> BackgroundTask::Show {
    return [this, title, lines = describe(session->timeline, range)] { show_lines(title, lines); };
  });
}

void DetailsPanel::show_lines(const QString& title, const std::vector<Detail>& lines) {
  title_ = title;
  lines_ = lines;
  QWidget* page = new QWidget;
  page->setBackgroundRole(QPalette::Base);
  page->setAutoFillBackground(true);
  QGridLayout* grid = new QGridLayout(page);
  grid->setContentsMargins(10, 8, 10, 8);
  grid->setHorizontalSpacing(10);
  grid->setVerticalSpacing(3);
  grid->setColumnMinimumWidth(0, fontMetrics().horizontalAdvance(QStringLiteral("Launched by ")));
  grid->setColumnStretch(1, 1);
  grid->addWidget(heading_label(title, 0.5), 0, 0, 1, 2);
  source_note_ = dim_label({});
  source_note_->setObjectName(QStringLiteral("source note"));
  source_note_->hide();
  grid->addWidget(source_note_, 1, 0, 1, 2);
  int row = 2;
  for (const Detail& line : lines) {
    QString label = QString::fromStdString(line.label);
    QString value = QString::fromStdString(line.value);
    if (line.value.empty()) {
      QLabel* heading = heading_label(label, 0);
      heading->setContentsMargins(0, 8, 0, 0);
      grid->addWidget(heading, row++, 0, 1, 2);
      continue;
    }
    QLabel* shown = nullptr;
    if (line.source) {
      LinkLabel* link = new LinkLabel(value);
      link->setObjectName(QStringLiteral("source"));
      link->setToolTip(tr("Open in the editor"));
      connect(link, &LinkLabel::followed, this,
              [this, place = *line.source] { open_source(place); });
      shown = link;
    } else if (line.link) {
      LinkLabel* link = new LinkLabel(value);
      connect(link, &LinkLabel::followed, this,
              [this, target = line.link] { emit followed(target); });
      shown = link;
    } else {
      shown = plain_label(value);
    }
    if (label.isEmpty()) {
      grid->addWidget(shown, row++, 0, 1, 2);
      continue;
    }
    // A long name in the left column gets a line of its own.
    QLabel* name = dim_label(label);
    if (label.size() > 16) {
      grid->addWidget(name, row++, 0, 1, 2);
      shown->setContentsMargins(12, 0, 0, 0);
      grid->addWidget(shown, row++, 0, 1, 2);
    } else {
      grid->addWidget(name, row, 0);
      grid->addWidget(shown, row++, 1);
    }
  }
  grid->setRowStretch(row, 1);
  setWidget(page);
}

QString DetailsPanel::open_source(const SourcePlace& place) {
  if (!session_) return {};
  const QString said = gui::open_source(place, session_->trace);
  if (source_note_) {
    source_note_->setText(said);
    source_note_->show();
  }
  return said;
}

QString DetailsPanel::text() const {
  QString text = title_ + '\n';
  for (const Detail& line : lines_) {
    text += QString::fromStdString(line.label);
    if (!line.value.empty())
      text += (line.label.empty() ? "" : ": ") + QString::fromStdString(line.value);
    text += '\n';
  }
  return text;
}

}  // namespace headway::gui
