// SPDX-License-Identifier: MIT
#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPointer>
#include <QSplitter>
#include <QTabWidget>
#include <filesystem>
#include <memory>

#include "gui/pages/bookmarks_panel.h"
#include "gui/pages/details_panel.h"
#include "gui/pages/evidence_tree.h"
#include "gui/pages/go_to_bar.h"
#include "gui/pages/labels.h"
#include "gui/pages/legend_bar.h"
#include "gui/pages/page_widget.h"
#include "gui/pages/search_bar.h"
#include "gui/pages/timeline_drawer.h"
#include "gui/pages/what_if_panel.h"
#include "gui/timeline/timeline_view.h"

namespace headway::gui {

/// The timeline with the search above and the legend below. Beside it: the findings with their
/// evidence, the details of the selection, and the bookmarks.
class TimelinePage : public PageWidget {
  Q_OBJECT
 public:
  explicit TimelinePage(QWidget* parent = nullptr);

  void set_session(std::shared_ptr<const Session> session) override;
  void update_session(std::shared_ptr<const Session> session) override;
  bool needs_analysis() const override { return false; }
  void set_theme(const Theme& theme) override;
  void open(const Link& link) override;
  /// Selects the evidence in the list and on the timeline, with some time around it.
  void show_evidence(int finding, int evidence);
  void show_target(const Target& target);
  void show_step(std::uint32_t step, Interval where);
  /// Goes to a place in the syntax of the go-to bar. Throws Error(kUsage) that says what was
  /// expected.
  void go_to_place(const std::string& text);
  /// The command line that opens the window with the present view.
  QString view_command() const;
  /// Shows the predicted step with the finding's fix beside the recorded one: ticks only that fix.
  /// Does nothing for findings without a prediction. Replays on another thread first.
  void show_prediction(int finding);
  /// Shows or hides the panels beside the timeline: findings, details and bookmarks.
  void show_panels(bool show);
  bool shows_panels() const { return !side_->isHidden(); }
  /// Runs a command; false for commands that are not the timeline's.
  bool run(Command command);

  TimelineView& view() { return *view_; }
  SearchBar& search() { return *search_; }
  DetailsPanel& details() { return *details_; }
  EvidenceTree& evidence() { return *evidence_; }
  BookmarksPanel& bookmarks() { return *bookmarks_; }
  WhatIfPanel& what_if() { return *what_if_; }
  TimelineDrawer& drawer() { return *drawer_; }
  QTabWidget& tabs() { return *tabs_; }
  GoToBar& go_to() { return *go_to_; }
  QLineEdit& row_filter() { return *row_filter_; }
  LinkLabel& hidden_rows() { return *hidden_; }
  LinkLabel& prediction_note() { return *prediction_note_; }
  /// The open menu; null: none.
  QMenu* menu() { return menu_; }
  /// The folder for bookmark files; without one, bookmarks are lost when the window closes.
  void keep_bookmarks_in(const std::filesystem::path& folder) { bookmarks_->keep_in(folder); }

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QWidget* toolbar();
  QWidget* side();
  void connect_parts();
  /// Shows the length of the visible time range.
  void show_span();
  /// Shows how many rows are hidden, as a link that shows them.
  void show_hidden_rows();
  void show_details();
  /// Goes to the op of the selected device op, or of the one that the selected call launched.
  void open_in_ops();
  void open_source(const Target& target);
  void show_stacks();
  /// The current finding if its fix has a prediction, else the one with the largest gain; -1: none.
  int finding_to_predict() const;
  /// Hides the predicted step, or shows one.
  void toggle_prediction();
  void show_what_if();
  /// Shows the rows of a predicted step beside the recorded one; null: hides them.
  void show_predicted(std::shared_ptr<const PredictedTimeline> timeline);
  void show_prediction_note();
  void open_menu(const Hit& hit, const QPoint& global);
  void add_event_actions(QMenu& menu);
  void add_range_actions(QMenu& menu);
  void add_row_actions(QMenu& menu, RowId row);
  /// Searches for the selection's name and shows only rows with hits.
  void filter_to_name();
  void add_bookmark();
  void go(const Destination& destination);
  void copy(const QString& text, const QString& what);
  void copy_events();
  /// Copies a SELECT that returns the selected events.
  void copy_sql();
  /// Shows a text in the status line until the pointer moves.
  void tell(const QString& text);

  std::shared_ptr<const Session> session_;
  const Theme* theme_ = &Theme::light();
  TimelineView* view_;
  SearchBar* search_;
  LegendBar* legend_;
  DetailsPanel* details_;
  EvidenceTree* evidence_;
  BookmarksPanel* bookmarks_;
  WhatIfPanel* what_if_;
  TimelineDrawer* drawer_;
  GoToBar* go_to_;
  QLineEdit* row_filter_;
  LinkLabel* hidden_;
  QToolButton* path_;
  QToolButton* only_hits_;
  QToolButton* hit_list_;
  QToolButton* prediction_;
  LinkLabel* prediction_note_;
  bool following_stack_ = false;  ///< keeps the call stacks while a click in them goes to an event
  bool leading_ = false;          ///< the page itself is changing the view's prediction
  QTabWidget* tabs_ = nullptr;
  QWidget* side_ = nullptr;
  QToolButton* handle_;  ///< button beside the timeline that hides or shows the panels
  QPointer<QMenu> menu_;
  WrapLabel* pointed_;
  WrapLabel* span_;
};

}  // namespace headway::gui
