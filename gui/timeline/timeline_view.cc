// SPDX-License-Identifier: MIT
#include "gui/timeline/timeline_view.h"

#include <QAccessible>
#include <QPaintEngine>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <climits>
#include <cmath>

#include "common/format.h"
#include "gui/models/details/details.h"
#include "gui/models/details/findings.h"
#include "gui/models/opening/row_identity.h"
#include "gui/models/search/search.h"
#include "gui/timeline/accessible_timeline.h"

namespace headway::gui {
namespace {

constexpr std::size_t kMaxHistory = 100;

/// Drawn while there is no trace, so that a frame always has a model.
const TimelineModel& empty_model() {
  static const TimelineModel model = [] {
    TimelineModel empty;
    empty.bounds = {{0}, {1'000'000'000}};
    return empty;
  }();
  return model;
}

}  // namespace

TimelineView::TimelineView(QWidget* parent)
    : QAbstractScrollArea(parent),
      finder_(new RelationsFinder(this)),
      card_(new HoverCard(viewport())) {
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::StrongFocus);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollBarPolicy(Qt::ScrollBarAsNeeded);
  setMinimumSize(320, 160);
  make_timeline_accessible();  // before the first event of this view creates the default interface
  setAccessibleName(tr("Timeline"));
  viewport()->setMouseTracking(true);
  viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
  frame_.model = &empty_model();
  frame_.layout = &layout_;
  frame_.theme = &Theme::light();
  update_font();
  connect(finder_, &RelationsFinder::ready, this, [this] {
    refresh_links();
    show_path(path_shown_);
    emit relations_found();
  });
}

TimelineView::~TimelineView() = default;

void TimelineView::set_session(std::shared_ptr<const Session> session) {
  set_predicted(nullptr);
  session_ = std::move(session);
  frame_.model = session_ ? &session_->timeline : &empty_model();
  layout_ = RowLayout(*frame_.model, metrics_for(frame_.font));
  overlay_ = {};
  hits_.reset();
  only_hits_ = false;
  frame_.hits = nullptr;
  frame_.path = nullptr;
  frame_.current_row = {};
  finder_->set_session(session_);
  if (path_shown_) finder_->want();
  back_.clear();
  forward_.clear();
  labels_ = {};
  labels_.set_font(frame_.font);
  frame_.scroll = 0;
  frame_.mapping = TimeMapping(frame_.model->bounds, frame_.area_width());
  arranged();
  run(Command::kFitAll);
  back_.clear();
}

void TimelineView::update_session(std::shared_ptr<const Session> session) {
  if (!session_ || !session) return set_session(std::move(session));
  set_predicted(nullptr);
  const std::shared_ptr<const Session> old = std::exchange(session_, std::move(session));
  const std::vector<RowId> matches = match_rows(old->timeline, session_->timeline);
  const Interval before = old->timeline.bounds;
  const Interval visible = frame_.mapping.visible();
  // Keeps the topmost row in place, even if new rows come above it.
  RowId top;
  std::int64_t into_top = 0;
  if (auto index = layout_.index_at(frame_.scroll)) {
    const RowLayout::Shown& shown = layout_.shown()[*index];
    top = shown.row;
    into_top = frame_.scroll - shown.y;
  }
  frame_.model = &session_->timeline;
  layout_.adopt(session_->timeline, matches);
  // Marks and links belong to the former trace until they are found again.
  hits_.reset();
  frame_.hits = nullptr;
  frame_.path = nullptr;
  RowId current;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    if (frame_.current_row.valid() && matches[i] == frame_.current_row) current = RowId::from(i);
  }
  frame_.current_row = current;
  overlay_.links.clear();
  finder_->set_session(session_);
  if (path_shown_) finder_->want();
  overlay_.selection = find_again(*old, overlay_.selection, *session_);
  overlay_.hovered = {};
  labels_ = {};
  labels_.set_font(frame_.font);
  refresh_links();
  arranged();
  for (std::size_t i = 0; i < matches.size() && frame_.scroll > 0; ++i) {
    if (matches[i] != top) continue;
    if (auto index = layout_.index_of(RowId::from(i)))
      set_scroll(layout_.shown()[*index].y + into_top);
    break;
  }
  follow_end(before, visible);
  emit view_changed();
}

/// Shows another timeline of the same session: recorded rows keep their ids; the rows of a
/// prediction come after them and can be removed again.
void TimelineView::set_predicted(std::shared_ptr<const PredictedTimeline> predicted) {
  if (predicted == predicted_) return;
  // Keeps the former rows alive until the end of this function, which still uses them.
  const std::shared_ptr<const PredictedTimeline> before = std::exchange(predicted_, predicted);
  frame_.predicted = predicted_.get();
  frame_.model = predicted_ ? &predicted_->model : &session_->timeline;
  std::vector<RowId> matches(frame_.model->rows.size());
  for (std::size_t i = 0; i < session_->timeline.rows.size(); ++i) matches[i] = RowId::from(i);
  layout_.adopt(*frame_.model, matches);
  if (only_hits_ && hits_) layout_.set_only(hits_->rows());
  if (frame_.current_row.valid() && frame_.current_row.value >= session_->timeline.rows.size())
    frame_.current_row = {};
  if (overlay_.hovered.kind == Target::Kind::kPrediction) overlay_.hovered = {};
  if (overlay_.selection.kind == Target::Kind::kPrediction) select({}, false);
  card_->hide();
  arranged();
  emit predicted_changed();
}

void TimelineView::show_predicted(std::shared_ptr<const PredictedTimeline> predicted) {
  if (!session_ || (predicted && predicted->session != session_)) return;
  set_predicted(std::move(predicted));
  if (!predicted_) return;
  select({}, false);
  select_range({});
  show_interval(predicted_->view());
  for (std::size_t i = frame_.model->rows.size(); i-- > session_->timeline.rows.size();) {
    layout_.reveal(RowId::from(i), 0);
    layout_.set_folded(RowId::from(i), false);
  }
  arranged();
  const RowId first = predicted_->first_row();
  if (!first.valid()) return;
  // Scrolls to the heading of the group if it is near, because the recorded rows are below it.
  if (std::optional<std::size_t> index = layout_.index_of(frame_.model->row(first).companion_of)) {
    const std::vector<RowLayout::Shown>& rows = layout_.shown();
    std::size_t top = *index;
    while (top > 0 && rows[top].depth > 0) --top;
    if (rows[*index].y - rows[top].y > viewport()->height() / 3) top = *index;
    set_scroll(rows[top].y - frame_.sticky_height());
  }
}

/// Moves a view that showed the end of the trace before it grew.
void TimelineView::follow_end(Interval before, Interval visible) {
  const Interval now = frame_.model->bounds;
  if (now == before) return;
  const bool whole = visible.begin <= before.begin && visible.end >= before.end;
  if (whole) return set_mapping(TimeMapping(now, frame_.area_width()));
  if (visible.end < before.end) return;
  double pixels = static_cast<double>((now.end - before.end).ns) / frame_.mapping.ns_per_pixel();
  set_mapping(frame_.mapping.panned(pixels, now));
}

void TimelineView::set_theme(const Theme& theme) {
  frame_.theme = &theme;
  card_->set_theme(theme);
  repaint_picture();
}

void TimelineView::repaint_picture() {
  picture_old_ = true;
  viewport()->update();
}

void TimelineView::update_font() {
  frame_.font = label_font(font());
  card_->setFont(frame_.font);
  labels_.set_font(frame_.font);
  layout_.set_metrics(metrics_for(frame_.font));
  rows_changed();
}

void TimelineView::changeEvent(QEvent* event) {
  if (event->type() == QEvent::FontChange) update_font();
  QAbstractScrollArea::changeEvent(event);
}

void TimelineView::resizeEvent(QResizeEvent*) {
  frame_.size = viewport()->size();
  layout_changed();
}

/// Call when the size, the width of names or the rows changed: updates what depends on them.
void TimelineView::layout_changed() {
  frame_.mapping = frame_.mapping.resized(frame_.area_width());
  rows_changed();
}

void TimelineView::rows_changed() {
  picture_old_ = true;
  int page = frame_.rows_rect().height();
  std::int64_t reach = std::max<std::int64_t>(0, layout_.height() - page);
  verticalScrollBar()->setPageStep(std::max(1, page));
  verticalScrollBar()->setSingleStep(3 * layout_.metrics().lane);
  verticalScrollBar()->setRange(0, static_cast<int>(std::min<std::int64_t>(reach, INT_MAX)));
  frame_.scroll = verticalScrollBar()->value();
  viewport()->update();
}

void TimelineView::arranged() {
  rows_changed();
  emit rows_arranged();
}

void TimelineView::scrollContentsBy(int, int) {
  frame_.scroll = verticalScrollBar()->value();
  pointer_is_stale();
  repaint_picture();
}

void TimelineView::set_scroll(std::int64_t scroll) {
  verticalScrollBar()->setValue(static_cast<int>(std::clamp<std::int64_t>(scroll, 0, INT_MAX)));
}

void TimelineView::set_mapping(const TimeMapping& mapping) {
  frame_.mapping = mapping;
  pointer_is_stale();
  repaint_picture();
  emit view_changed();
}

const QImage& TimelineView::render_frame() {
  frame_.pixel_ratio = viewport()->devicePixelRatioF();
  QSize size = (QSizeF(frame_.size) * frame_.pixel_ratio).toSize().expandedTo({1, 1});
  if (picture_.size() != size) picture_ = QImage(size, QImage::Format_RGB32);
  picture_.setDevicePixelRatio(frame_.pixel_ratio);
  QPainter painter(&picture_);
  rows_.paint(picture_, painter, frame_, labels_);
  header_.paint(picture_, painter, frame_);
  picture_old_ = false;
  return picture_;
}

/// For vector pictures: paints without the cached picture of the screen.
void TimelineView::paint_vectors(QPainter& painter) {
  Frame frame = frame_;
  frame.pixel_ratio = 1;
  QImage none;
  painter.save();
  painter.setClipRect(viewport()->rect());
  rows_.paint(none, painter, frame, labels_);
  header_.paint(none, painter, frame);
  painter.restore();
}

void TimelineView::paintEvent(QPaintEvent* event) {
  QPainter painter(viewport());
  if (painter.paintEngine()->type() == QPaintEngine::SVG) {
    paint_vectors(painter);
  } else {
    if (picture_old_ || frame_.pixel_ratio != viewport()->devicePixelRatioF()) render_frame();
    for (const QRect& rect : event->region()) {
      QRectF source(QPointF(rect.topLeft()) * frame_.pixel_ratio,
                    QSizeF(rect.size()) * frame_.pixel_ratio);
      painter.drawImage(QRectF(rect), picture_, source);
    }
  }
  paint_overlay(painter, frame_, overlay_);
  if (frame_.model->rows.empty()) {
    painter.setPen(frame_.theme->dim_text);
    painter.drawText(frame_.rows_rect(), Qt::AlignCenter,
                     tr("This trace has no timeline:\nno ranges, device work, API calls or "
                        "counters were recorded."));
  }
  if (hasFocus()) {
    painter.setPen(
        QColor::fromRgb(blend(frame_.theme->border.rgb(), frame_.theme->accent.rgb(), 0.5)));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(viewport()->rect().adjusted(0, 0, -1, -1));
  }
}

Hit TimelineView::hit(const QPoint& point) const {
  Hit hit;
  const int column = point.x() - frame_.gutter;
  auto find_item = [&](const Lane& lane) {
    ColumnGrid grid(frame_.mapping);
    std::vector<LaneItem> items;
    // A box of one pixel is hard to hit, so its neighbours count as well.
    for (int off : {0, -1, 1, -2, 2}) {
      lane.collect(grid, column + off, column + off + 1, items);
      if (items.empty()) continue;
      hit.item = items.front();
      return true;
    }
    return false;
  };
  if (point.y() < frame_.header_height()) {
    if (column < 0) return hit;
    if (frame_.overview_rect().contains(point)) hit.zone = Hit::Zone::kOverview;
    if (frame_.ruler_rect().contains(point)) hit.zone = Hit::Zone::kRuler;
    if (frame_.steps_rect().contains(point)) {
      hit.zone = Hit::Zone::kSteps;
      const Lane& steps = frame_.model->steps;
      if (find_item(steps) && hit.item->count == 1)
        hit.target = Target::step(steps.rows(hit.item->entry).front());
    }
    return hit;
  }
  std::int64_t y = frame_.layout_y(point.y());
  std::optional<std::size_t> index = layout_.index_at(y);
  if (!index) return hit;
  const RowLayout::Shown& shown = layout_.shown()[*index];
  hit.row = shown.row;
  hit.zone = column < 0 ? Hit::Zone::kName : Hit::Zone::kRow;
  if (hit.zone == Hit::Zone::kRow && y < shown.y + shown.height) {
    if (const Lane* strip = strip_of(frame_, shown.row)) {
      if (find_item(*strip) && hit.item->count == 1)
        hit.target = frame_.model->target_of(frame_.model->strip_row(shown.row),
                                             strip->rows(hit.item->entry).front());
      return hit;
    }
  }
  if (hit.zone == Hit::Zone::kName || shown.lanes == 0 || y >= shown.y + shown.height) return hit;
  const Lane& lane = frame_.model->row(shown.row).lanes[layout_.lane_at(shown, y)];
  if (find_item(lane) && hit.item->count == 1)
    hit.target = frame_.model->target_of(shown.row, lane.rows(hit.item->entry).front());
  return hit;
}

void TimelineView::select(const Target& target, bool reveal) {
  bool changed = !(overlay_.selection == target);
  overlay_.selection = target;
  if (changed) refresh_links();
  if (reveal && target) scroll_to(target);
  viewport()->update();
  if (changed) emit selection_changed(target);
  announce();
}

/// Updates the links of the selection: launches at once, the others when they are found.
void TimelineView::refresh_links() {
  overlay_.links.clear();
  if (overlay_.selection.kind != Target::Kind::kEvent) return;
  finder_->want();
  overlay_.links = relations() ? relations()->links.of(overlay_.selection.event)
                               : launch_links(*frame_.model->trace, overlay_.selection.event);
  viewport()->update();
}

/// Tells screen readers the selection.
void TimelineView::announce() {
  QString text;
  if (overlay_.selection) {
    text = QString::fromStdString(title_of(*frame_.model, overlay_.selection));
    for (const Detail& detail : describe_briefly(*frame_.model, overlay_.selection)) {
      if (detail.label == "Duration") text += ", " + QString::fromStdString(detail.value);
    }
    if (std::optional<gui::Place> place = frame_.model->find(overlay_.selection);
        place && place->row.valid())
      text += ", " + QString::fromStdString(frame_.model->row(place->row).label);
  }
  if (text == accessibleDescription()) return;
  setAccessibleDescription(text);
  QAccessibleEvent event(this, QAccessible::DescriptionChanged);
  QAccessible::updateAccessibility(&event);
}

/// Unfolds and scrolls so that the target's lane is visible.
void TimelineView::scroll_to(const Target& target) {
  std::optional<gui::Place> place = frame_.model->find(target);
  if (!place || !place->row.valid()) return;
  layout_.reveal(place->row, place->lane);
  arranged();
  frame_.current_row = place->row;
  std::optional<std::size_t> index = layout_.index_of(place->row);
  if (!index) return;
  const RowLayout::Shown& shown = layout_.shown()[*index];
  const int sticky = frame_.sticky_height();
  if (shown.pinned && sticky) return;
  std::int64_t y = layout_.lane_y(shown, place->lane);
  int page = frame_.rows_rect().height();
  int lane = layout_.metrics().lane;
  if (y < frame_.scroll + sticky + lane || y + 2 * lane > frame_.scroll + page)
    set_scroll(y - sticky - (page - sticky) / 3);
}

void TimelineView::select_range(Interval range) {
  overlay_.range = range;
  viewport()->update();
  emit range_changed(range);
}

void TimelineView::show_interval(Interval interval) {
  remember_place();
  set_mapping(TimeMapping(interval, frame_.area_width()));
}

void TimelineView::jump_to(const Target& target, Interval view) {
  show_interval(view);
  select(target, true);
}

void TimelineView::follow(const TimelineView& other, DurationNs later) {
  if (frame_.gutter != other.frame_.gutter) {
    frame_.gutter = other.frame_.gutter;
    rows_changed();
  }
  set_mapping(other.frame_.mapping.shifted(later).resized(frame_.area_width()));
}

void TimelineView::set_origin(TimeNs origin) {
  frame_.origin = origin;
  picture_old_ = true;
  viewport()->update();
}

void TimelineView::remember_place() {
  remember({frame_.mapping, frame_.scroll});
}

void TimelineView::remember(const Place& place) {
  back_.push_back(place);
  if (back_.size() > kMaxHistory) back_.erase(back_.begin());
  forward_.clear();
}

void TimelineView::go_to(const Place& place) {
  set_mapping(place.mapping.resized(frame_.area_width()));
  set_scroll(place.scroll);
}

bool TimelineView::go_through_history(std::vector<Place>& from, std::vector<Place>& to) {
  if (from.empty()) return true;
  to.push_back({frame_.mapping, frame_.scroll});
  Place place = from.back();
  from.pop_back();
  go_to(place);
  return true;
}

void TimelineView::zoom(double factor, double x) {
  set_mapping(frame_.mapping.zoomed(factor, x, frame_.model->bounds));
}

/// Where keys zoom: at the pointer if it is over the rows, else in the middle.
double TimelineView::pointer_in_area() const {
  bool inside = pointer_.x() >= frame_.gutter && pointer_.x() < frame_.size.width();
  return inside ? pointer_.x() - frame_.gutter : frame_.area_width() / 2.0;
}

TimeNs TimelineView::here() const {
  if (overlay_.selection) return frame_.model->interval_of(overlay_.selection).begin;
  return frame_.mapping.time_at(pointer_in_area());
}

void TimelineView::select_and_center(const Target& target) {
  Interval when = frame_.model->interval_of(target);
  double left = frame_.mapping.x_of(when.begin);
  double right = frame_.mapping.x_of(when.end);
  if (left < 0 || right > frame_.area_width()) {
    remember_place();
    double middle = std::min((left + right) / 2, left + frame_.area_width() * 0.4);
    set_mapping(frame_.mapping.panned(middle - frame_.area_width() / 2.0, frame_.model->bounds));
  }
  select(target, true);
}

void TimelineView::select_same_name(bool forward) {
  if (overlay_.selection.kind != Target::Kind::kEvent) return;
  auto next = next_of_same_name(*frame_.model->trace, overlay_.selection.event, forward);
  if (next) select_and_center(Target::of(*next));
}

void TimelineView::select_on_lane(bool forward) {
  std::optional<gui::Place> place = frame_.model->find(overlay_.selection);
  if (!place) {
    // Nothing is selected: takes the first visible event of the row.
    if (!frame_.current_row.valid()) return;
    for (const Lane& lane : frame_.model->row(frame_.current_row).lanes) {
      auto [first, last] = lane.overlapping(frame_.mapping.visible());
      if (first == last) continue;
      std::uint32_t row = lane.rows(forward ? first : last - 1).front();
      return select_and_center(frame_.model->target_of(frame_.current_row, row));
    }
    return;
  }
  const Lane& lane =
      place->row.valid() ? frame_.model->row(place->row).lanes[place->lane] : frame_.model->steps;
  if (forward ? place->entry + 1 >= lane.entries() : place->entry == 0) return;
  std::uint32_t row = lane.rows(forward ? place->entry + 1 : place->entry - 1).front();
  select_and_center(place->row.valid() ? frame_.model->target_of(place->row, row)
                                       : Target::step(row));
}

void TimelineView::clear_one() {
  if (!overlay_.range.empty()) return select_range({});
  if (overlay_.measure) {
    overlay_.measure.clear();
    overlay_.measured_to.reset();
    pointer_is_stale();  // the status line showed the distance
    return viewport()->update();
  }
  if (overlay_.selection) return select({}, false);
  if (predicted_) show_predicted(nullptr);
}

/// Goes from an event to the other end of its link: its launch if it has one, else the nearest.
void TimelineView::follow_link() {
  Target other = linked(*frame_.model, overlay_.selection);
  if (!other && !overlay_.links.empty()) {
    const EventLink& link = overlay_.links.front();
    other = Target::of(link.from == overlay_.selection.event ? link.to : link.from);
  }
  if (other) select_and_center(other);
}

/// Sets a mark at the pointer; without a pointer at the start of the selection, then at its end.
void TimelineView::set_mark() {
  if (pointer_.x() >= frame_.gutter) {
    overlay_.measure.mark(snapped_time(pointer_));
  } else if (overlay_.selection) {
    Interval when = frame_.model->interval_of(overlay_.selection);
    bool second = overlay_.measure.first() && !overlay_.measure.second();
    overlay_.measure.mark(second ? when.end : when.begin);
  } else {
    overlay_.measure.mark(here());
  }
  if (overlay_.measure.second()) overlay_.measured_to.reset();
  viewport()->update();
  if (std::optional<Interval> span = overlay_.measure.span()) {
    QString text = tr("Measured: %1").arg(QString::fromStdString(format_duration(span->length())));
    emit pointed_at(text);
    setAccessibleDescription(text);
    QAccessibleEvent event(this, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&event);
  }
}

void TimelineView::set_hits(std::shared_ptr<const HitMarks> hits) {
  hits_ = std::move(hits);
  frame_.hits = hits_.get();
  if (only_hits_) show_only_hits(true);
  repaint_picture();
}

void TimelineView::show_path(bool show) {
  path_shown_ = show;
  if (show) finder_->want();
  frame_.path = show && relations() ? &relations()->path : nullptr;
  repaint_picture();
}

void TimelineView::set_bookmarks(const std::vector<Bookmark>* bookmarks) {
  overlay_.bookmarks = bookmarks;
  viewport()->update();
}

}  // namespace headway::gui
