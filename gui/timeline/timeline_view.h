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

/// The content at a point of the timeline.
struct Hit {
  enum class Zone : std::uint8_t { kNothing, kOverview, kRuler, kSteps, kName, kRow };
  Zone zone = Zone::kNothing;
  RowId row;  ///< with kName and kRow
  std::optional<LaneItem>
      item;       ///< with kRow and kSteps: what is drawn there; none on empty ground
  Target target;  ///< none on empty ground and where several events are merged
};

/// The timeline: the rows of a session over a time range, with the controls to move through it.
/// Paints a picture of the rows when they change and otherwise only copies it; selection, pointer,
/// links, marks and bookmarks are drawn over it.
class TimelineView : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit TimelineView(QWidget* parent = nullptr);
  ~TimelineView() override;

  /// Null: empty. Shows the whole trace.
  void set_session(std::shared_ptr<const Session> session);
  /// Sets a later session of the same trace, which may have grown. Zoom, scroll position, selection
  /// and folded rows stay. A view that showed the end of the trace shows its new end.
  void update_session(std::shared_ptr<const Session> session);
  void set_theme(const Theme& theme);

  /// Maps pixels of the area to the right of the names to times.
  const TimeMapping& mapping() const { return frame_.mapping; }
  const RowLayout& layout() const { return layout_; }
  const Target& selection() const { return overlay_.selection; }
  /// The selected time range; empty: none.
  Interval range() const { return overlay_.range; }
  const Frame& frame() const { return frame_; }
  /// The content at a point of the viewport.
  Hit hit(const QPoint& point) const;
  const Overlay& overlay() const { return overlay_; }
  /// The row that keys act on; none: no such row.
  RowId current_row() const { return frame_.current_row; }
  /// Links and critical path; null until they were requested and found.
  const std::shared_ptr<const Relations>& relations() const { return finder_->get(); }

  /// Selects the target. `reveal`: also unfolds and scrolls to its row, and moves in time to show
  /// it.
  void select(const Target& target, bool reveal);
  /// Selects and reveals the target; moves in time at the same scale if it is not fully visible.
  void select_and_center(const Target& target);
  /// Selects a time range; an empty one removes the selection.
  void select_range(Interval range);
  /// Shows a time range. The user can go back from a jump.
  void show_interval(Interval interval);
  /// Shows `view`, selects and reveals `target`.
  void jump_to(const Target& target, Interval view);
  /// Shows the view of `other`, `later` later, at the same scale and with names of the same width.
  void follow(const TimelineView& other, DurationNs later);
  /// The ruler counts from this time.
  void set_origin(TimeNs origin);
  /// The current position: the selection, else the pointer, else the middle.
  TimeNs here() const;
  /// The nearest edge of an event at the point, else the time at the point.
  TimeNs snapped_time(const QPoint& point) const;

  /// Sets the row that keys act on; does not scroll.
  void set_current_row(RowId row);
  /// Hides or shows the rows below a row.
  void fold(RowId row, bool folded);
  /// A pinned row stays on top while the others scroll.
  void pin(RowId row, bool pinned);
  /// Hides the row until show_all_rows().
  void hide(RowId row);
  /// Shows only the rows whose names contain all words of `text`; empty: all rows.
  void set_row_filter(std::string_view text);
  /// Marks the hits of a search; null: none.
  void set_hits(std::shared_ptr<const HitMarks> hits);
  /// Shows only the rows with hits, while there are hits.
  void show_only_hits(bool only);
  bool shows_only_hits() const { return only_hits_; }
  void show_all_rows();
  /// Shows the critical path; another thread computes it when it is first requested.
  void show_path(bool show);
  bool shows_path() const { return path_shown_; }
  /// Adds the rows of a predicted step of this session below those of the recorded step and goes
  /// there; null: removes them.
  void show_predicted(std::shared_ptr<const PredictedTimeline> predicted);
  const std::shared_ptr<const PredictedTimeline>& predicted() const { return predicted_; }
  /// Null: none. They must outlive the view or be removed; call again when they change.
  void set_bookmarks(const std::vector<Bookmark>* bookmarks);

  /// Runs a command of the timeline; false for other commands.
  bool run(Command command);
  /// Paints the whole picture into an image of the view's size: for benchmarks.
  const QImage& render_frame();

 signals:
  void selection_changed(const headway::gui::Target& target);
  void range_changed(headway::Interval range);
  void view_changed();
  /// Rows were folded, moved, hidden or filtered.
  void rows_arranged();
  /// The rows of a predicted step were added or removed.
  void predicted_changed();
  /// Links and critical path are known.
  void relations_found();
  /// The user wants a menu for the content at `point` of the view; `global` is on the screen.
  void menu_wanted(const headway::gui::Hit& hit, const QPoint& point, const QPoint& global);
  /// Text for the status line about the place under the pointer.
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
    kOverviewBox,      ///< moves the visible time range
    kOverviewStretch,  ///< selects it anew, starting at `overview_anchor_`
    kGutter,
    kZoomBox,
    kRow,
  };
  /// A view in the history, to go back to.
  struct Place {
    TimeMapping mapping;
    std::int64_t scroll = 0;
  };

  /// All zooming and moving ends here: the picture is repainted and `view_changed` emitted.
  void set_mapping(const TimeMapping& mapping);
  void set_scroll(std::int64_t scroll);
  /// Call when the width or the font changed: adapts rows and time range.
  void layout_changed();
  /// Call when the rows or their heights changed: adapts the scroll bar and repaints.
  void rows_changed();
  /// Shows the new end of a grown trace if its old end was visible: at the same scale, or the whole
  /// trace if the whole was visible.
  void follow_end(Interval before, Interval visible);
  /// Call when the user folded, moved, hid or filtered rows.
  void arranged();
  void set_predicted(std::shared_ptr<const PredictedTimeline> predicted);
  /// Repaints at the next paint event; until then the old picture stays.
  void repaint_picture();
  void update_font();
  /// Puts the view into the history before a jump leaves it.
  void remember_place();
  void remember(const Place& place);
  void go_to(const Place& place);
  /// Takes the newest place of `from` and puts the present one into `to`; false if `from` is empty.
  bool go_through_history(std::vector<Place>& from, std::vector<Place>& to);
  void zoom(double factor, double x);
  /// Where zooming by keys is centred, in pixels of the area: the pointer, if it is there.
  double pointer_in_area() const;
  void scroll_to(const Target& target);
  /// The current row, else the selection's; none when it is not shown.
  RowId row_for_commands() const;
  /// Runs a command about a row; false for other commands.
  bool run_on_row(Command command);
  /// Makes the next shown row current.
  void step_row(bool down);
  void scroll_to_row(RowId row);
  /// Goes to the other end of the selection's first link; does nothing without one.
  void follow_link();
  /// Sets the next of the two marks between which time is measured.
  void set_mark();
  /// Updates the links of the selection: launches at first, all links once the relations are found.
  void refresh_links();
  void zoom_to_box(const QRect& box);
  void drag_row_to(const QPoint& point);
  void drop_row();
  void open_menu(const QPoint& point);
  /// The next event in time with the selection's name, on any row.
  void select_same_name(bool forward);
  /// Selects the neighbour on the selection's lane; without a selection the first visible event of
  /// the current row.
  void select_on_lane(bool forward);
  /// Esc: removes one of range, marks, selection, predicted rows; the first that exists.
  void clear_one();
  void drag_to(const QPoint& point);
  /// Starts dragging the part of the overview under the pointer.
  void press_overview(int x);
  OverviewGrip overview_grip_at(int x) const;
  /// Moves the visible time range by this many pixels of the overview.
  void drag_overview_box(int pixels);
  void release_overview(Drag drag, int x);
  /// Shows the content under the pointer in the card and the status line.
  void hover(const QPoint& point);
  /// The event under the pointer may have changed: hides the card; the status line shows only the
  /// time.
  void pointer_is_stale();
  /// The time at a point, with the precision of a pixel; in the overview by its scale.
  QString time_text(const QPoint& point) const;
  /// The edge of the selected range near a point, for dragging; none when none is near.
  std::optional<TimeNs> range_edge_at(const QPoint& point) const;
  void describe_hover(const Hit& hit, const QPoint& point);
  QStringList hover_lines(const Hit& hit) const;
  /// For a pixel that represents several events: their number and names.
  QStringList merged_lines(const Hit& hit) const;
  /// Value and unit of a counter at a time.
  QStringList counter_lines(RowId row, TimeNs t) const;
  /// Tells screen readers the new selection.
  void announce();
  /// Paints without an image, for vector files (SVG).
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
  bool picture_old_ = true;  ///< `picture_` must be repainted before it is shown
  HoverCard* card_;
  std::vector<Place> back_;     ///< places left by jumps, newest last
  std::vector<Place> forward_;  ///< places left by going back
  Drag drag_ = Drag::kNone;
  bool moved_ = false;  ///< the pointer moved since it was pressed: no click
  QPoint pressed_at_;
  QPoint last_point_;
  TimeNs range_anchor_;    ///< where the range being selected began
  Place before_overview_;  ///< added to the history when the drag ends
  TimeNs overview_anchor_;
  RowId dragged_row_;
  RowId drop_sibling_;        ///< the dragged row would be dropped beside this one
  bool drop_behind_ = false;  ///< after that row, not before it
  QPoint pointer_{-1, -1};    ///< in the viewport; (-1, -1): outside
};

}  // namespace headway::gui
