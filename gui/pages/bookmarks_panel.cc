// SPDX-License-Identifier: MIT
#include "gui/pages/bookmarks_panel.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>

#include "common/error.h"
#include "common/format.h"
#include "gui/models/ticks.h"
#include "gui/timeline/key_bindings.h"

namespace headway::gui {

BookmarksPanel::BookmarksPanel(QWidget* parent)
    : QWidget(parent), list_(new QTreeWidget), status_(new QLabel) {
  list_->setHeaderLabels({tr("Time"), tr("Length"), tr("Note")});
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
    emit followed(
        bookmarks_.all().at(static_cast<std::size_t>(list_->indexOfTopLevelItem(item))).when);
  });
  connect(list_, &QTreeWidget::itemChanged, this, [this](QTreeWidgetItem* item, int column) {
    if (column != 2) return;
    bookmarks_.set_note(static_cast<std::size_t>(list_->indexOfTopLevelItem(item)),
                        item->text(2).toStdString());
    const std::size_t before = bookmarks_.all().size();
    keep();
    if (bookmarks_.all().size() != before) QTimer::singleShot(0, this, &BookmarksPanel::fill);
    emit changed();
  });
  show_status();
}

void BookmarksPanel::set_session(std::shared_ptr<const Session> session) {
  session_ = std::move(session);
  bookmarks_ = {};
  beside_.clear();
  own_.clear();
  QString trouble;
  if (session_) {
    // Those of others, too, that were put beside; written is the first.
    const std::vector<std::filesystem::path> files = trace::note_files_of(session_->trace.path);
    for (const std::filesystem::path& file : files) {
      const bool read_it = read(file, trouble);
      if (read_it && !folder_.empty() && file == files.front()) beside_ = file;
    }
    if (!folder_.empty()) {
      const std::string name = identity_of(session_->trace);
      read(folder_ / (name + ".txt"), trouble);  // from before notes lay beside the trace
      if (read(folder_ / (name + ".json"), trouble)) own_ = folder_ / (name + ".json");
    }
  }
  fill();
  show_status(trouble);
  emit changed();
}

/// False for a file that is to be left as it is.
bool BookmarksPanel::read(const std::filesystem::path& file, QString& trouble) {
  try {
    if (std::size_t left_out = bookmarks_.unite(file)) {
      trouble = tr("%1 lines of %2 could not be read and were left out.")
                    .arg(left_out)
                    .arg(QString::fromStdString(file.string()));
    }
    return true;
  } catch (const Error& error) {
    trouble = QString::fromStdString(error.what());
    return false;
  }
}

void BookmarksPanel::add(Interval when, std::string note) {
  if (!session_) return;
  bookmarks_.add({when, std::move(note)});
  keep();  // may bring what others added, so that ours is looked for
  fill();
  const std::vector<Bookmark>& all = bookmarks_.all();
  auto at = std::find_if(all.begin(), all.end(), [&](const Bookmark& b) { return b.when == when; });
  if (at != all.end())
    list_->setCurrentItem(list_->topLevelItem(static_cast<int>(at - all.begin())));
  emit changed();
}

void BookmarksPanel::remove_current() {
  int index = list_->indexOfTopLevelItem(list_->currentItem());
  if (index < 0) return;
  bookmarks_.remove(static_cast<std::size_t>(index));
  keep();
  fill();
  if (list_->topLevelItemCount())
    list_->setCurrentItem(list_->topLevelItem(std::min(index, list_->topLevelItemCount() - 1)));
  emit changed();
}

bool BookmarksPanel::go(TimeNs from, bool forward) {
  std::optional<std::size_t> found;
  const std::vector<Bookmark>& all = bookmarks_.all();
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
  for (const Bookmark& bookmark : bookmarks_.all()) {
    QTreeWidgetItem* item = new QTreeWidgetItem(list_);
    item->setText(0, QString::fromStdString(format_time(bookmark.when.begin, {1'000})));
    item->setText(1, bookmark.when.empty()
                         ? QString()
                         : QString::fromStdString(format_duration(bookmark.when.length())));
    item->setText(2, QString::fromStdString(bookmark.note));
    item->setToolTip(2, item->text(2).toHtmlEscaped());
    item->setFlags(item->flags() | Qt::ItemIsEditable);
  }
  list_->resizeColumnToContents(0);
  list_->resizeColumnToContents(1);
}

void BookmarksPanel::keep() {
  QString trouble;
  for (const std::filesystem::path& file : {beside_, own_}) {
    if (file.empty()) continue;
    try {
      bookmarks_.save(file);
      if (file == own_)
        trouble = tr("There is no writing beside the trace: the notes are kept in %1.")
                      .arg(QString::fromStdString(file.string()));
      return show_status(trouble);
    } catch (const Error& error) {
      trouble = QString::fromStdString(error.what());
    }
  }
  show_status(trouble);
}

void BookmarksPanel::show_status(const QString& trouble) {
  if (!trouble.isEmpty()) return status_->setText(trouble);
  if (bookmarks_.all().empty()) {
    return status_->setText(
        tr("Press %1 to bookmark the time range, the selected event or the time "
           "at the pointer.")
            .arg(keys_text(Command::kBookmark)));
  }
  status_->setText(tr("Enter goes there, F2 edits the note, Del removes it.%1")
                       .arg(beside_.empty() && own_.empty()
                                ? tr(" They last as long as this window.")
                                : QString()));
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
