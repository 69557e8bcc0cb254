// SPDX-License-Identifier: MIT
#include "gui/timeline/hover_card.h"

#include <QPainter>
#include <algorithm>

namespace headway::gui {
namespace {

constexpr int kPadding = 7;
constexpr int kMaxWidth = 460;

}  // namespace

HoverCard::HoverCard(QWidget* parent) : QWidget(parent) {
  setAttribute(Qt::WA_TransparentForMouseEvents);
  setFocusPolicy(Qt::NoFocus);
  hide();
}

void HoverCard::set_theme(const Theme& theme) {
  theme_ = &theme;
  update();
}

QFont HoverCard::bold() const {
  QFont font = this->font();
  font.setBold(true);
  return font;
}

void HoverCard::show_at(const QPoint& pointer, const QStringList& lines) {
  lines_ = lines;
  if (lines.isEmpty()) return hide();
  QFontMetrics metrics(font());
  int width = std::min(kMaxWidth, QFontMetrics(bold()).horizontalAdvance(lines.front()));
  for (const QString& line : lines.mid(1))
    width = std::max(width, std::min(kMaxWidth, metrics.horizontalAdvance(line)));
  resize(width + 2 * kPadding, static_cast<int>(lines.size()) * metrics.height() + 2 * kPadding);
  QPoint at = pointer + QPoint(14, 16);
  if (at.x() + this->width() > parentWidget()->width()) at.setX(pointer.x() - this->width() - 8);
  if (at.y() + height() > parentWidget()->height()) at.setY(pointer.y() - height() - 8);
  move(std::max(0, at.x()), std::max(0, at.y()));
  raise();
  show();
  update();
}

void HoverCard::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setPen(theme_->border);
  painter.setBrush(theme_->heading);
  painter.drawRect(rect().adjusted(0, 0, -1, -1));
  painter.setPen(theme_->text);
  int y = kPadding;
  for (const QString& line : lines_) {
    painter.setFont(y == kPadding ? bold() : font());
    QFontMetrics metrics = painter.fontMetrics();
    painter.drawText(kPadding, y + metrics.ascent(),
                     metrics.elidedText(line, Qt::ElideRight, width() - 2 * kPadding));
    y += metrics.height();
  }
}

}  // namespace headway::gui
