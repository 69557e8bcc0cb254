// SPDX-License-Identifier: MIT
#include "gui/pages/labels.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QTextLayout>
#include <algorithm>
#include <cmath>

#include "common/format.h"

namespace headway::gui {
namespace {

constexpr int kLeastWidth = 40;
constexpr int kWishedWidth = 420;

}  // namespace

WrapLabel::WrapLabel(const QString& text, QWidget* parent) : QLabel(parent) {
  setTextFormat(Qt::PlainText);
  setWordWrap(true);  // makes the height follow the width
  setAlignment(Qt::AlignLeft | Qt::AlignTop);
  setText(text);
}

void WrapLabel::set_single_line(bool single) {
  single_ = single;
  setWordWrap(!single);
  setAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  setSizePolicy(single ? QSizePolicy::Ignored : QSizePolicy::Preferred, QSizePolicy::Preferred);
}

void WrapLabel::set_dim(bool dim) {
  dim_ = dim;
  update();
}

/// Lays out the text, calls `visit(layout, line)` for each line, and returns the height of all
/// lines.
template <class Visit>
int WrapLabel::for_each_line(int width, Visit visit) const {
  QMargins margins = contentsMargins();
  double room = std::max(1, width - margins.left() - margins.right());
  double height = 0;
  for (const QString& paragraph : text().split('\n')) {
    const std::string kept = keep_units(paragraph.toStdString());
    QTextLayout layout(QString::fromStdString(kept), font());
    QTextOption option;
    option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    layout.setTextOption(option);
    layout.beginLayout();
    for (QTextLine line = layout.createLine(); line.isValid(); line = layout.createLine()) {
      line.setLineWidth(room);
      line.setPosition({0, height});
      height += line.height();
    }
    layout.endLayout();
    visit(layout);
  }
  return static_cast<int>(std::ceil(height)) + margins.top() + margins.bottom();
}

int WrapLabel::heightForWidth(int width) const {
  if (single_) return sizeHint().height();
  return for_each_line(width, [](const QTextLayout&) {});
}

QSize WrapLabel::sizeHint() const {
  QMargins margins = contentsMargins();
  QFontMetrics metrics(font());
  int widest = 0;
  for (const QString& line : text().split('\n'))
    widest = std::max(widest, metrics.horizontalAdvance(line));
  int width =
      std::min(widest + 2, single_ ? widest + 2 : kWishedWidth) + margins.left() + margins.right();
  int height =
      single_ ? metrics.height() + margins.top() + margins.bottom() : heightForWidth(width);
  return {width, height};
}

QSize WrapLabel::minimumSizeHint() const {
  // A single line keeps its full height, even if there is little room.
  return {kLeastWidth, single_ ? sizeHint().height() : QFontMetrics(font()).height()};
}

void WrapLabel::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  QPalette::ColorRole role = dim_ ? QPalette::PlaceholderText : foregroundRole();
  painter.setPen(palette().color(role));
  QRect room = contentsRect();
  if (single_) {
    painter.drawText(room, static_cast<int>(alignment()),
                     fontMetrics().elidedText(text(), Qt::ElideRight, room.width()));
    return;
  }
  int height = heightForWidth(width());
  int top = room.top();
  if (alignment() & Qt::AlignVCenter) top += std::max(0, (this->height() - height) / 2);
  for_each_line(width(), [&](const QTextLayout& layout) {
    for (int i = 0; i < layout.lineCount(); ++i) {
      QTextLine line = layout.lineAt(i);
      double x = room.left();
      if (alignment() & Qt::AlignHCenter) x += (room.width() - line.naturalTextWidth()) / 2;
      line.draw(&painter, {x - line.x(), static_cast<double>(top)});
    }
  });
}

void WrapLabel::contextMenuEvent(QContextMenuEvent* event) {
  QMenu menu;
  menu.addAction(tr("&Copy"), this, [this] { QGuiApplication::clipboard()->setText(text()); });
  menu.exec(event->globalPos());
}

WrapLabel* plain_label(const QString& text, QWidget* parent) {
  return new WrapLabel(text, parent);
}

WrapLabel* dim_label(const QString& text, QWidget* parent) {
  WrapLabel* label = new WrapLabel(text, parent);
  label->set_dim(true);
  return label;
}

WrapLabel* heading_label(const QString& text, qreal points, QWidget* parent) {
  WrapLabel* label = new WrapLabel(text, parent);
  QFont font = label->font();
  font.setPointSizeF(font.pointSizeF() + points);
  font.setBold(true);
  label->setFont(font);
  return label;
}

LinkLabel::LinkLabel(const QString& text, QWidget* parent) : WrapLabel(text, parent) {
  setForegroundRole(QPalette::Link);
  setFocusPolicy(Qt::TabFocus);
  setCursor(Qt::PointingHandCursor);
}

void LinkLabel::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton && rect().contains(event->position().toPoint()))
    emit followed();
}

void LinkLabel::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter ||
      event->key() == Qt::Key_Space) {
    emit followed();
  } else {
    WrapLabel::keyPressEvent(event);
  }
}

void LinkLabel::focusInEvent(QFocusEvent* event) {
  WrapLabel::focusInEvent(event);
  update();
}

void LinkLabel::focusOutEvent(QFocusEvent* event) {
  WrapLabel::focusOutEvent(event);
  update();
}

void LinkLabel::paintEvent(QPaintEvent* event) {
  WrapLabel::paintEvent(event);
  if (!hasFocus()) return;
  QPainter painter(this);
  painter.setPen(palette().color(QPalette::Link));
  painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

}  // namespace headway::gui
