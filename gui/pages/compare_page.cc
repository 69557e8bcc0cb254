// SPDX-License-Identifier: MIT
#include "gui/pages/compare_page.h"

#include <QDragEnterEvent>
#include <QFile>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QMimeData>
#include <QPainter>
#include <QScrollArea>
#include <QStyledItemDelegate>
#include <QUrl>
#include <QVBoxLayout>
#include <cmath>

#include "analyzer/diff/tables.h"
#include "gui/models/text/display_text.h"
#include "gui/pages/column_widths.h"

namespace headway::gui {
namespace {

/// Draws a bar from the middle: to the right for more time, to the left for less.
class ChangeDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  const Theme* theme = &Theme::light();

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    QVariant change = index.data(ResultTableModel::kChangeRole);
    if (change.isValid() && !(option.state & QStyle::State_Selected)) {
      QColor color = change.toDouble() > 0 ? theme->warning : theme->accent;
      color.setAlpha(70);
      QRect box = option.rect.adjusted(1, 3, -1, -3);
      int length = static_cast<int>(std::lround(std::fabs(change.toDouble()) * box.width() / 2));
      int middle = box.left() + box.width() / 2;
      painter->fillRect(
          QRect(change.toDouble() > 0 ? middle : middle - length, box.top(), length, box.height()),
          color);
    }
    QStyledItemDelegate::paint(painter, option, index);
  }
};

QString shown(const std::string& text, std::size_t characters = kMaxShownCharacters) {
  return QString::fromStdString(display_text(text, characters));
}

constexpr const char* kFindings = "findings";

analyzer::Table findings_table(const analyzer::Diff& diff) {
  analyzer::Table table{kFindings, "", "rules with different answers", {}, {}};
  table.columns = {{"finding", "Finding: in A → in B", analyzer::ColumnKind::kText}};
  for (const std::string& finding : diff.findings) table.rows.push_back({finding});
  return table;
}

/// The path of the dragged file if it is a single local file; empty otherwise.
QString only_file(const QMimeData* data) {
  const QList<QUrl> urls = data->urls();
  return urls.size() == 1 && urls.front().isLocalFile() ? urls.front().toLocalFile() : QString();
}

}  // namespace

ComparePage::ComparePage(QWidget* parent)
    : PageWidget(parent),
      loader_(new TraceLoader(this)),
      task_(new BackgroundTask(this)),
      stack_(new QStackedWidget) {
  setAcceptDrops(true);
  stack_->addWidget(waiting());
  stack_->addWidget(comparison());
  QVBoxLayout* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(stack_);
  connect(loader_, &TraceLoader::progressed, this, [this](const QString& what, double share) {
    progress_->setValue(static_cast<int>(share * 1000));
    title_->setText(tr("%1 the second trace …").arg(what));
  });
  connect(loader_, &TraceLoader::loaded, this, [this](std::shared_ptr<const Session> session) {
    second_ = std::move(session);
    make_pair();
  });
  connect(loader_, &TraceLoader::failed, this, [this](const QString& message, ExitCode code) {
    show_message(tr("Could not open the second trace"), message, false);
    emit second_failed(message, code);
  });
  connect(task_, &BackgroundTask::failed, this, [this](const QString& message) {
    show_message(tr("Could not compare the traces"), message, false);
    emit second_failed(message, ExitCode::kInternal);
  });
  show_invitation();
}

QWidget* ComparePage::waiting() {
  QWidget* page = new QWidget;
  QHBoxLayout* sides = new QHBoxLayout(page);
  QWidget* column = new QWidget;
  column->setMaximumWidth(560);
  sides->addStretch(1);
  sides->addWidget(column, 8);
  sides->addStretch(1);
  QVBoxLayout* layout = new QVBoxLayout(column);
  layout->setSpacing(10);
  title_ = heading_label({}, 3);
  message_ = plain_label({});
  progress_ = new QProgressBar;
  progress_->setRange(0, 1000);
  progress_->setTextVisible(false);
  progress_->setAccessibleName(tr("Progress of loading the second trace"));
  open_ = new QPushButton(tr("Open a &second trace …"));
  cancel_ = new QPushButton(tr("&Cancel"));
  QHBoxLayout* buttons = new QHBoxLayout;
  buttons->addWidget(open_);
  buttons->addWidget(cancel_);
  buttons->addStretch(1);
  layout->addStretch(2);
  layout->addWidget(title_);
  layout->addWidget(message_);
  layout->addWidget(progress_);
  layout->addLayout(buttons);
  layout->addStretch(3);
  connect(open_, &QPushButton::clicked, this, &ComparePage::second_wanted);
  connect(cancel_, &QPushButton::clicked, this, &ComparePage::close_second);
  return page;
}

QWidget* ComparePage::comparison() {
  QSplitter* splitter = new QSplitter(Qt::Vertical);
  splitter->setObjectName(QStringLiteral("compare"));
  splitter->setHandleWidth(1);
  splitter->setChildrenCollapsible(false);
  timelines_ = new CompareTimelines;
  // The changes come first; the timelines below show where they are.
  splitter->addWidget(changes());
  splitter->addWidget(timelines_);
  splitter->setSizes({240, 440});
  splitter->setStretchFactor(0, 2);
  splitter->setStretchFactor(1, 3);
  QWidget* page = new QWidget;
  QVBoxLayout* layout = new QVBoxLayout(page);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(heading());
  layout->addWidget(splitter, 1);
  return page;
}

QWidget* ComparePage::heading() {
  verdict_ = heading_label({}, 0.5);
  verdict_->setAccessibleName(tr("Verdict of the comparison"));
  doubts_ = dim_label({});
  findings_ = dim_label({});
  findings_->set_single_line(true);
  QPushButton* another = new QPushButton(tr("Another &second trace …"));
  QPushButton* close = new QPushButton(tr("&Close B"));
  close->setToolTip(tr("Close the second trace and free its memory"));
  connect(another, &QPushButton::clicked, this, &ComparePage::second_wanted);
  connect(close, &QPushButton::clicked, this, &ComparePage::close_second);
  QVBoxLayout* words = new QVBoxLayout;
  words->setSpacing(2);
  words->addWidget(verdict_);
  words->addWidget(doubts_);
  words->addWidget(findings_);
  QWidget* box = new QWidget;
  QHBoxLayout* layout = new QHBoxLayout(box);
  layout->setContentsMargins(12, 7, 10, 5);
  layout->addLayout(words, 1);
  layout->addWidget(another, 0, Qt::AlignTop);
  layout->addWidget(close, 0, Qt::AlignTop);
  return box;
}

QWidget* ComparePage::changes() {
  waterfall_ = new ChangeWaterfall;
  no_classes_ =
      dim_label(tr("Neither trace has device work, so there are no time classes to compare."));
  QWidget* left = new QWidget;
  QVBoxLayout* left_layout = new QVBoxLayout(left);
  left_layout->setContentsMargins(8, 6, 4, 6);
  left_layout->addWidget(waterfall_);
  left_layout->addWidget(no_classes_);
  left_layout->addStretch(1);
  QScrollArea* scroll = new QScrollArea;
  scroll->setWidget(left);
  scroll->setWidgetResizable(true);
  scroll->setFocusPolicy(Qt::NoFocus);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setAccessibleName(tr("Change per time class"));
  choice_ = new QComboBox;
  choice_->setAccessibleName(tr("What to compare"));
  filter_ = new QLineEdit;
  filter_->setPlaceholderText(tr("Filter by name, or: added, removed"));
  filter_->setAccessibleName(tr("Filter the changes"));
  filter_->setClearButtonEnabled(true);
  note_ = dim_label({});
  note_->set_single_line(true);
  model_ = new ResultTableModel(this);
  table_ = new QTableView;
  table_->setModel(model_);
  widths_ = new ColumnWidths(*table_);
  table_->setItemDelegate(new ChangeDelegate(table_));
  table_->setAccessibleName(tr("What changed"));
  table_->setFrameShape(QFrame::NoFrame);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setShowGrid(false);
  table_->setAlternatingRowColors(true);
  table_->setWordWrap(false);
  table_->setTextElideMode(Qt::ElideMiddle);
  table_->setTabKeyNavigation(false);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
  table_->horizontalHeader()->setHighlightSections(false);
  table_->horizontalHeader()->setSortIndicatorShown(false);
  QHBoxLayout* bar = new QHBoxLayout;
  bar->setContentsMargins(8, 5, 8, 5);
  bar->setSpacing(8);
  bar->addWidget(choice_);
  bar->addWidget(filter_, 1);
  bar->addWidget(note_, 1);
  QWidget* right = new QWidget;
  QVBoxLayout* layout = new QVBoxLayout(right);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(bar);
  layout->addWidget(table_, 1);
  QSplitter* splitter = new QSplitter;
  splitter->setObjectName(QStringLiteral("compare-changes"));
  splitter->setHandleWidth(1);
  splitter->setChildrenCollapsible(false);
  splitter->addWidget(scroll);
  splitter->addWidget(right);
  splitter->setSizes({420, 640});
  splitter->setStretchFactor(1, 1);
  connect(waterfall_, &ChangeWaterfall::class_followed, this, [this](analyzer::TimeClass c) {
    timelines_->show_targets(pair_->place_of(Side::kA, c, timelines_->steps()),
                             pair_->place_of(Side::kB, c, timelines_->steps()));
  });
  connect(choice_, &QComboBox::currentIndexChanged, this, &ComparePage::show_table);
  connect(filter_, &QLineEdit::textChanged, model_, &ResultTableModel::set_filter);
  connect(table_->horizontalHeader(), &QHeaderView::sectionClicked, this, [this](int column) {
    bool again = table_->property("sorted").toInt() == column + 1;
    table_->setProperty("sorted", again ? 0 : column + 1);
    model_->sort(column, again ? Qt::AscendingOrder : Qt::DescendingOrder);
  });
  connect(table_, &QTableView::clicked, this,
          [this](const QModelIndex& index) { follow_row(index.row()); });
  connect(table_, &QTableView::activated, this,
          [this](const QModelIndex& index) { follow_row(index.row()); });
  return splitter;
}

void ComparePage::set_session(std::shared_ptr<const Session> session) {
  first_ = std::move(session);
  make_pair();
}

void ComparePage::update_session(std::shared_ptr<const Session> session) {
  if (!pair_) return set_session(std::move(session));
  first_ = std::move(session);
  start_pair();
}

void ComparePage::set_theme(const Theme& theme) {
  theme_ = &theme;
  timelines_->set_theme(theme);
  waterfall_->set_theme(theme);
  static_cast<ChangeDelegate*>(table_->itemDelegate())->theme = &theme;
}

void ComparePage::open_second(const std::filesystem::path& path,
                              const analyzer::AnalysisOptions& options) {
  second_.reset();
  second_path_ = QFile::decodeName(QByteArray::fromStdString(path.string()));
  show_pair(nullptr);
  show_message(tr("Opening the second trace …"), shown(second_path_.toStdString()), true);
  OpenRequest request;
  request.source.files = {path};
  request.analysis = options;
  loader_->start(std::move(request));
}

void ComparePage::close_second() {
  loader_->cancel();
  task_->cancel();
  second_.reset();
  show_pair(nullptr);
  show_invitation();
}

/// Compares the two traces if both are open.
void ComparePage::make_pair() {
  task_->cancel();
  if (pair_) show_pair(nullptr);
  if (!first_ || !first_->analysed || !second_) return;
  show_message(tr("Comparing …"), shown(second_path_.toStdString()), true);
  progress_->setRange(0, 0);
  start_pair();
}

void ComparePage::start_pair() {
  task_->start([this, a = first_, b = second_](const std::atomic<bool>&) -> BackgroundTask::Show {
    return [this, pair = make_session_pair(a, b)] { show_pair(pair); };
  });
}

void ComparePage::show_pair(std::shared_ptr<const SessionPair> pair) {
  // The same traces, one of which has grown: keeps the steps that the user chose.
  const bool grown = pair_ && pair && pair_->sessions[1] == pair->sessions[1];
  const std::optional<StepPair> steps = grown ? timelines_->steps() : std::nullopt;
  pair_ = std::move(pair);
  timelines_->set_pair(pair_);
  if (steps && pair_->has_steps() && steps->a < pair_->bars(Side::kA).size())
    timelines_->show_steps(steps);
  waterfall_->set_pair(pair_);
  choice_->clear();
  filter_->clear();
  model_->set_table({});
  if (!pair_) return;
  verdict_->setText(shown(pair_->diff.sentence, 600));
  QStringList words;
  for (const std::string& doubt : pair_->diff.doubts) words << shown(doubt);
  QStringList findings;
  for (const std::string& finding : pair_->diff.findings) findings << shown(finding);
  findings_->setText(tr("Findings: %1").arg(findings.join(QStringLiteral("; "))));
  findings_->setVisible(!findings.isEmpty());
  doubts_->setText(words.join('\n'));
  doubts_->setVisible(!words.isEmpty());
  waterfall_->setVisible(!pair_->classes.empty());
  no_classes_->setVisible(pair_->classes.empty());
  for (const analyzer::Table& table : pair_->diff.tables) {
    // The classes are shown beside the table, as a waterfall.
    if (table.id != "classes")
      choice_->addItem(QString::fromStdString(table.title), QString::fromStdString(table.id));
  }
  if (!findings.isEmpty()) choice_->addItem(tr("Findings that changed"), kFindings);
  // Selects the finest table with changes: if no op changed, the waits or the whole step.
  for (const char* id : {"ops", "device_view"}) {
    const analyzer::Table* table = pair_->diff.table(id);
    if (!table || analyzer::changed_rows(*table).rows.empty()) continue;
    choice_->setCurrentIndex(choice_->findData(QString::fromLatin1(id)));
    break;
  }
  stack_->setCurrentIndex(1);
  emit compared();
}

void ComparePage::show_message(const QString& title, const QString& text, bool busy) {
  title_->setText(title);
  // Messages have paragraphs; their texts from a trace or a file are untrusted.
  QStringList paragraphs;
  for (const QString& paragraph : text.split('\n'))
    paragraphs << shown(paragraph.toStdString(), 2000);
  message_->setText(paragraphs.join('\n'));
  progress_->setRange(0, 1000);
  progress_->setValue(0);
  progress_->setVisible(busy);
  open_->setVisible(!busy);
  cancel_->setVisible(busy);
  stack_->setCurrentIndex(0);
}

void ComparePage::show_invitation() {
  show_message(
      tr("Compare with a second trace"),
      tr("The open trace is A, the second one is B. The comparison shows whether B is faster, by "
         "how much and with what confidence. It aligns the steps of both timelines and lists "
         "changes by time class, op and kernel.\n\nOpen a trace, or drop a file here."),
      false);
}

void ComparePage::show_table(int index) {
  const std::string id =
      pair_ && index >= 0 ? choice_->itemData(index).toString().toStdString() : std::string();
  analyzer::Table table;
  if (id == kFindings) {
    table = findings_table(pair_->diff);
  } else if (const analyzer::Table* found = pair_ ? pair_->diff.table(id) : nullptr) {
    table = *found;
  }
  table_->setProperty("sorted", 0);
  note_->setText(shown(changed_rows(table).note));
  model_->set_table(std::move(table));
  widths_->forget();
  widths_->fit();
}

/// Shows a change in both timelines.
void ComparePage::follow_row(int row) {
  if (!pair_ || row < 0 || row >= model_->rowCount()) return;
  const analyzer::Table& table = model_->table();
  const std::size_t source = model_->source_row(row);
  if (table.id == "steps") {
    if (auto steps = pair_->steps_numbered(std::get<std::int64_t>(table.rows[source][0])))
      timelines_->show_steps(steps);
    return;
  }
  timelines_->show_targets(pair_->place_of(Side::kA, table.id, source, timelines_->steps()),
                           pair_->place_of(Side::kB, table.id, source, timelines_->steps()));
}

void ComparePage::dragEnterEvent(QDragEnterEvent* event) {
  if (!only_file(event->mimeData()).isEmpty()) event->acceptProposedAction();
}

void ComparePage::dropEvent(QDropEvent* event) {
  QString file = only_file(event->mimeData());
  if (!file.isEmpty()) emit second_dropped(file);
}

PageWidget* make_compare_page() {
  return new ComparePage;
}

}  // namespace headway::gui
