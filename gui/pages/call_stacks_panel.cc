// SPDX-License-Identifier: MIT
#include "gui/pages/call_stacks_panel.h"

#include <QHBoxLayout>
#include <QScrollBar>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "common/format.h"
#include "gui/models/details/details.h"
#include "gui/models/timeline/ticks.h"
#include "gui/pages/labels.h"

namespace headway::gui {

CallStacksPanel::CallStacksPanel(QWidget* parent)
    : QWidget(parent),
      task_(new BackgroundTask(this)),
      threads_(new QComboBox),
      search_(new QLineEdit),
      note_(plain_label({})),
      state_(dim_label({})),
      bar_(new QWidget),
      view_(new FlameView),
      scroll_(new QScrollArea) {
  threads_->setAccessibleName(tr("Thread whose call stacks are shown"));
  threads_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  threads_->setMinimumContentsLength(16);
  search_->setPlaceholderText(tr("Highlight names"));
  search_->setAccessibleName(tr("Highlight names in the call stacks"));
  search_->setClearButtonEnabled(true);
  search_->setMaximumWidth(160);
  note_->set_single_line(true);
  QHBoxLayout* bar = new QHBoxLayout(bar_);
  bar->setContentsMargins(8, 4, 8, 4);
  bar->addWidget(threads_);
  bar->addWidget(search_, 1);
  bar->addWidget(note_, 4);
  state_->setContentsMargins(10, 6, 10, 6);
  scroll_->setWidget(view_);
  scroll_->setWidgetResizable(true);
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->setFocusPolicy(Qt::NoFocus);
  view_->setAccessibleName(tr("Call stacks"));
  view_->set_click_follows(true);
  QVBoxLayout* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(bar_);
  layout->addWidget(state_);
  layout->addWidget(scroll_, 1);
  setFocusProxy(view_);
  connect(view_, &FlameView::followed, this, &CallStacksPanel::followed);
  connect(view_, &FlameView::source_wanted, this, &CallStacksPanel::source_wanted);
  connect(view_, &FlameView::moved, this, [this](const QRect& box) {
    scroll_->ensureVisible(0, box.center().y(), 0, box.height());
  });
  connect(search_, &QLineEdit::textChanged, view_, &FlameView::set_search);
  connect(threads_, &QComboBox::activated, this,
          [this](int index) { make(trace::ThreadId{threads_->itemData(index).toUInt()}); });
  connect(task_, &BackgroundTask::failed, state_, [this](const QString& why) {
    state_->setText(why);
    state_->show();
  });
  set_range(nullptr, {}, {});
}

void CallStacksPanel::set_range(std::shared_ptr<const Session> session, Interval range,
                                const Target& about) {
  if (session == session_ && range == range_ && about == about_ && !old_) return;
  task_->cancel();
  session_ = std::move(session);
  range_ = range;
  about_ = about;
  old_ = true;
  if (isVisible()) want();
}

void CallStacksPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  want();
}

void CallStacksPanel::want() {
  if (!old_) return;
  const bool any = session_ && !range_.empty();
  state_->setText(tr("Select a gap, a step, an event or a time range to see the host's activity."));
  state_->setVisible(!any);
  bar_->setVisible(any);
  if (!any) {
    old_ = false;
    return show_stacks(nullptr);
  }
  task_->start([this, session = session_, range = range_,
                about = about_](const std::atomic<bool>& cancelled) -> BackgroundTask::Show {
    const StackThreads found = stack_threads(session->timeline, range, about);
    std::shared_ptr<const FlameGraph> stacks;
    if (found.first.valid())
      stacks = std::make_shared<FlameGraph>(
          make_call_stacks(session->timeline, found.first, range, &cancelled));
    return [this, found, stacks] {
      old_ = false;
      show_threads(found);
      show_stacks(stacks);
    };
  });
}

/// Makes the stacks of another thread in the same time range.
void CallStacksPanel::make(trace::ThreadId thread) {
  task_->start([this, session = session_, range = range_,
                thread](const std::atomic<bool>& cancelled) -> BackgroundTask::Show {
    auto stacks = std::make_shared<const FlameGraph>(
        make_call_stacks(session->timeline, thread, range, &cancelled));
    return [this, stacks] { show_stacks(stacks); };
  });
}

void CallStacksPanel::show_threads(const StackThreads& found) {
  threads_->clear();
  const trace::Trace& trace = session_->trace;
  for (const trace::ThreadId thread : found.threads) {
    QString label = QString::fromStdString(thread_label(trace, thread));
    if (trace.processes.size() > 1) {
      const trace::Process& process = trace.processes[trace.threads[thread.value].process.value];
      label = trace.world_size > 1 ? tr("rank %1 › %2").arg(process.rank).arg(label)
                                   : tr("process %1 › %2").arg(process.pid).arg(label);
    }
    threads_->addItem(label, thread.value);
    if (thread == found.first) threads_->setCurrentIndex(threads_->count() - 1);
  }
}

void CallStacksPanel::show_stacks(std::shared_ptr<const FlameGraph> stacks) {
  view_->set_graph(stacks);
  if (!session_ || range_.empty()) return note_->setText({});
  const auto time = [](DurationNs t) { return QString::fromStdString(format_duration(t)); };
  if (!stacks || stacks->nodes.size() == 1) {
    note_->setText({});
    state_->setText(tr("No range or host call was recorded in these %1. Record Python stacks with "
                       "torch.profiler’s with_stack=True, or ranges with NVTX.")
                        .arg(time(range_.length())));
    state_->show();
    return;
  }
  state_->hide();
  QString text =
      tr("%1 from %2")
          .arg(time(range_.length()), QString::fromStdString(format_time(range_.begin, {1'000})));
  if (const std::string most = most_own_time(*stacks); !most.empty())
    text += QStringLiteral(" · ") + QString::fromStdString(most);
  if (stacks->nodes[0].self.ns > 0)
    text += tr(" · outside of all ranges %1").arg(time(stacks->nodes[0].self));
  note_->setText(text);
  note_->setToolTip(text);
  // The outermost frames are common to all stacks: starts where the stacks diverge.
  std::uint32_t node = 0;
  while (stacks->first_child[node] < stacks->first_child[node + 1]) {
    const std::uint32_t largest = stacks->children[stacks->first_child[node]];
    if (stacks->nodes[largest].total.ns * 20 < stacks->nodes[node].total.ns * 19) break;
    node = largest;
  }
  const int above = std::max(0, static_cast<int>(stacks->nodes[node].depth) - 1);
  QMetaObject::invokeMethod(
      this, [this, above] { scroll_->verticalScrollBar()->setValue(above * view_->row_height()); },
      Qt::QueuedConnection);
}

QString CallStacksPanel::note() const {
  return note_->text();
}

}  // namespace headway::gui
