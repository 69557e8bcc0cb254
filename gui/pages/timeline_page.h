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

/// The timeline with search above, legend below, and at its side the findings to step through, the
/// details of what is selected and the bookmarks.
class TimelinePage : public PageWidget {
  Q_OBJECT
 public:
  explicit TimelinePage(QWidget* parent = nullptr);

  void set_session(std::shared_ptr<const Session> session) override;
  void update_session(std::shared_ptr<const Session> session) override;
  bool needs_analysis() const override { return false; }
  void set_theme(const Theme& theme) override;
  void open(const Link& link) override;
  /// Selects it, in the list and on the timeline, with some time around it.
  void show_evidence(int finding, int evidence);
  void show_target(const Target& target);
  void show_step(std::uint32_t step, Interval where);
  /// A place as the go-to bar takes it. Throws Error(kUsage) that tells what was expected.
  void go_to_place(const std::string& text);
  /// The command that opens the window at what is in sight now.
  QString view_command() const;
  /// A step as it would be with the finding's fix, beside the recorded one: ticks that fix alone.
  /// Nothing for findings without a prediction. Replays on another thread first.
  void show_prediction(int finding);
  /// The panels beside the timeline: findings, details and bookmarks.
  void show_panels(bool show);
  bool shows_panels() const { return !side_->isHidden(); }
  /// False for commands that are not the timeline's.
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
  /// The menu that is open; null: none.
  QMenu* menu() { return menu_; }
  /// Bookmarks are kept in files below this folder; without one they last as long as the window.
  void keep_bookmarks_in(const std::filesystem::path& folder) { bookmarks_->keep_in(folder); }

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QWidget* toolbar();
  QWidget* side();
  void connect_parts();
  /// How much time is in sight.
  void show_span();
  /// How many rows are hidden, as a link that shows them.
  void show_hidden_rows();
  void show_details();
  /// Leads to the op of the selected device op, or of the one that the selected call launched.
  void open_in_ops();
  void open_source(const Target& target);
  void show_stacks();
  /// The current finding if its fix has a prediction, else the one with the best; -1: none.
  int finding_to_predict() const;
  /// Takes the predicted step away, or shows one.
  void toggle_prediction();
  void show_what_if();
  /// The rows of a predicted step beside the recorded one; null: takes them away.
  void show_predicted(std::shared_ptr<const PredictedTimeline> timeline);
  void show_prediction_note();
  void open_menu(const Hit& hit, const QPoint& global);
  void add_event_actions(QMenu& menu);
  void add_range_actions(QMenu& menu);
  void add_row_actions(QMenu& menu, RowId row);
  /// Searches for the selection's name and leaves only the rows with hits.
  void filter_to_name();
  void add_bookmark();
  void go(const Destination& destination);
  void copy(const QString& text, const QString& what);
  void copy_events();
  /// A SELECT that gives the selected events, to the clipboard.
  void copy_sql();
  /// In the status line, until the pointer moves on.
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
  bool following_stack_ = false;  ///< the call stacks stay while one leads to its longest event
  bool leading_ = false;          ///< the page itself changes what the view shows as predicted
  QTabWidget* tabs_ = nullptr;
  QWidget* side_ = nullptr;
  QToolButton* handle_;  ///< beside the timeline: hides the panels and brings them back
  QPointer<QMenu> menu_;
  WrapLabel* pointed_;
  WrapLabel* span_;
};

}  // namespace headway::gui
