// SPDX-License-Identifier: MIT
#include "gui/pages/tables_page.h"

#include <QFontDatabase>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QSplitter>
#include <QVBoxLayout>

#include "gui/models/text/display_text.h"
#include "gui/pages/data_table.h"
#include "gui/pages/labels.h"
#include "trace/save/save.h"

namespace headway::gui {
namespace {

constexpr int kMostHistory = 50;
constexpr int kShownHistory = 80;  ///< length of a query in the history list, in characters

QString shown(const std::string& text, std::size_t characters = kMaxShownCharacters) {
  return QString::fromStdString(display_text(text, characters));
}

QString tooltip(const std::string& text) {
  return text.empty() ? QString() : QStringLiteral("<qt>%1</qt>").arg(shown(text).toHtmlEscaped());
}

}  // namespace

TablesPage::TablesPage(QWidget* parent)
    : ComputedPage(parent),
      tree_(new QTreeWidget),
      sql_(new QPlainTextEdit),
      run_(new QPushButton(tr("Run"))),
      stop_(new QPushButton(tr("Stop"))),
      make_(new QPushButton(tr("Make a temporary database"))),
      examples_(new QComboBox),
      history_(new QComboBox),
      status_(plain_label({})),
      result_(new DataTable(tr("Result of the query"))),
      query_(new BackgroundTask(this)) {
  tree_->setHeaderHidden(true);
  tree_->setColumnCount(2);
  tree_->header()->setStretchLastSection(false);
  tree_->header()->setSectionResizeMode(0, QHeaderView::Stretch);
  tree_->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
  tree_->setFrameShape(QFrame::NoFrame);
  tree_->setUniformRowHeights(true);
  tree_->setAccessibleName(tr("Tables of the trace file with their columns"));
  QWidget* right = new QWidget;
  QVBoxLayout* layout = new QVBoxLayout(right);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(make_editor());
  layout->addWidget(result_, 1);
  QSplitter* body = new QSplitter;
  body->setHandleWidth(1);
  body->setChildrenCollapsible(false);
  body->addWidget(tree_);
  body->addWidget(right);
  body->setStretchFactor(1, 1);
  body->setSizes({330, 900});
  set_body(body);
  connect(tree_, &QTreeWidget::itemActivated, this, [this](QTreeWidgetItem* item) {
    const QString name = (item->parent() ? item->parent() : item)->data(0, Qt::UserRole).toString();
    const QString sql = QString::fromStdString(preview_query(name.toStdString()));
    sql_->setPlainText(sql);
    start_query(sql, name);
  });
  connect(run_, &QPushButton::clicked, this, &TablesPage::run);
  connect(stop_, &QPushButton::clicked, this, &TablesPage::stop);
  connect(make_, &QPushButton::clicked, this, &TablesPage::make_database);
  for (QComboBox* list : {examples_, history_})
    connect(list, &QComboBox::activated, this, [this, list](int index) {
      if (QString sql = list->itemData(index).toString(); !sql.isEmpty()) run_text(sql);
      list->setCurrentIndex(0);
    });
  connect(query_, &BackgroundTask::failed, this, [this](const QString& why) {
    stop_->setEnabled(false);
    make_->setEnabled(true);
    show_answer(nullptr);  // clears the rows of the former query, which would look like the answer
    show_status(why, true);
  });
  connect(result_, &DataTable::time_followed, this,
          [this](const Interval& time) { emit followed({.page = Page::kTimeline, .view = time}); });
}

TablesPage::~TablesPage() = default;

QLayout* TablesPage::make_editor() {
  sql_->setPlaceholderText(tr("SELECT … (Ctrl+Return runs it; read-only)"));
  sql_->setAccessibleName(tr("SQL query"));
  sql_->setTabChangesFocus(true);
  sql_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  sql_->setFixedHeight(sql_->fontMetrics().height() * 5 + 12);
  sql_->installEventFilter(this);
  run_->setToolTip(tr("Run the query (Ctrl+Return)"));
  stop_->setToolTip(tr("Stop the running query"));
  stop_->setEnabled(false);
  examples_->setAccessibleName(tr("Example queries"));
  history_->setAccessibleName(tr("Query history"));
  history_->addItem(tr("History"));
  for (QComboBox* list : {examples_, history_}) {
    list->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    list->setMinimumContentsLength(14);
  }
  make_->hide();
  QHBoxLayout* buttons = new QHBoxLayout;
  buttons->setSpacing(8);
  buttons->addWidget(run_);
  buttons->addWidget(stop_);
  buttons->addWidget(examples_);
  buttons->addWidget(history_);
  buttons->addWidget(make_);
  buttons->addStretch(1);
  QVBoxLayout* layout = new QVBoxLayout;
  layout->setContentsMargins(10, 8, 10, 4);
  layout->setSpacing(6);
  layout->addWidget(sql_);
  layout->addLayout(buttons);
  layout->addWidget(status_);
  return layout;
}

bool TablesPage::eventFilter(QObject* object, QEvent* event) {
  if (object == sql_ && event->type() == QEvent::KeyPress) {
    QKeyEvent* key = static_cast<QKeyEvent*>(event);
    bool enter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
    if (enter && key->modifiers() & Qt::ControlModifier) {
      run();
      return true;
    }
  }
  return ComputedPage::eventFilter(object, event);
}

BackgroundTask::Work TablesPage::make_work() {
  std::filesystem::path file = temporary_ ? file_ : std::filesystem::path(session()->trace.path);
  return [this, file](const std::atomic<bool>&) -> BackgroundTask::Show {
    require_file(file);
    if (!is_sqlite(file)) return [this] { offer_database(); };
    std::vector<SqlTable> tables = sql_tables(file);
    return [this, file, tables = std::move(tables)] {
      file_ = file;
      show_tables(tables);
    };
  };
}

void TablesPage::show_tables(const std::vector<SqlTable>& tables) {
  tree_->clear();
  for (const SqlTable& table : tables) {
    QTreeWidgetItem* item = new QTreeWidgetItem(tree_);
    item->setText(0, shown(table.name, 80));
    item->setData(0, Qt::UserRole, QString::fromStdString(table.name));
    item->setToolTip(0, tooltip(table.doc));
    for (const SqlTable::Column& column : table.columns) {
      QTreeWidgetItem* line = new QTreeWidgetItem(item);
      line->setText(0, shown(column.name, 80));
      line->setText(1, shown(column.type, 20).toLower());
      line->setToolTip(0, tooltip(column.doc));
      line->setForeground(1, palette().color(QPalette::PlaceholderText));
    }
  }
  examples_->clear();
  examples_->addItem(tr("Examples"));
  for (const auto& [title, sql] : sql_examples(tables))
    examples_->addItem(QString::fromStdString(title), QString::fromStdString(sql));
  for (QWidget* one : {static_cast<QWidget*>(run_), static_cast<QWidget*>(examples_),
                       static_cast<QWidget*>(history_), static_cast<QWidget*>(sql_)})
    one->setEnabled(true);
  make_->hide();
  QString text = tr("%1 tables. Double-click one, or write a query. Rows with a start time link to "
                    "the timeline. The file is read-only.")
                     .arg(tables.size());
  if (temporary_) text += tr(" This is a temporary copy, deleted when this window closes.");
  show_status(text, false);
}

void TablesPage::offer_database() {
  for (QWidget* one : {static_cast<QWidget*>(run_), static_cast<QWidget*>(examples_),
                       static_cast<QWidget*>(history_), static_cast<QWidget*>(sql_)})
    one->setEnabled(false);
  make_->show();
  QString file = QString::fromStdString(display_text(session()->trace.path, 120));
  show_status(tr("This trace is not an SQLite file, but queries need one. Make a temporary "
                 "database here, or keep one:\nheadway import '%1' -o trace.sqlite")
                  .arg(file),
              false);
}

/// Saves the trace in memory as a temporary database, so that it can be queried.
void TablesPage::make_database() {
  auto folder = std::make_shared<std::unique_ptr<QTemporaryDir>>(std::make_unique<QTemporaryDir>());
  if (!(*folder)->isValid())
    return show_status(tr("Could not make a temporary folder: %1").arg((*folder)->errorString()),
                       true);
  make_->setEnabled(false);
  show_status(tr("Working…"), false);
  std::filesystem::path file = (*folder)->filePath(QStringLiteral("trace.sqlite")).toStdString();
  query_->start(
      [this, session = session(), file, folder](const std::atomic<bool>&) -> BackgroundTask::Show {
        trace::save(session->trace, file, {});
        return [this, file, folder] {
          temporary_ = std::move(*folder);
          file_ = file;
          make_->setEnabled(true);
          restart();
        };
      });
}

void TablesPage::run_text(const QString& sql) {
  sql_->setPlainText(sql);
  run();
}

void TablesPage::run() {
  start_query(sql_->toPlainText().trimmed(), {});
}

/// `preview_of`: the table whose first rows the query shows; empty: any other query.
void TablesPage::start_query(const QString& sql, const QString& preview_of) {
  if (sql.isEmpty() || file_.empty()) return;
  remember(sql);
  stop_->setEnabled(true);
  show_status(tr("Working…"), false);
  query_->start([this, file = file_, sql = sql.toStdString(), table = preview_of.toStdString()](
                    const std::atomic<bool>& cancelled) -> BackgroundTask::Show {
    auto answer = std::make_shared<const SqlAnswer>(
        table.empty() ? run_sql(file, sql, cancelled) : preview_table(file, table, cancelled));
    return [this, answer] {
      stop_->setEnabled(false);
      show_answer(answer);
      show_status(QString::fromStdString(answer->text), false);
    };
  });
}

void TablesPage::show_answer(const std::shared_ptr<const SqlAnswer>& answer) {
  result_->set_table(answer ? std::shared_ptr<const LinkedTable>(answer, &answer->table) : nullptr);
}

void TablesPage::stop() {
  query_->cancel();
  stop_->setEnabled(false);
  show_answer(nullptr);
  show_status(tr("Stopped."), false);
}

void TablesPage::remember(const QString& sql) {
  if (int known = history_->findData(sql); known >= 0) history_->removeItem(known);
  QString line = sql.simplified();
  if (line.size() > kShownHistory) line = line.left(kShownHistory) + QStringLiteral("…");
  history_->insertItem(1, line, sql);
  while (history_->count() > kMostHistory + 1) history_->removeItem(history_->count() - 1);
}

void TablesPage::show_status(const QString& text, bool error) {
  failed_ = error;
  QPalette colours = theme_->palette();
  if (error) colours.setColor(QPalette::WindowText, theme_->error);
  status_->setPalette(colours);
  status_->setText(error ? tr("Query failed: %1").arg(text) : text);
}

void TablesPage::set_theme(const Theme& theme) {
  theme_ = &theme;
  QPalette colours = theme.palette();
  if (failed_) colours.setColor(QPalette::WindowText, theme.error);
  status_->setPalette(colours);
}

QString TablesPage::status() const {
  return status_->text();
}

void TablesPage::clear() {
  query_->cancel();
  tree_->clear();
  result_->set_table(nullptr);
  file_.clear();
  temporary_.reset();
  status_->setText({});
}

PageWidget* make_tables_page() {
  return new TablesPage;
}

}  // namespace headway::gui
