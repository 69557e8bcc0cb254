// SPDX-License-Identifier: MIT
#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <memory>
#include <optional>

#include "gui/models/opening/session.h"
#include "gui/models/search/hit_marks.h"
#include "gui/models/search/search.h"
#include "gui/timeline/background_task.h"

namespace headway::gui {

/// The search box: searches while the user types, on another thread, and goes from hit to hit.
/// Matches names that contain the text; in double quotes the whole name; or by a regular
/// expression.
class SearchBar : public QWidget {
  Q_OBJECT
 public:
  explicit SearchBar(QWidget* parent = nullptr);

  void set_session(std::shared_ptr<const Session> session);
  /// Sets a later session of the same trace and keeps the search.
  void update_session(std::shared_ptr<const Session> session);
  /// The event from which "next" and "previous" start.
  void set_current(const Target& current);
  void activate();
  /// Goes to the next hit after the current event, or before it; wraps around at the ends.
  void go(bool forward);
  /// True when there was something to clear.
  bool clear();
  /// Searches for a text set by the program, not by the user.
  void search_for(const QString& text);
  /// Searches for exactly this name, without going to a hit.
  void search_for_name(const QString& name);
  void set_regex(bool regex);
  const Search* search() const { return found_.search.get(); }
  const std::shared_ptr<const Search>& shared_search() const { return found_.search; }
  QString status() const { return status_->text(); }
  /// The hits to mark on the timeline; null: none.
  const std::shared_ptr<const HitMarks>& marks() const { return found_.marks; }

 signals:
  /// A hit to go to.
  void found(const headway::gui::Target& target);
  /// The user left the search box: the timeline gets the keyboard focus.
  void left();
  /// The hits to mark on the timeline have changed.
  void marks_changed();

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  struct Found {
    std::shared_ptr<const Session> session;  ///< the session that the marks belong to
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
  std::optional<bool> go_when_found_;  ///< go forward (or back) when the search is done
};

}  // namespace headway::gui
