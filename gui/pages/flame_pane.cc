// SPDX-License-Identifier: MIT
#include "gui/pages/flame_pane.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

#include "common/format.h"
#include "gui/pages/labels.h"

namespace headway::gui {

FlamePane::FlamePane(QWidget* parent)
    : ComputedPage(parent),
      weight_(new QComboBox),
      scope_(new QComboBox),
      search_(new QLineEdit),
      note_(plain_label({})),
      view_(new FlameView),
      scroll_(new QScrollArea) {
  weight_->addItems({tr("Device time"), tr("Host time")});
  weight_->setAccessibleName(tr("Meaning of a box's width"));
  scope_->addItems({tr("Steady steps"), tr("Whole trace")});
  scope_->setAccessibleName(tr("Scope"));
  search_->setPlaceholderText(tr("Highlight names"));
  search_->setAccessibleName(tr("Highlight names in the flame graph"));
  search_->setClearButtonEnabled(true);
  search_->setMaximumWidth(320);
  note_->set_single_line(true);
  QWidget* body = new QWidget;
  QHBoxLayout* bar = new QHBoxLayout;
  bar->setContentsMargins(10, 7, 10, 7);
  bar->setSpacing(10);
  bar->addWidget(weight_);
  bar->addWidget(scope_);
  bar->addWidget(search_, 1);
  bar->addWidget(note_, 2);
  QLabel* legend =
      dim_label(tr("Each box is a range inside the one above it; its width is time. Colours: "
                   "kernel class, or phase or name of ranges. Click: zoom · Ctrl+click or "
                   "Ctrl+Return: show the longest on the timeline · Esc: zoom out · arrows: move"));
  legend->setContentsMargins(10, 4, 10, 6);
  QVBoxLayout* layout = new QVBoxLayout(body);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(bar);
  layout->addWidget(scroll_, 1);
  layout->addWidget(legend);
  scroll_->setWidget(view_);
  scroll_->setWidgetResizable(true);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  set_body(body);
  body->setFocusProxy(view_);
  connect(weight_, &QComboBox::currentIndexChanged, this, [this] { restart(); });
  connect(scope_, &QComboBox::currentIndexChanged, this, [this] { restart(); });
  connect(search_, &QLineEdit::textChanged, this, [this](const QString& text) {
    view_->set_search(text);
    show_note();
  });
  connect(view_, &FlameView::followed, this, &FlamePane::follow);
  connect(view_, &FlameView::zoomed, this, [this] { show_note(); });
}

void FlamePane::set_theme(const Theme& theme) {
  view_->set_theme(theme);
}

BackgroundTask::Work FlamePane::make_work() {
  FlameWeight weight = static_cast<FlameWeight>(weight_->currentIndex());
  Scope scope = static_cast<Scope>(scope_->currentIndex());
  return [this, session = session(), weight,
          scope](const std::atomic<bool>& cancelled) -> BackgroundTask::Show {
    auto graph = std::make_shared<const FlameGraph>(
        make_flame_graph(session->trace, session->analysis, weight, scope, &cancelled));
    return [this, graph] {
      graph_ = graph;
      view_->set_graph(graph);
      show_note();
    };
  };
}

void FlamePane::clear() {
  graph_ = nullptr;
  view_->set_graph(nullptr);
  search_->clear();
}

void FlamePane::show_note() {
  if (!graph_) return note_->setText({});
  QString text = QString::fromStdString(graph_->basis);
  if (graph_->nodes.size() == 1) {
    text = weight_->currentIndex() == 0
               ? tr("No device work was recorded: choose host time.")
               : tr("No ranges were recorded: mark ops with NVTX, or record with a framework's "
                    "profiler.");
  } else if (!search_->text().isEmpty()) {
    DurationNs hits = graph_->matching(search_->text().toStdString());
    text = tr("%1 · %2 highlighted. ")
               .arg(QString::fromStdString(format_duration(hits)),
                    QString::fromStdString(format_percent(ratio(hits, graph_->nodes[0].total)))) +
           text;
  }
  note_->setText(text);
}

QString FlamePane::note() const {
  return note_->text();
}

}  // namespace headway::gui
