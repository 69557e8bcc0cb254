// SPDX-License-Identifier: MIT
#include "gui/pages/ranks_page.h"

#include <QHBoxLayout>
#include <QScrollArea>
#include <QSplitter>
#include <QVBoxLayout>

#include "analyzer/stats/tables.h"
#include "gui/pages/data_table.h"
#include "gui/pages/labels.h"

namespace headway::gui {
namespace {

QScrollArea* scrolled(QWidget* content) {
  QScrollArea* area = new QScrollArea;
  area->setWidget(content);
  area->setWidgetResizable(true);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  return area;
}

StackedBars stacks_of(const RankMap& map) {
  StackedBars bars;
  bars.title = map.of_devices ? "Mean steady step of each device" : "Mean steady step of each rank";
  bars.axis = "a steady step";
  for (const RankRow& row : map.rows) bars.add(row.label, row.detail, row.mean);
  return bars;
}

QString why_empty(const Session& session) {
  QString why = QObject::tr("This trace has one rank on one device: nothing to compare.");
  if (session.trace.world_size > 1)
    why += QObject::tr(" The job had %1 ranks.").arg(session.trace.world_size);
  return why + QObject::tr(
                   "\n\nRecord all ranks of a node with one `headway record`, or pass the traces "
                   "of all ranks to `headway report 'traces/*.sqlite'` to find stragglers.");
}

}  // namespace

RanksPage::RanksPage(QWidget* parent)
    : ComputedPage(parent),
      metric_(new QComboBox),
      text_(plain_label({})),
      map_(new HeatMapView),
      tabs_(new QTabWidget),
      stacks_(new StackedBarsView),
      ranks_(new DataTable(tr("Ranks"))),
      stragglers_(new DataTable(tr("Stragglers by step"))),
      collectives_(new DataTable(tr("Communication"))) {
  for (const RankMetricInfo& one : rank_metrics()) {
    metric_->addItem(QString::fromUtf8(one.label.data(), static_cast<qsizetype>(one.label.size())));
    metric_->setItemData(metric_->count() - 1,
                         QString::fromUtf8(one.doc.data(), static_cast<qsizetype>(one.doc.size())),
                         Qt::ToolTipRole);
  }
  metric_->setAccessibleName(tr("Map contents"));
  set_body(make_body());
  connect(metric_, &QComboBox::currentIndexChanged, this,
          [this](int index) { map_->set_metric(static_cast<RankMetric>(index)); });
  connect(map_, &HeatMapView::cell_followed, this, [this](std::uint32_t row, std::uint32_t column) {
    if (const std::optional<RankCell>& cell = data_->rows[row].cells[column])
      emit followed({.page = Page::kTimeline, .view = cell->time});
  });
  connect(stragglers_, &DataTable::row_followed, this, &RanksPage::follow);
}

QWidget* RanksPage::make_body() {
  QWidget* top = new QWidget;
  QHBoxLayout* bar = new QHBoxLayout;
  bar->setContentsMargins(10, 7, 10, 7);
  bar->setSpacing(10);
  bar->addWidget(metric_, 0, Qt::AlignTop);
  bar->addWidget(text_, 1);
  QVBoxLayout* layout = new QVBoxLayout(top);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(bar);
  layout->addWidget(scrolled(map_), 1);
  tabs_->setDocumentMode(true);
  tabs_->setAccessibleName(tr("Rank figures"));
  tabs_->addTab(scrolled(stacks_), tr("Time classes"));
  tabs_->addTab(ranks_, tr("Ranks"));
  tabs_->addTab(stragglers_, tr("Stragglers"));
  tabs_->addTab(collectives_, tr("Communication"));
  QSplitter* body = new QSplitter(Qt::Vertical);
  body->setHandleWidth(1);
  body->setChildrenCollapsible(false);
  body->addWidget(top);
  body->addWidget(tabs_);
  body->setStretchFactor(0, 1);
  body->setSizes({420, 360});
  body->setFocusProxy(map_);
  return body;
}

BackgroundTask::Work RanksPage::make_work() {
  return [this, session = session()](const std::atomic<bool>& cancelled) -> BackgroundTask::Show {
    auto map = std::make_shared<const RankMap>(
        make_rank_map(session->trace, session->analysis, &cancelled));
    auto ranks = std::make_shared<const LinkedTable>(
        rank_summary_table(session->trace, session->analysis, *map));
    auto late = std::make_shared<const LinkedTable>(straggler_table(*map, session->analysis));
    auto collectives = std::make_shared<LinkedTable>();
    analyzer::Analysis of_job;
    of_job.job = map->job;
    collectives->table =
        analyzer::collective_table(session->trace, map->job ? of_job : session->analysis);
    return [this, session, map, ranks, late, collectives] {
      data_ = map;
      if (map->rows.size() < 2) return show_empty(why_empty(*session));
      QString text = QString::fromStdString(map->text);
      if (!map->can_tell_waits)
        text +=
            tr(" Waiting and transfer cannot be separated here: no collective was matched between "
               "them.");
      if (session->analysis.steps.all.empty())
        text += tr(" The trace has no steps: one column covers the whole trace.");
      text_->setText(text);
      map_->set_map(map);
      metric_->setCurrentIndex(static_cast<int>(map->most_different()));
      stacks_->set_bars(stacks_of(*map));
      ranks_->set_table(ranks);
      stragglers_->set_table(late);
      collectives_->set_table(collectives);
      tabs_->setTabText(2, tr("Stragglers (%1)").arg(map->stragglers.size()));
    };
  };
}

void RanksPage::clear() {
  data_ = nullptr;
  map_->set_map(nullptr);
  stacks_->set_bars({});
  for (DataTable* table : {ranks_, stragglers_, collectives_}) table->set_table(nullptr);
}

void RanksPage::set_theme(const Theme& theme) {
  map_->set_theme(theme);
  stacks_->set_theme(theme);
}

PageWidget* make_ranks_page() {
  return new RanksPage;
}

}  // namespace headway::gui
