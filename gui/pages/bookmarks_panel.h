// SPDX-License-Identifier: MIT
#pragma once

#include <QLabel>
#include <QTreeWidget>
#include <filesystem>
#include <vector>

#include "gui/models/opening/session.h"
#include "gui/models/opening/trace_notes.h"

namespace headway::gui {

/// The bookmarks of a trace as a list to jump from, with notes that are edited in place. Each
/// change is saved at once in `run.headway-notes.json` beside the trace (for a job beside the
/// rank's recording). If that is not writable, it is saved in a file of the user named after the
/// trace; without a folder for such files, bookmarks are lost when the window closes.
class BookmarksPanel : public QWidget {
  Q_OBJECT
 public:
  explicit BookmarksPanel(QWidget* parent = nullptr);

  /// The folder for traces opened from now on; empty: no such folder.
  void keep_in(const std::filesystem::path& folder) { folder_ = folder; }
  /// Reads the notes on a trace; null: no trace. Does not keep the session.
  void set_session(const Session* session);
  const TraceNotes& bookmarks() const { return notes_; }
  /// `part`: index of the session's part beside which the bookmark is stored.
  void add(std::size_t part, Interval when, std::string note);
  void remove_current();
  /// Starts editing the note of the current bookmark, else of the first; false without bookmarks.
  bool edit_current();
  /// Jumps to the next bookmark after (before) a time; false when there is none.
  bool go(TimeNs from, bool forward);
  QTreeWidget& list() { return *list_; }
  QString status() const { return status_->text(); }

 signals:
  /// Bookmarks were added, removed or edited: they must be drawn again.
  void changed();
  /// The user wants to go there.
  void followed(headway::Interval when);

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void fill();
  /// Writes the notes; errors appear in the status line.
  void keep();
  void show_status(const QString& trouble = {});

  std::filesystem::path folder_;
  TraceNotes notes_;
  std::vector<std::int32_t> ranks_;  ///< by part
  QTreeWidget* list_;
  QLabel* status_;
};

}  // namespace headway::gui
