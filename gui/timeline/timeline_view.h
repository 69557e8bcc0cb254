// SPDX-License-Identifier: MIT
#pragma once

#include <QAbstractScrollArea>
#include <QImage>
#include <memory>
#include <optional>
#include <vector>

#include "gui/models/opening/session.h"
#include "gui/models/timeline/overview_box.h"
#include "gui/models/window/shortcuts.h"
#include "gui/timeline/frame.h"
#include "gui/timeline/header_pass.h"
#include "gui/timeline/hover_card.h"
#include "gui/timeline/label_cache.h"
#include "gui/timeline/overlay_pass.h"
#include "gui/timeline/relations.h"
#include "gui/timeline/rows_pass.h"

namespace headway::gui {

/// What is under a point of the timeline.
struct Hit {
  enum class Zone : std::uint8_t { kNothing, kOverview, kRuler, kSteps, kName, kRow };
  Zone zone = Zone::kNothing;
  RowId row;  ///< with kName and kRow
  std::optional<LaneItem>
      item;       ///< with kRow and kSteps: what is drawn there; none on empty ground
  Target target;  ///< none on empty ground and where several events are merged
};

/// The timeline: rows of a session over a stretch of time, and the hands to move through it.
/// Paints a picture of the rows when they change and only copies it otherwise; selection, pointer,
/// links, marks and bookmarks are drawn over it.
class TimelineView : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit TimelineView(QWidget* parent = nullptr);
  ~TimelineView() override;

  /// Null: empty. Shows the whole trace.
  void set_session(std::shared_ptr<const Session> session);
  /// A later session of the same trace, which may have grown: zoom, scroll, selection and what is
  /// folded stay. A view that showed the end of the trace shows its new end.
  void update_session(std::shared_ptr<const Session> session);
  void set_theme(const Theme& theme);

  /// Pixels of the area right of the names to times.
  const TimeMapping& mapping() const { return frame_.mapping; }
  const RowLayout& layout() const { return layout_; }
  const Target& selection() const { return overlay_.selection; }
  /// The selected stretch of time; empty: none.
  Interval range() const { return overlay_.range; }
  const Frame& frame() const { return frame_; }
  /// What is under a point of the viewport.
  Hit hit(const QPoint& point) const;
  const Overlay& overlay() const { return overlay_; }
  /// The row that keys work on; none while there is none.
  RowId current_row() const { return frame_.current_row; }
  /// Links and critical path; null until they were wanted and found.
  const std::shared_ptr<const Relations>& relations() const { return finder_->get(); }

  /// Selects and, if `reveal`, unfolds and scrolls to its row and moves time so that it is seen.
  void select(const Target& target, bool reveal);
  /// Selects and reveals; moves time at the same scale when it is not fully in sight.
  void select_and_center(const Target& target);
  /// Selects a stretch of time; an empty one takes the selection away.
  void select_range(Interval range);
  /// Shows a stretch of time. A jump can be taken back.
  void show_interval(Interval interval);
  /// Shows `view`, selects and reveals `target`.
  void jump_to(const Target& target, Interval view);
  /// Shows what `other` shows, `later` later, at the same scale and with names as wide.
  void follow(const TimelineView& other, DurationNs later);
  /// The ruler counts from there.
  void set_origin(TimeNs origin);
  /// Where "the place one is at" is: the selection, else the pointer, else the middle.
  TimeNs here() const;
  /// The nearest edge of an event under the point, else its time.
  TimeNs snapped_time(const QPoint& point) const;

  /// The row that keys work on; scrolls nothing.
  void set_current_row(RowId row);
  /// Hides or shows what belongs below a row.
  void fold(RowId row, bool folded);
  /// A pinned row stays on top while the others scroll.
  void pin(RowId row, bool pinned);
  /// Until show_all_rows().
  void hide(RowId row);
  /// Leaves the rows whose names contain all words of `text`; empty: all rows.
  void set_row_filter(std::string_view text);
  /// Marks what a search found; null: nothing.
  void set_hits(std::shared_ptr<const HitMarks> hits);
  /// Leaves only the rows that have hits, while there are any.
  void show_only_hits(bool only);
  bool shows_only_hits() const { return only_hits_; }
  void show_all_rows();
  /// The critical path; it is worked out on another thread when it is first wanted.
  void show_path(bool show);
  bool shows_path() const { return path_shown_; }
  /// Adds the rows of a predicted step of this session beneath those of the recorded one and goes
  /// there; null: takes them away again.
  void show_predicted(std::shared_ptr<const PredictedTimeline> predicted);
  const std::shared_ptr<const PredictedTimeline>& predicted() const { return predicted_; }
  /// Null: none. They must outlive the view, or be taken away; call again when they change.
  void set_bookmarks(const std::vector<Bookmark>* bookmarks);

  /// Carries out a command of the timeline; false for those that are not its.
  bool run(Command command);
  /// Paints the whole picture into an image of the view's size: for benchmarks.
  const QImage& render_frame();

 signals:
  void selection_changed(const headway::gui::Target& target);
  void range_changed(headway::Interval range);
  void view_changed();
  /// Rows were folded, moved, hidden or filtered.
  void rows_arranged();
  /// The rows of a predicted step came or went.
  void predicted_changed();
  /// Links and critical path are known now.
  void relations_found();
  /// A menu is wanted for what is under a point of the view; the second is where, on the screen.
  void menu_wanted(const headway::gui::Hit& hit, const QPoint& point, const QPoint& global);
  /// What the status line says about the place under the pointer.
  void pointed_at(const QString& text);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool viewportEvent(QEvent* event) override;

 private:
  enum class Drag : std::uint8_t {
    kNone,
    kPan,
    kRange,
    kOverviewBox,      ///< moves what is in view
    kOverviewStretch,  ///< chooses it anew, from `overview_anchor_` on
    kGutter,
    kZoomBox,
    kRow,
  };
  /// A view that one can go back to.
  struct Place {
    TimeMapping mapping;
    std::int64_t scroll = 0;
  };

  /// All zooming and moving ends here: the picture is painted anew and `view_changed` emitted.
  void set_mapping(const TimeMapping& mapping);
  void set_scroll(std::int64_t scroll);
  /// The width or the font is another: rows and time are fitted to it.
  void layout_changed();
  /// The rows or their heights are others: fits the scroll bar and paints anew.
  void rows_changed();
  /// Shows the new end of a trace that has grown where its old end was in sight: at the same scale, or, where the whole
  /// trace was in sight, the whole.
  void follow_end(Interval before, Interval visible);
  /// The reader folded, moved, hid or filtered rows.
  void arranged();
  void set_predicted(std::shared_ptr<const PredictedTimeline> predicted);
  /// At the next paint event; until then the old picture stays.
  void repaint_picture();
  void update_font();
  /// Puts the view into the history before a jump leaves it.
  void remember_place();
  void remember(const Place& place);
  void go_to(const Place& place);
  /// Takes the newest place of `from` and puts the present one into `to`; false when there is none.
  bool go_through_history(std::vector<Place>& from, std::vector<Place>& to);
  void zoom(double factor, double x);
  /// Where zooming by keys is centred, in pixels of the area: the pointer, if it is there.
  double pointer_in_area() const;
  void scroll_to(const Target& target);
  /// The current row, else the selection's; none when it is not shown.
  RowId row_for_commands() const;
  /// False for commands that are about no row.
  bool run_on_row(Command command);
  /// To the next row that is shown.
  void step_row(bool down);
  void scroll_to_row(RowId row);
  /// To the other end of the selection's first link; nothing without one.
  void follow_link();
  /// Sets the next of the two marks between which time is measured.
  void set_mark();
  /// Of the selection: at first those that its ids tell, all of them once the relations are found.
  void refresh_links();
  void zoom_to_box(const QRect& box);
  void drag_row_to(const QPoint& point);
  void drop_row();
  void open_menu(const QPoint& point);
  /// The next event in time with the selection's name, on any row.
  void select_same_name(bool forward);
  /// The neighbour on the selection's line; without a selection the first that is seen on the current row.
  void select_on_lane(bool forward);
  /// Esc: takes away one thing: range, marks, selection, predicted rows, in that order.
  void clear_one();
  void drag_to(const QPoint& point);
  /// Begins to drag what the pointer is on in the overview.
  void press_overview(int x);
  OverviewGrip overview_grip_at(int x) const;
  /// Moves what is in view by so many pixels of the overview.
  void drag_overview_box(int pixels);
  void release_overview(Drag drag, int x);
  /// Shows what is under the pointer in the card and the status line.
  void hover(const QPoint& point);
  /// The pointer's event may be gone: hides the card, and the status line tells the time alone.
  void pointer_is_stale();
  /// The time under a point, as exact as a pixel is; over the overview by its scale.
  QString time_text(const QPoint& point) const;
  /// The edge of the selected range near a point, which a drag then moves; none when none is near.
  std::optional<TimeNs> range_edge_at(const QPoint& point) const;
  void describe_hover(const Hit& hit, const QPoint& point);
  QStringList hover_lines(const Hit& hit) const;
  /// For a pixel that stands for several events: how many, of which names.
  QStringList merged_lines(const Hit& hit) const;
  /// Value and unit of a counter at a time.
  QStringList counter_lines(RowId row, TimeNs t) const;
  /// Tells screen readers what is selected now.
  void announce();
  /// Paints without an image, for files that hold shapes (SVG).
  void paint_vectors(QPainter& painter);

  std::shared_ptr<const Session> session_;
  std::shared_ptr<const PredictedTimeline> predicted_;
  std::shared_ptr<const HitMarks> hits_;
  RelationsFinder* finder_;
  bool path_shown_ = false;
  bool only_hits_ = false;
  RowLayout layout_;
  Frame frame_;
  Overlay overlay_;
  LabelCache labels_;
  RowsPass rows_;
  HeaderPass header_;
  QImage picture_;
  bool picture_old_ = true;  ///< `picture_` has to be painted before it is shown
  HoverCard* card_;
  std::vector<Place> back_;     ///< places left by jumps, newest last
  std::vector<Place> forward_;  ///< places left by going back
  Drag drag_ = Drag::kNone;
  bool moved_ = false;  ///< the pointer moved since it was pressed: no click
  QPoint pressed_at_;
  QPoint last_point_;
  TimeNs range_anchor_;    ///< where the range that is being selected began
  Place before_overview_;  ///< what the history gets when the drag ends
  TimeNs overview_anchor_;
  RowId dragged_row_;
  RowId drop_sibling_;        ///< beside which the dragged row would go
  bool drop_behind_ = false;  ///< behind that one, not before it
  QPoint pointer_{-1, -1};    ///< in the viewport; (-1, -1): outside
};

}  // namespace headway::gui
