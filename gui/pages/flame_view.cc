// SPDX-License-Identifier: MIT
#include "gui/pages/flame_view.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "common/format.h"
#include "gui/models/details/source_place.h"

namespace headway::gui {
namespace {

constexpr int kLeastLabel = 24;

}  // namespace

FlameView::FlameView(QWidget* parent) : QWidget(parent), card_(new HoverCard(this)) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Flame graph"));
}

void FlameView::set_graph(std::shared_ptr<const FlameGraph> graph) {
  graph_ = std::move(graph);
  focus_ = current_ = 0;
  arrange();
}

void FlameView::set_theme(const Theme& theme) {
  theme_ = &theme;
  card_->set_theme(theme);
  update();
}

void FlameView::set_search(const QString& needle) {
  search_ = needle.toStdString();
  update();
}

void FlameView::zoom_to(std::uint32_t node) {
  if (!graph_ || node >= graph_->nodes.size()) return;
  focus_ = node;
  arrange();
  set_current(node);
  emit zoomed(node);
}

void FlameView::arrange() {
  card_->hide();
  boxes_ = graph_ ? layout_flames(*graph_, focus_, width()) : std::vector<FlameBox>();
  updateGeometry();
  update();
}

QSize FlameView::sizeHint() const {
  int rows = 1;
  for (const FlameBox& box : boxes_) rows = std::max(rows, box.row + 1);
  return {640, rows * row_height() + 2};
}

QSize FlameView::minimumSizeHint() const {
  return {200, sizeHint().height()};
}

QRect FlameView::rect_of(const FlameBox& box) const {
  int left = static_cast<int>(std::lround(box.x));
  int right = static_cast<int>(std::lround(box.x + box.width));
  int gap = right - left > 3 ? 1 : 0;
  return {left, box.row * row_height(), std::max(1, right - left - gap), row_height() - 1};
}

void FlameView::resizeEvent(QResizeEvent*) {
  arrange();
}

void FlameView::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  painter.fillRect(event->rect(), theme_->base);
  if (!graph_) return;
  for (const FlameBox& box : boxes_) {
    QRect rect = rect_of(box);
    if (!rect.intersects(event->rect())) continue;
    const FlameNode& node = graph_->nodes[box.node];
    QRgb fill = box.merged > 1 ? theme_->grid.rgb()
                : click_follows_ && Theme::hatch(node.color) == Hatch::kNone
                    ? theme_->shade(node.color, node.shade)
                    : theme_->color(node.color).rgb();
    QRgb text = box.merged > 1 ? theme_->dim_text.rgb()
                               : theme_->role_text[static_cast<std::size_t>(node.color)];
    bool above_focus = node.depth < graph_->nodes[focus_].depth;
    bool dull = above_focus || (!search_.empty() && !matches_name(node.name, search_));
    if (dull) {
      fill = blend(fill, theme_->base.rgb(), 0.72);
      text = theme_->dim_text.rgb();
    }
    painter.fillRect(rect, QColor::fromRgb(fill));
    if (box.node == current_ && hasFocus()) {
      painter.setPen(QPen(theme_->accent, 2));
      painter.drawRect(rect.adjusted(1, 1, -1, -1));
    }
    if (rect.width() < kLeastLabel) continue;
    QString label =
        box.merged > 1 ? tr("%1 more").arg(box.merged) : QString::fromStdString(node.name);
    painter.setPen(QColor::fromRgb(text));
    painter.drawText(rect.adjusted(4, 0, -2, 0), Qt::AlignLeft | Qt::AlignVCenter,
                     fontMetrics().elidedText(label, Qt::ElideRight, rect.width() - 6));
  }
}

const FlameBox* FlameView::box_at(const QPoint& point) const {
  for (const FlameBox& box : boxes_) {
    if (rect_of(box).contains(point)) return &box;
  }
  return nullptr;
}

QStringList FlameView::describe(const FlameBox& box) const {
  const FlameNode& node = graph_->nodes[box.node];
  if (box.merged > 1) return {tr("%1 stacks too narrow to separate").arg(box.merged)};
  auto time = [](DurationNs t) { return QString::fromStdString(format_duration(t)); };
  auto share = [](double s) { return QString::fromStdString(format_percent(s)); };
  QStringList lines{QString::fromStdString(node.name)};
  DurationNs all = graph_->nodes[0].total;
  QString total =
      tr("%1 in all · %2 of everything").arg(time(node.total), share(ratio(node.total, all)));
  if (graph_->steps) total += tr(" · %1 a step").arg(time(node.total / graph_->steps));
  lines << total;
  if (box.node != 0 && node.parent != 0)
    lines << tr("%1 of %2")
                 .arg(share(ratio(node.total, graph_->nodes[node.parent].total)),
                      QString::fromStdString(graph_->nodes[node.parent].name));
  if (node.self.ns > 0 && node.self < node.total)
    lines << tr("%1 in no part below").arg(time(node.self));
  if (node.count > 0)
    lines << tr("%1 events, the longest %2")
                 .arg(QString::fromStdString(format_count(node.count)),
                      time(std::max(node.longest_duration, DurationNs{})));
  lines << (click_follows_ ? tr("Click: the longest on the timeline · Ctrl+click: zoom")
                           : tr("Click: zoom · Ctrl+click: the longest on the timeline"));
  return lines;
}

void FlameView::mouseMoveEvent(QMouseEvent* event) {
  QPoint at = event->position().toPoint();
  const FlameBox* box = box_at(at);
  setCursor(box ? Qt::PointingHandCursor : Qt::ArrowCursor);
  if (box) {
    card_->show_at(at, describe(*box));
  } else {
    card_->hide();
  }
}

void FlameView::leaveEvent(QEvent*) {
  card_->hide();
}

void FlameView::mouseReleaseEvent(QMouseEvent* event) {
  const FlameBox* box = box_at(event->position().toPoint());
  if (!box || event->button() != Qt::LeftButton) return;
  const std::uint32_t node = box->node;
  if (box->merged > 1) return zoom_to(graph_->nodes[node].parent);
  if (click_follows_) set_current(node);
  act_on(node, event->modifiers() & Qt::ControlModifier);
}

void FlameView::act_on(std::uint32_t node, bool control) {
  if (control == click_follows_) return zoom_to(node);
  if (const Target longest = graph_->nodes[node].longest; longest) emit followed(longest);
}

void FlameView::contextMenuEvent(QContextMenuEvent* event) {
  const FlameBox* box = box_at(event->pos());
  if (!box) return;
  const std::uint32_t index = box->node;
  const FlameNode& node = graph_->nodes[index];
  QMenu menu;
  menu.addAction(tr("Show the longest on the &timeline"), this,
                 [this, target = node.longest] { emit followed(target); })
      ->setEnabled(static_cast<bool>(node.longest));
  menu.addAction(tr("&Zoom to this stack"), this, [this, index] { zoom_to(index); });
  if (const auto place = source_place(node.name); place && node.longest)
    menu.addAction(tr("Open %1 in the &editor").arg(QString::fromStdString(source_text(*place))),
                   this, [this, target = node.longest] { emit source_wanted(target); });
  menu.addAction(tr("Zoom &out"), this, [this] { zoom_to(0); })->setEnabled(focus_ != 0);
  menu.addSeparator();
  menu.addAction(tr("&Copy the name"), this, [name = QString::fromStdString(node.name)] {
    QGuiApplication::clipboard()->setText(name);
  });
  menu.exec(event->globalPos());
}

void FlameView::set_current(std::uint32_t node) {
  current_ = node;
  auto box = std::find_if(boxes_.begin(), boxes_.end(),
                          [&](const FlameBox& one) { return one.node == node && one.merged == 1; });
  if (box != boxes_.end()) {
    setAccessibleDescription(describe(*box).join(QStringLiteral(", ")));
    emit moved(rect_of(*box));
  }
  update();
}

void FlameView::step_sideways(int by) {
  if (current_ == 0) return;
  std::uint32_t parent = graph_->nodes[current_].parent;
  auto begin = graph_->children.begin() + graph_->first_child[parent];
  auto end = graph_->children.begin() + graph_->first_child[parent + 1];
  auto here = std::find(begin, end, current_);
  if ((by < 0 && here == begin) || (by > 0 && here + 1 >= end)) return;
  set_current(*(here + by));
}

void FlameView::keyPressEvent(QKeyEvent* event) {
  if (!graph_) return QWidget::keyPressEvent(event);
  switch (event->key()) {
    case Qt::Key_Up:
      return set_current(graph_->nodes[current_].parent);
    case Qt::Key_Down:
      if (graph_->first_child[current_] < graph_->first_child[current_ + 1])
        set_current(graph_->children[graph_->first_child[current_]]);
      return;
    case Qt::Key_Left:
      return step_sideways(-1);
    case Qt::Key_Right:
      return step_sideways(1);
    case Qt::Key_Return:
    case Qt::Key_Enter:
      return act_on(current_, event->modifiers() & Qt::ControlModifier);
    case Qt::Key_Backspace:
    case Qt::Key_Escape:
      if (focus_ == 0) return QWidget::keyPressEvent(event);
      return zoom_to(graph_->nodes[focus_].parent);
    default:
      QWidget::keyPressEvent(event);
  }
}

}  // namespace headway::gui
