// SPDX-License-Identifier: MIT
#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <memory>
#include <optional>

#include "gui/background_task.h"
#include "gui/models/opening/session.h"
#include "gui/models/search/hit_marks.h"
#include "gui/models/search/search.h"

namespace headway::gui {

/// The search box: finds as one types, on a thread of its own, and leads from hit to hit. Names that
/// contain the text; in double quotes the whole name; or what a regular expression matches.
class SearchBar : public QWidget {
  Q_OBJECT
 public:
  explicit SearchBar(QWidget* parent = nullptr);

  void set_session(std::shared_ptr<const Session> session);
  /// A later session of the same trace: what is searched for stays.
  void update_session(std::shared_ptr<const Session> session);
  /// The event from which "next" and "previous" count.
  void set_current(const Target& current);
  void activate();
  /// To the next hit after the current event, or before it; around at the ends.
  void go(bool forward);
  /// True when there was something to clear.
  bool clear();
  /// Searches for a text given by the program.
  void search_for(const QString& text);
  /// Searches for one name, as a whole, without going to a hit.
  void search_for_name(const QString& name);
  void set_regex(bool regex);
  const Search* search() const { return found_.search.get(); }
  const std::shared_ptr<const Search>& shared_search() const { return found_.search; }
  QString status() const { return status_->text(); }
  /// What to mark on the timeline; null: nothing.
  const std::shared_ptr<const HitMarks>& marks() const { return found_.marks; }

 signals:
  /// A hit to go to.
  void found(const headway::gui::Target& target);
  /// The reader is done: the timeline gets the keyboard.
  void left();
  /// What is to be marked on the timeline is another, or nothing.
  void marks_changed();

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  struct Found {
    std::shared_ptr<const Session> session;  ///< that the marks are of
    std::shared_ptr<const Search> search;
    std::shared_ptr<const HitMarks> marks;
  };

  void start();
  void finish(Found found);
  void show_status();

  std::shared_ptr<const Session> session_;

  std::optional<TextMatcher> matcher(const std::string& needle);
  void set_found(Found found);

  Found found_;
  analyzer::EventRef current_;
  QLineEdit* edit_;
  QLabel* status_;
  QToolButton* previous_;
  QToolButton* next_;
  QToolButton* regex_;
  BackgroundTask* task_;
  std::optional<bool> go_when_found_;  ///< go forward (or back) once the search is done
};

}  // namespace headway::gui
