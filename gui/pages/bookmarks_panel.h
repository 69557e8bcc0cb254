// SPDX-License-Identifier: MIT
#pragma once

#include <QLabel>
#include <QTreeWidget>
#include <filesystem>
#include <vector>

#include "gui/models/opening/session.h"
#include "gui/models/opening/trace_notes.h"

namespace headway::gui {

/// The bookmarks of a trace as a list to jump from, with notes that are edited in place. Each change
/// is kept at once in `run.headway-notes.json` beside the trace, of a job beside that of the rank, or, where that
/// cannot be written, in a file of the user's named after the trace; without a folder for that they last as long as the window.
class BookmarksPanel : public QWidget {
  Q_OBJECT
 public:
  explicit BookmarksPanel(QWidget* parent = nullptr);

  /// For the traces shown from now on; empty: nothing is kept.
  void keep_in(const std::filesystem::path& folder) { folder_ = folder; }
  /// Reads the notes on a trace; null: none is open. Keeps nothing of the session.
  void set_session(const Session* session);
  const TraceNotes& bookmarks() const { return notes_; }
  /// `part`: of the session's, beside which it is kept.
  void add(std::size_t part, Interval when, std::string note);
  void remove_current();
  /// Opens the note of the current bookmark, else of the first, to be changed; false without any.
  bool edit_current();
  /// Leads to the next bookmark after (before) a time; false when there is none.
  bool go(TimeNs from, bool forward);
  QTreeWidget& list() { return *list_; }
  QString status() const { return status_->text(); }

 signals:
  /// Bookmarks were added, removed or edited: they are to be drawn anew.
  void changed();
  /// The reader wants to go there.
  void followed(headway::Interval when);

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void fill();
  /// Writes the notes; what goes wrong stands in the status line.
  void keep();
  void show_status(const QString& trouble = {});

  std::filesystem::path folder_;
  TraceNotes notes_;
  std::vector<std::int32_t> ranks_;  ///< of the parts
  QTreeWidget* list_;
  QLabel* status_;
};

}  // namespace headway::gui
