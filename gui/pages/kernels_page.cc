// SPDX-License-Identifier: MIT
#include "gui/pages/kernels_page.h"

#include "gui/models/figures/kernel_table.h"
#include "gui/pages/data_table.h"

namespace headway::gui {

KernelsPage::KernelsPage(QWidget* parent)
    : ComputedPage(parent),
      grouping_(new QComboBox),
      scope_(new QComboBox),
      table_(new DataTable(tr("Kernels"))) {
  grouping_->addItems({tr("By kernel"), tr("By family"), tr("By launch and queue")});
  grouping_->setAccessibleName(tr("Group kernels"));
  scope_->addItems({tr("Steady steps"), tr("Whole trace")});
  scope_->setAccessibleName(tr("Scope"));
  table_->filter().setPlaceholderText(tr("Filter by name or family"));
  table_->add_control(grouping_);
  table_->add_control(scope_);
  set_body(table_);
  connect(grouping_, &QComboBox::currentIndexChanged, this, [this](int grouping) {
    // Launches are available for the whole trace only.
    scope_->setEnabled(grouping != static_cast<int>(KernelGrouping::kLaunches));
    restart();
  });
  connect(scope_, &QComboBox::currentIndexChanged, this, [this] { restart(); });
  connect(table_, &DataTable::row_followed, this, &KernelsPage::follow);
}

BackgroundTask::Work KernelsPage::make_work() {
  KernelGrouping grouping = static_cast<KernelGrouping>(grouping_->currentIndex());
  Scope scope = static_cast<Scope>(scope_->currentIndex());
  return [this, session = session(), grouping,
          scope](const std::atomic<bool>&) -> BackgroundTask::Show {
    auto table = std::make_shared<const LinkedTable>(
        make_kernel_table(session->trace, session->analysis, grouping, scope));
    return [this, table] {
      table_->set_table(table);
      if (table->table.rows.empty())
        show_empty(
            tr("No kernels were recorded.\nRecord with `headway record` on a machine with a GPU, "
               "or open a trace with device work. The timeline shows host activity."));
    };
  };
}

void KernelsPage::clear() {
  table_->set_table(nullptr);
  table_->filter().clear();
}

void KernelsPage::open_link(const Link& link) {
  if (link.target.event.kind != analyzer::EventRef::Kind::kDeviceOp) return;
  const trace::Trace& trace = session()->trace;
  table_->select_key(std::string(trace.strings[trace.device_ops.name[link.target.event.index]]));
}

PageWidget* make_kernels_page() {
  return new KernelsPage;
}

}  // namespace headway::gui
