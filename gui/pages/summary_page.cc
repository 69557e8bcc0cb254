// SPDX-License-Identifier: MIT
#include "gui/pages/summary_page.h"

#include <QFrame>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>

#include "analyzer/partition/steady_ops.h"
#include "gui/models/details/findings.h"
#include "gui/pages/labels.h"
#include "gui/pages/status_icon.h"

namespace headway::gui {
namespace {

constexpr int kMostFindings = 4;

QFrame* card() {
  QFrame* frame = new QFrame;
  frame->setObjectName(QStringLiteral("card"));
  return frame;
}

}  // namespace

SummaryPage::SummaryPage(QWidget* parent) : PageWidget(parent), scroll_(new QScrollArea) {
  scroll_->setWidgetResizable(true);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->setAccessibleName(tr("Summary"));
  QVBoxLayout* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(scroll_);
  setFocusProxy(scroll_);
}

void SummaryPage::set_session(std::shared_ptr<const Session> session) {
  session_ = std::move(session);
  scroll_->setWidget(session_ ? page() : new QWidget);
}

void SummaryPage::set_theme(const Theme& theme) {
  theme_ = &theme;
  if (session_) scroll_->setWidget(page());
}

QWidget* SummaryPage::page() {
  QWidget* page = new QWidget;
  QVBoxLayout* outer = new QVBoxLayout(page);
  outer->setContentsMargins(28, 22, 28, 22);
  outer->setSpacing(8);
  outer->addWidget(heading_label(QString::fromStdString(session_->summary.headline), 7));
  outer->addWidget(plain_label(QString::fromStdString(session_->summary.verdict)));
  outer->addSpacing(10);
  outer->addWidget(figures());
  outer->addSpacing(10);
  QGridLayout* columns = new QGridLayout;
  columns->setHorizontalSpacing(24);
  columns->addWidget(waterfall(), 0, 0, Qt::AlignTop);
  columns->addWidget(findings(), 0, 1, Qt::AlignTop);
  columns->setColumnStretch(0, 3);
  columns->setColumnStretch(1, 2);
  outer->addLayout(columns);
  outer->addStretch(1);
  return page;
}

QWidget* SummaryPage::figures() {
  QWidget* box = new QWidget;
  QGridLayout* grid = new QGridLayout(box);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setSpacing(10);
  const int count = static_cast<int>(session_->summary.figures.size());
  const int per_line = count <= 4 ? std::max(1, count) : 3;
  int i = 0;
  for (const KeyFigure& figure : session_->summary.figures) {
    QFrame* frame = card();
    QVBoxLayout* layout = new QVBoxLayout(frame);
    layout->setContentsMargins(14, 10, 14, 10);
    layout->setSpacing(2);
    layout->addWidget(dim_label(QString::fromStdString(figure.label)));
    layout->addWidget(heading_label(QString::fromStdString(figure.value), 5));
    layout->addWidget(dim_label(QString::fromStdString(figure.note)));
    layout->addStretch(1);
    grid->addWidget(frame, i / per_line, i % per_line);
    ++i;
  }
  for (int c = 0; c < per_line; ++c) grid->setColumnStretch(c, 1);
  return box;
}

QWidget* SummaryPage::waterfall() {
  QFrame* frame = card();
  QVBoxLayout* layout = new QVBoxLayout(frame);
  layout->setContentsMargins(16, 12, 16, 12);
  const std::optional<Waterfall>& shown = session_->summary.waterfall;
  layout->addWidget(
      heading_label(shown ? QString::fromStdString(shown->title) : tr("Where the time went"), 0.5));
  if (!shown) {
    layout->addWidget(dim_label(tr("No device work was recorded, so step time has no classes.")));
    return frame;
  }
  WaterfallView* view = new WaterfallView;
  view->set_theme(*theme_);
  view->set_waterfall(shown);
  connect(view, &WaterfallView::class_followed, this, &SummaryPage::follow_class);
  layout->addWidget(view);
  layout->addWidget(
      dim_label(tr("The classes add up to the step cost. Click one to see its longest interval on "
                   "the timeline.")));
  return frame;
}

QWidget* SummaryPage::findings() {
  QFrame* frame = card();
  QVBoxLayout* layout = new QVBoxLayout(frame);
  layout->setContentsMargins(16, 12, 16, 12);
  layout->setSpacing(6);
  layout->addWidget(heading_label(tr("Largest gains"), 0.5));
  std::vector<FindingLine> lines = finding_lines(session_->analysis);
  int shown = 0;
  for (std::size_t i = 0; i < lines.size() && shown < kMostFindings; ++i) {
    if (lines[i].status != analyzer::Status::kFound) continue;
    ++shown;
    QHBoxLayout* line = new QHBoxLayout;
    QLabel* mark = new QLabel;
    mark->setPixmap(status_icon(lines[i].status, *theme_).pixmap(16));
    mark->setAccessibleName(tr("Found"));
    line->addWidget(mark, 0, Qt::AlignTop);
    QVBoxLayout* text = new QVBoxLayout;
    text->setSpacing(0);
    LinkLabel* link = new LinkLabel(QString::fromStdString(lines[i].title));
    connect(link, &LinkLabel::followed, this, [this, i] { open_finding(i); });
    text->addWidget(link);
    text->addWidget(dim_label(QString::fromStdString(lines[i].gain)));
    line->addLayout(text, 1);
    layout->addLayout(line);
  }
  if (shown == 0)
    layout->addWidget(dim_label(session_->analysis.findings.empty()
                                    ? tr("No rule could be applied.")
                                    : tr("No finding. The verdict above says what that means.")));
  LinkLabel* all = new LinkLabel(tr("All findings and passed checks"));
  connect(all, &LinkLabel::followed, this, [this] { open_finding(0); });
  layout->addSpacing(6);
  layout->addWidget(all);
  return frame;
}

void SummaryPage::follow_class(analyzer::TimeClass time_class) {
  const Waterfall& shown = *session_->summary.waterfall;
  const analyzer::DevicePartition& partition = session_->analysis.partitions[shown.partition];
  std::uint32_t longest = 0;
  DurationNs length{-1};
  for (const analyzer::DeviceStep& step : partition.steps) {
    if (!analyzer::counts(session_->analysis.steps, step)) continue;
    for (std::uint32_t i = step.first_segment; i < step.first_segment + step.segment_count; ++i) {
      const analyzer::Segment& segment = partition.segments[i];
      if (segment.time_class != time_class || segment.interval.length() <= length) continue;
      longest = i;
      length = segment.interval.length();
    }
  }
  if (length.ns >= 0)
    emit followed({.page = Page::kTimeline, .target = Target::segment(shown.partition, longest)});
}

void SummaryPage::open_finding(std::size_t finding) {
  emit followed({.page = Page::kFindings, .finding = static_cast<int>(finding)});
}

PageWidget* make_summary_page() {
  return new SummaryPage;
}

}  // namespace headway::gui
