// SPDX-License-Identifier: MIT
#include "gui/pages/ops_page.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include "gui/models/display_text.h"
#include "gui/pages/labels.h"

namespace headway::gui {
namespace {

/// A bar behind the share, so that the eye finds the long ones.
class ShareDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    double share = index.data(OpTableModel::kShareRole).toDouble();
    if (share > 0 && !(option.state & QStyle::State_Selected)) {
      QColor color = option.palette.color(QPalette::Highlight);
      color.setAlpha(60);
      QRect bar = option.rect.adjusted(1, 3, -1, -3);
      bar.setWidth(std::max(1, static_cast<int>(bar.width() * std::min(1.0, share))));
      painter->fillRect(bar, color);
    }
    QStyledItemDelegate::paint(painter, option, index);
  }
};

}  // namespace

OpsPage::OpsPage(QWidget* parent)
    : PageWidget(parent),
      model_(new OpTableModel(this)),
      table_(new QTableView),
      filter_(new QLineEdit),
      grouping_(new QComboBox),
      basis_(plain_label({})),
      empty_(plain_label(tr("No device ops were recorded, so there is no device time to share "
                            "out.\nThe timeline shows what the host did."))) {
  grouping_->addItem(tr("By op of the model"));
  grouping_->addItem(tr("By type of op"));
  grouping_->addItem(tr("By kernel or copy"));
  grouping_->setAccessibleName(tr("Group device ops"));
  filter_->setPlaceholderText(tr("Filter by name, type or phase"));
  filter_->setAccessibleName(tr("Filter the table"));
  filter_->setClearButtonEnabled(true);
  filter_->setMaximumWidth(320);
  basis_->set_single_line(true);
  table_->setModel(model_);
  table_->setItemDelegateForColumn(static_cast<int>(OpColumn::kShare), new ShareDelegate(table_));
  table_->setAccessibleName(tr("Device time by op"));
  table_->setFrameShape(QFrame::NoFrame);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setShowGrid(false);
  table_->setAlternatingRowColors(true);
  table_->setWordWrap(false);
  table_->setTextElideMode(Qt::ElideMiddle);
  table_->setTabKeyNavigation(false);
  table_->setSortingEnabled(true);
  table_->sortByColumn(static_cast<int>(OpColumn::kTimePerStep), Qt::DescendingOrder);
  table_->horizontalHeader()->setSortIndicatorShown(false);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 7);
  table_->horizontalHeader()->setHighlightSections(false);
  table_->horizontalHeader()->setStretchLastSection(false);
  table_->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
  QHBoxLayout* bar = new QHBoxLayout;
  bar->setContentsMargins(10, 7, 10, 7);
  bar->setSpacing(10);
  bar->addWidget(grouping_);
  bar->addWidget(filter_, 1);
  bar->addWidget(basis_, 2);
  QVBoxLayout* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(bar);
  layout->addWidget(table_, 1);
  empty_->setAlignment(Qt::AlignCenter);
  empty_->hide();
  layout->addWidget(empty_, 1);
  connect(grouping_, &QComboBox::currentIndexChanged, this, [this] { regroup(); });
  connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) {
    model_->set_filter(text);
    show_basis();
  });
  connect(table_, &QTableView::activated, this, [this](const QModelIndex& index) {
    if (!index.isValid()) return;
    trace::DeviceOpId longest = model_->line(index.row()).longest;
    emit followed({.page = Page::kTimeline, .target = Target::of(analyzer::EventRef::of(longest))});
  });
}

void OpsPage::set_session(std::shared_ptr<const Session> session) {
  session_ = std::move(session);
  filter_->clear();
  regroup();
  bool any = session_ && !session_->ops.lines.empty();
  table_->setVisible(any);
  empty_->setVisible(!any);
}

void OpsPage::set_theme(const Theme&) {
  table_->viewport()->update();
}

void OpsPage::regroup() {
  if (!session_) return model_->set_table({});
  OpGrouping grouping = static_cast<OpGrouping>(grouping_->currentIndex());
  model_->set_table(grouping == OpGrouping::kOp
                        ? session_->ops
                        : make_op_table(session_->trace, session_->analysis, grouping));
  for (int column = 1; column < model_->columnCount(); ++column) {
    table_->resizeColumnToContents(column);
    table_->setColumnWidth(column, std::clamp(table_->columnWidth(column) + 8, 60, 220));
  }
  show_basis();
}

void OpsPage::show_basis() {
  QString text = QString::fromStdString(model_->table().basis);
  if (!filter_->text().isEmpty()) {
    text = tr("%1 of %2 lines. ").arg(model_->rowCount()).arg(model_->table().lines.size()) + text;
  }
  basis_->setText(text);
}

void OpsPage::open(const Link& link) {
  if (!session_ || link.target.event.kind != analyzer::EventRef::Kind::kDeviceOp) return;
  trace::DeviceOpId op{link.target.event.index};
  filter_->clear();
  // By op of the model where the op has one; a kernel of no op is found by its name.
  const analyzer::Attribution& attribution = session_->analysis.attribution;
  bool attributed = op.value < attribution.op_of.size() && attribution.op_of[op.value].value != 0;
  grouping_->setCurrentIndex(static_cast<int>(attributed ? OpGrouping::kOp : OpGrouping::kKernel));
  std::string name =
      attributed ? attribution.ops[attribution.op_of[op.value].value].name
                 : std::string(session_->trace.strings[session_->trace.device_ops.name[op.value]]);
  int row = model_->row_of(display_text(name));
  if (row < 0) return;
  table_->selectRow(row);
  table_->scrollTo(model_->index(row, 0), QAbstractItemView::PositionAtCenter);
  table_->setFocus();
}

}  // namespace headway::gui
