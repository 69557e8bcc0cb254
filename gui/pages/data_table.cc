// SPDX-License-Identifier: MIT
#include "gui/pages/data_table.h"

#include <QClipboard>
#include <QEvent>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QMessageBox>
#include <QPainter>
#include <QSaveFile>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>

#include "common/format.h"
#include "gui/models/text/display_text.h"
#include "gui/pages/column_widths.h"
#include "gui/pages/labels.h"

namespace headway::gui {
namespace {

/// Draws a bar behind a share, so that large shares stand out.
class ShareDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    double share = index.data(DataTableModel::kShareRole).toDouble();
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

DataTable::DataTable(const QString& name, QWidget* parent)
    : QWidget(parent),
      model_(new DataTableModel(this)),
      view_(new QTableView),
      bar_(new QWidget),
      controls_(new QHBoxLayout(bar_)),
      filter_(new QLineEdit),
      note_(plain_label({})) {
  filter_->setPlaceholderText(tr("Filter"));
  filter_->setToolTip(tr("Show rows containing all words"));
  filter_->setAccessibleName(tr("Filter the table"));
  filter_->setClearButtonEnabled(true);
  filter_->setMaximumWidth(320);
  note_->set_single_line(true);
  view_->setModel(model_);
  view_->setItemDelegate(new ShareDelegate(view_));
  view_->setAccessibleName(name);
  view_->setFrameShape(QFrame::NoFrame);
  view_->setSelectionBehavior(QAbstractItemView::SelectRows);
  view_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  view_->setShowGrid(false);
  view_->setAlternatingRowColors(true);
  view_->setWordWrap(false);
  view_->setTextElideMode(Qt::ElideMiddle);
  view_->setTabKeyNavigation(false);
  view_->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  view_->setContextMenuPolicy(Qt::CustomContextMenu);
  view_->setSortingEnabled(true);
  view_->verticalHeader()->hide();
  view_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 7);
  view_->horizontalHeader()->setSortIndicatorShown(false);
  view_->horizontalHeader()->setHighlightSections(false);
  view_->horizontalHeader()->setMinimumSectionSize(24);
  view_->installEventFilter(this);
  widths_ = new ColumnWidths(*view_);
  controls_->setContentsMargins(10, 7, 10, 7);
  controls_->setSpacing(10);
  controls_->addWidget(filter_, 1);
  controls_->addWidget(note_, 2);
  QVBoxLayout* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(bar_);
  layout->addWidget(view_, 1);
  setFocusProxy(view_);
  connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) {
    model_->set_filter(text);
    show_note();
  });
  connect(view_, &QTableView::activated, this, [this](const QModelIndex& index) {
    if (index.isValid()) follow(index.row());
  });
  connect(view_, &QTableView::customContextMenuRequested, this, &DataTable::show_menu);
}

void DataTable::set_table(std::shared_ptr<const LinkedTable> table) {
  const bool other = !table || !model_->table() || table->table.id != model_->table()->table.id;
  model_->set_table(std::move(table));
  if (other) widths_->forget();
  widths_->fit();
  show_note();
}

bool DataTable::can_follow(int shown) const {
  std::uint32_t row = model_->source(shown);
  const LinkedTable& table = *model_->table();
  return table.link(row) || row < table.views.size();
}

void DataTable::follow(int shown) {
  if (!model_->table() || !can_follow(shown)) return;
  std::uint32_t row = model_->source(shown);
  if (Target target = model_->table()->link(row)) {
    emit row_followed(target);
  } else {
    emit time_followed(model_->table()->views[row]);
  }
}

void DataTable::add_control(QWidget* control) {
  controls_->insertWidget(controls_->indexOf(filter_), control);
}

void DataTable::set_compact(bool compact) {
  bar_->setVisible(!compact);
}

bool DataTable::eventFilter(QObject* object, QEvent* event) {
  if (object == view_ && event->type() == QEvent::KeyPress &&
      static_cast<QKeyEvent*>(event)->matches(QKeySequence::Copy)) {
    copy(false);
    return true;
  }
  return QWidget::eventFilter(object, event);
}

void DataTable::show_note() {
  QString text;
  if (const auto& table = model_->table()) {
    text = QString::fromStdString(display_text(table->table.note, 300));
    if (model_->order().size() != table->table.rows.size())
      text = tr("%1 of %2 rows. ")
                 .arg(QString::fromStdString(
                          format_count(static_cast<std::int64_t>(model_->order().size()))),
                      QString::fromStdString(
                          format_count(static_cast<std::int64_t>(table->table.rows.size())))) +
             text;
  }
  note_->setText(text);
  note_->setToolTip(text.toHtmlEscaped());
}

QString DataTable::note() const {
  return note_->text();
}

void DataTable::select(std::uint32_t row) {
  if (!model_->table()) return;
  if (model_->shown_at(row) < 0) filter_->clear();
  int shown = model_->shown_at(row);
  if (shown < 0) return;
  view_->selectRow(shown);
  view_->setCurrentIndex(model_->index(shown, 0));
  view_->scrollTo(model_->index(shown, 0), QAbstractItemView::PositionAtCenter);
  view_->setFocus();
}

bool DataTable::select_key(const std::string& key) {
  if (!model_->table()) return false;
  const std::vector<std::string>& keys = model_->table()->keys;
  auto found = std::find(keys.begin(), keys.end(), key);
  if (found == keys.end()) return false;
  select(static_cast<std::uint32_t>(found - keys.begin()));
  return true;
}

analyzer::Table DataTable::chosen() const {
  if (!model_->table()) return {};
  QModelIndexList selected = view_->selectionModel()->selectedRows();
  if (selected.isEmpty()) return rows_of(*model_->table(), model_->order());
  std::vector<int> shown;
  for (const QModelIndex& index : selected) shown.push_back(index.row());
  std::sort(shown.begin(), shown.end());
  std::vector<std::uint32_t> rows;
  for (int row : shown) rows.push_back(model_->source(row));
  return rows_of(*model_->table(), rows);
}

void DataTable::copy(bool as_csv) {
  analyzer::Table table = chosen();
  QGuiApplication::clipboard()->setText(
      QString::fromStdString(as_csv ? analyzer::to_csv(table) : to_tabbed(table)));
}

void DataTable::show_menu(const QPoint& at) {
  if (!model_->table()) return;
  QMenu menu;
  QModelIndex index = view_->indexAt(at);
  menu.addAction(tr("Show on the &timeline"), this, [this, row = index.row()] { follow(row); })
      ->setEnabled(index.isValid() && can_follow(index.row()));
  menu.addSeparator();
  if (index.isValid())
    menu.addAction(tr("Copy this &cell"), this, [index] {
      QGuiApplication::clipboard()->setText(index.data(Qt::DisplayRole).toString());
    });
  menu.addAction(tr("Copy selected rows as te&xt"), this, [this] { copy(false); });
  menu.addAction(tr("Copy selected rows as CS&V"), this, [this] { copy(true); });
  menu.addAction(tr("&Save all shown rows as CSV…"), this, &DataTable::ask_for_file);
  menu.exec(view_->viewport()->mapToGlobal(at));
}

void DataTable::ask_for_file() {
  QString name = QString::fromStdString(model_->table()->table.id) + QStringLiteral(".csv");
  QString file = QFileDialog::getSaveFileName(this, tr("Save as CSV"), name, tr("CSV (*.csv)"));
  if (!file.isEmpty() && !save_csv(file))
    QMessageBox::warning(
        this, tr("Save as CSV"),
        tr("Could not write %1. Check the folder, free space and write permission.").arg(file));
}

bool DataTable::save_csv(const QString& file) {
  if (!model_->table()) return false;
  QSaveFile out(file);
  if (!out.open(QIODevice::WriteOnly)) return false;
  std::string csv = analyzer::to_csv(rows_of(*model_->table(), model_->order()));
  return out.write(csv.data(), static_cast<qint64>(csv.size())) ==
             static_cast<qint64>(csv.size()) &&
         out.commit();
}

}  // namespace headway::gui
