// SPDX-License-Identifier: MIT
#include "gui/pages/bookmarks_panel.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>

#include "common/format.h"
#include "gui/models/timeline/ticks.h"
#include "gui/timeline/key_bindings.h"

namespace headway::gui {
namespace {

enum Column : int { kTime, kLength, kRank, kNote };

}  // namespace

BookmarksPanel::BookmarksPanel(QWidget* parent)
    : QWidget(parent), list_(new QTreeWidget), status_(new QLabel) {
  list_->setHeaderLabels({tr("Time"), tr("Length"), tr("Rank"), tr("Note")});
  list_->setRootIsDecorated(false);
  list_->setUniformRowHeights(true);
  list_->setFrameShape(QFrame::NoFrame);
  list_->setEditTriggers(QAbstractItemView::EditKeyPressed);
  list_->setAccessibleName(tr("Bookmarks"));
  list_->header()->setStretchLastSection(true);
  list_->installEventFilter(this);
  status_->setTextFormat(Qt::PlainText);
  status_->setWordWrap(true);
  status_->setContentsMargins(10, 6, 10, 6);
  QVBoxLayout* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(list_, 1);
  layout->addWidget(status_);
  connect(list_, &QTreeWidget::itemActivated, this, [this](QTreeWidgetItem* item) {
    emit followed(notes_.all().at(static_cast<std::size_t>(list_->indexOfTopLevelItem(item))).when);
  });
  connect(list_, &QTreeWidget::itemChanged, this, [this](QTreeWidgetItem* item, int column) {
    if (column != kNote) return;
    notes_.set_note(static_cast<std::size_t>(list_->indexOfTopLevelItem(item)),
                    item->text(kNote).toStdString());
    const std::size_t before = notes_.all().size();
    keep();
    if (notes_.all().size() != before) QTimer::singleShot(0, this, &BookmarksPanel::fill);
    emit changed();
  });
  show_status();
}

void BookmarksPanel::set_session(const Session* session) {
  notes_ = {};
  ranks_.clear();
  std::string trouble;
  if (session) {
    trouble = notes_.open(session->trace, session->parts, folder_);
    for (const TracePart& part : session->parts) {
      const auto& processes = session->trace.processes;
      ranks_.push_back(part.first_process < processes.size() ? processes[part.first_process].rank
                                                             : 0);
    }
  }
  list_->setColumnHidden(kRank, ranks_.size() < 2);
  fill();
  show_status(QString::fromStdString(trouble));
  emit changed();
}

void BookmarksPanel::add(std::size_t part, Interval when, std::string note) {
  if (part >= notes_.parts()) return;
  notes_.add(part, {when, std::move(note)});
  keep();  // saving merges in the notes of others, so the new bookmark is looked up by time and
           // rank
  fill();
  const std::vector<Bookmark>& all = notes_.all();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].when == when && notes_.part_of(i) == part)
      list_->setCurrentItem(list_->topLevelItem(static_cast<int>(i)));
  }
  emit changed();
}

void BookmarksPanel::remove_current() {
  int index = list_->indexOfTopLevelItem(list_->currentItem());
  if (index < 0) return;
  notes_.remove(static_cast<std::size_t>(index));
  keep();
  fill();
  if (list_->topLevelItemCount())
    list_->setCurrentItem(list_->topLevelItem(std::min(index, list_->topLevelItemCount() - 1)));
  emit changed();
}

bool BookmarksPanel::edit_current() {
  if (!list_->currentItem()) list_->setCurrentItem(list_->topLevelItem(0));
  if (!list_->currentItem()) return false;
  list_->setFocus();
  list_->setCurrentItem(list_->currentItem(), kNote);
  list_->editItem(list_->currentItem(), kNote);
  return true;
}

bool BookmarksPanel::go(TimeNs from, bool forward) {
  std::optional<std::size_t> found;
  const std::vector<Bookmark>& all = notes_.all();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (forward ? all[i].when.begin > from : all[i].when.begin < from) {
      found = i;
      if (forward) break;
    }
  }
  if (!found) return false;
  list_->setCurrentItem(list_->topLevelItem(static_cast<int>(*found)));
  emit followed(all[*found].when);
  return true;
}

void BookmarksPanel::fill() {
  QSignalBlocker quiet(list_);
  list_->clear();
  for (std::size_t i = 0; i < notes_.all().size(); ++i) {
    const Bookmark& bookmark = notes_.all()[i];
    QTreeWidgetItem* item = new QTreeWidgetItem(list_);
    item->setText(kTime, QString::fromStdString(format_time(bookmark.when.begin, {1'000})));
    item->setText(kLength, bookmark.when.empty()
                               ? QString()
                               : QString::fromStdString(format_duration(bookmark.when.length())));
    item->setText(kNote, QString::fromStdString(bookmark.note));
    item->setToolTip(kNote, item->text(kNote).toHtmlEscaped());
    item->setText(kRank, QString::number(ranks_.at(notes_.part_of(i))));
    item->setFlags(item->flags() | Qt::ItemIsEditable);
  }
  for (int column : {kTime, kLength, kRank}) list_->resizeColumnToContents(column);
}

void BookmarksPanel::keep() {
  show_status(QString::fromStdString(notes_.save()));
}

void BookmarksPanel::show_status(const QString& trouble) {
  if (!trouble.isEmpty()) return status_->setText(trouble);
  if (notes_.all().empty()) {
    return status_->setText(
        tr("Press %1 to bookmark the time range, the selected event or the time "
           "at the pointer.")
            .arg(keys_text(Command::kBookmark)));
  }
  status_->setText(
      tr("Enter jumps to it, F2 edits the note, Del removes it.%1")
          .arg(notes_.are_kept() ? QString() : tr(" Deleted when this window closes.")));
}

bool BookmarksPanel::eventFilter(QObject* object, QEvent* event) {
  if (event->type() == QEvent::KeyPress &&
      static_cast<QKeyEvent*>(event)->key() == Qt::Key_Delete) {
    remove_current();
    return true;
  }
  return QWidget::eventFilter(object, event);
}

}  // namespace headway::gui
