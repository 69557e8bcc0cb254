// SPDX-License-Identifier: MIT
#pragma once

#include <QLabel>
#include <QTreeWidget>
#include <filesystem>
#include <memory>
#include <optional>

#include "gui/models/bookmarks.h"
#include "gui/models/session.h"

namespace headway::gui {

/// The bookmarks of a trace as a list to jump from, with notes that are edited in place. Each change
/// is kept at once in `run.headway-notes.json` beside the trace or, where that cannot be written, in a file of the
/// user's named after the trace; without a folder for that they last as long as the window.
class BookmarksPanel : public QWidget {
  Q_OBJECT
 public:
  explicit BookmarksPanel(QWidget* parent = nullptr);

  /// For the traces shown from now on; empty: nothing is kept.
  void keep_in(const std::filesystem::path& folder) { folder_ = folder; }
  void set_session(std::shared_ptr<const Session> session);
  const Bookmarks& bookmarks() const { return bookmarks_; }
  void add(Interval when, std::string note);
  void remove_current();
  /// Leads to the next bookmark after (before) a time; false when there is none.
  bool go(TimeNs from, bool forward);
  QTreeWidget& list() { return *list_; }
  QString status() const { return status_->text(); }

 signals:
  void changed();
  void followed(headway::Interval when);

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void fill();
  void keep();
  void show_status(const QString& trouble = {});
  bool read(const std::filesystem::path& file, QString& trouble);

  std::filesystem::path folder_;
  std::filesystem::path beside_;  ///< the trace that is shown; empty: not to be written
  std::filesystem::path own_;     ///< the user's, for where there is no writing beside
  std::shared_ptr<const Session> session_;
  Bookmarks bookmarks_;
  QTreeWidget* list_;
  QLabel* status_;
};

}  // namespace headway::gui
