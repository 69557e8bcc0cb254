// SPDX-License-Identifier: MIT
#include "gui/pages/ops_page.h"

#include "gui/models/figures/op_table.h"

namespace headway::gui {

OpTablePane::OpTablePane(QWidget* parent)
    : ComputedPage(parent),
      grouping_(new QComboBox),
      table_(new DataTable(tr("Device time by op"))) {
  grouping_->addItem(tr("By model op"));
  grouping_->addItem(tr("By op type"));
  grouping_->addItem(tr("By kernel or copy"));
  grouping_->setAccessibleName(tr("Group device ops"));
  table_->filter().setPlaceholderText(tr("Filter by name, type or phase"));
  table_->add_control(grouping_);
  set_body(table_);
  connect(grouping_, &QComboBox::currentIndexChanged, this, [this] { restart(); });
  connect(table_, &DataTable::row_followed, this, &OpTablePane::follow);
}

BackgroundTask::Work OpTablePane::make_work() {
  OpGrouping grouping = static_cast<OpGrouping>(grouping_->currentIndex());
  return [this, session = session(), grouping](const std::atomic<bool>&) -> BackgroundTask::Show {
    auto table = std::make_shared<const LinkedTable>(
        linked_table(make_op_table(session->trace, session->analysis, grouping)));
    return [this, table] {
      table_->set_table(table);
      if (!wanted_.empty()) table_->select_key(wanted_);
      wanted_.clear();
      if (table->table.rows.empty())
        show_empty(
            tr("No device ops were recorded, so there is no device time to show.\nThe timeline "
               "shows host activity; the flame graph can show host time."));
    };
  };
}

void OpTablePane::clear() {
  table_->set_table(nullptr);
  table_->filter().clear();
  wanted_.clear();
}

void OpTablePane::open_link(const Link& link) {
  if (link.target.event.kind != analyzer::EventRef::Kind::kDeviceOp) return;
  trace::DeviceOpId op{link.target.event.index};
  // Selects by op of the model if the device op has one; other kernels are found by name.
  const analyzer::Attribution& attribution = session()->analysis.attribution;
  bool attributed = op.value < attribution.op_of.size() && attribution.op_of[op.value].value != 0;
  OpGrouping grouping = attributed ? OpGrouping::kOp : OpGrouping::kKernel;
  std::string key = op_key(session()->trace, session()->analysis, grouping, op);
  if (grouping_->currentIndex() == static_cast<int>(grouping)) {
    table_->select_key(key);
  } else {
    wanted_ = key;
    grouping_->setCurrentIndex(static_cast<int>(grouping));
  }
}

OpsPage::OpsPage(QWidget* parent)
    : TabbedPage(parent), pane_(new OpTablePane), flames_(new FlamePane) {
  add_pane(tr("Table"), pane_);
  add_pane(tr("Flame graph"), flames_);
}

PageWidget* make_ops_page() {
  return new OpsPage;
}

}  // namespace headway::gui
