// SPDX-License-Identifier: MIT
#include "gui/pages/stacked_bars_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "common/format.h"

namespace headway::gui {
namespace {

constexpr int kMargin = 12;
constexpr int kSwatch = 11;
constexpr int kMostNames = 260;

QString text(const std::string& s) {
  return QString::fromStdString(s);
}

}  // namespace

StackedBarsView::StackedBarsView(QWidget* parent) : QWidget(parent), card_(new HoverCard(this)) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Minimum);
  setSizePolicy(policy);
}

void StackedBarsView::set_bars(StackedBars bars) {
  bars_ = std::move(bars);
  current_.reset();
  card_->hide();
  setAccessibleName(text(bars_.title));
  QStringList words;
  for (const StackedBar& bar : bars_.bars)
    words << QStringLiteral("%1 %2").arg(text(bar.label), text(format_duration(bar.total())));
  setAccessibleDescription(words.join(QStringLiteral(", ")));
  updateGeometry();
  update();
}

void StackedBarsView::set_theme(const Theme& theme) {
  theme_ = &theme;
  card_->set_theme(theme);
  update();
}

int StackedBarsView::names_width() const {
  int widest = 60;
  for (const StackedBar& bar : bars_.bars)
    widest = std::max({widest, fontMetrics().horizontalAdvance(text(bar.label))});
  return std::min(kMostNames, widest) + 14;
}

QRect StackedBarsView::plot() const {
  int values = fontMetrics().horizontalAdvance(QStringLiteral("000.0 ms")) + 10;
  int top = fontMetrics().height() + 12;
  return {kMargin + names_width(), top,
          std::max(40, width() - 2 * kMargin - names_width() - values),
          static_cast<int>(bars_.bars.size()) * pitch()};
}

int StackedBarsView::legend(QPainter* painter, int top, int width) const {
  const int line = fontMetrics().height() + 4;
  int x = kMargin;
  int y = top;
  for (const StackedBars::Key& key : bars_.legend) {
    int needed = kSwatch + 5 + fontMetrics().horizontalAdvance(text(key.label));
    if (x > kMargin && x + needed > width - kMargin) {
      x = kMargin;
      y += line;
    }
    if (painter) {
      QRect swatch(x, y + (line - kSwatch) / 2, kSwatch, kSwatch);
      if (key.hollow) {
        painter->setPen(theme_->border);
        painter->drawRect(swatch.adjusted(0, 0, -1, -1));
      } else {
        painter->fillRect(swatch, theme_->brush(key.color));
      }
      painter->setPen(theme_->text);
      painter->drawText(QRect(x + kSwatch + 5, y, needed, line), Qt::AlignLeft | Qt::AlignVCenter,
                        text(key.label));
    }
    x += needed + 16;
  }
  return bars_.legend.empty() ? 0 : y + line - top;
}

QSize StackedBarsView::sizeHint() const {
  QRect area = plot();
  return {560, area.bottom() + 8 + legend(nullptr, 0, std::max(width(), 320)) + 10};
}

void StackedBarsView::resizeEvent(QResizeEvent*) {
  updateGeometry();  // the legend may need another line
}

QRect StackedBarsView::rect_of(std::size_t bar, std::size_t part) const {
  QRect area = plot();
  double scale = area.width() / std::max(1.0, static_cast<double>(bars_.longest().ns));
  DurationNs begin;
  const std::vector<BarPart>& parts = bars_.bars[bar].parts;
  for (std::size_t p = 0; p < part; ++p) begin += parts[p].length;
  int left = static_cast<int>(std::lround(static_cast<double>(begin.ns) * scale));
  int right =
      static_cast<int>(std::lround(static_cast<double>((begin + parts[part].length).ns) * scale));
  return {area.left() + left, area.top() + static_cast<int>(bar) * pitch(), right - left,
          bar_height()};
}

void StackedBarsView::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  painter.fillRect(event->rect(), theme_->base);
  if (bars_.bars.empty()) return;
  QRect area = plot();
  QFont bold = font();
  bold.setBold(true);
  painter.setFont(bold);
  painter.setPen(theme_->text);
  painter.drawText(
      QRect(kMargin, 4, width() - 2 * kMargin, fontMetrics().height()), Qt::AlignLeft,
      QFontMetrics(bold).elidedText(text(bars_.title), Qt::ElideRight, width() - 2 * kMargin));
  painter.setFont(font());
  for (std::size_t b = 0; b < bars_.bars.size(); ++b) {
    const StackedBar& bar = bars_.bars[b];
    int top = area.top() + static_cast<int>(b) * pitch();
    if (!event->rect().intersects(QRect(0, top, width(), pitch()))) continue;
    painter.setPen(theme_->text);
    painter.drawText(
        QRect(kMargin, top, names_width() - 8, bar_height()), Qt::AlignLeft | Qt::AlignVCenter,
        fontMetrics().elidedText(text(bar.label), Qt::ElideMiddle, names_width() - 10));
    for (std::size_t p = 0; p < bar.parts.size(); ++p) {
      QRect rect = rect_of(b, p);
      if (rect.width() <= 0) continue;
      const StackedBars::Key& key = bars_.legend[bar.parts[p].key];
      if (key.hollow) {
        painter.setPen(theme_->border);
        painter.drawRect(rect.adjusted(0, 0, -1, -1));
      } else {
        painter.fillRect(rect, theme_->brush(key.color));
      }
      if (current_ && current_->bar == b && current_->part == p && hasFocus()) {
        painter.setPen(QPen(theme_->accent, 2));
        painter.drawRect(rect.adjusted(1, 1, -1, -1));
      }
    }
    painter.setPen(theme_->dim_text);
    painter.drawText(QRect(area.right() + 4, top, width() - area.right() - kMargin, bar_height()),
                     Qt::AlignRight | Qt::AlignVCenter, text(format_duration(bar.total())));
  }
  legend(&painter, area.bottom() + 8, width());
}

std::optional<StackedBarsView::Hit> StackedBarsView::hit(const QPoint& point) const {
  for (std::size_t b = 0; b < bars_.bars.size(); ++b) {
    for (std::size_t p = 0; p < bars_.bars[b].parts.size(); ++p) {
      if (rect_of(b, p).contains(point)) return Hit{b, p};
    }
  }
  return std::nullopt;
}

QStringList StackedBarsView::describe(const Hit& at) const {
  const StackedBar& bar = bars_.bars[at.bar];
  const BarPart& part = bar.parts[at.part];
  const StackedBars::Key& key = bars_.legend[part.key];
  QStringList lines{tr("%1: %2 · %3")
                        .arg(text(key.label), text(format_duration(part.length)),
                             text(format_percent(ratio(part.length, bar.total()))))};
  lines << (bar.detail.empty() ? text(bar.label)
                               : QStringLiteral("%1 · %2").arg(text(bar.label), text(bar.detail)));
  if (!key.doc.empty()) lines << text(key.doc);
  if (part.target) lines << tr("Click to see the longest on the timeline");
  return lines;
}

void StackedBarsView::mouseMoveEvent(QMouseEvent* event) {
  QPoint at = event->position().toPoint();
  std::optional<Hit> under = hit(at);
  if (!under) return card_->hide();
  card_->show_at(at, describe(*under));
}

void StackedBarsView::leaveEvent(QEvent*) {
  card_->hide();
}

void StackedBarsView::mouseReleaseEvent(QMouseEvent* event) {
  std::optional<Hit> under = hit(event->position().toPoint());
  if (!under || event->button() != Qt::LeftButton) return;
  set_current(*under);
  if (const Target& target = bars_.bars[under->bar].parts[under->part].target)
    emit followed(target);
}

void StackedBarsView::set_current(Hit at) {
  at.bar = std::min(at.bar, bars_.bars.size() - 1);
  if (bars_.bars[at.bar].parts.empty()) return;
  at.part = std::min(at.part, bars_.bars[at.bar].parts.size() - 1);
  current_ = at;
  setAccessibleDescription(describe(at).join(QStringLiteral(", ")));
  update();
}

void StackedBarsView::keyPressEvent(QKeyEvent* event) {
  if (bars_.bars.empty()) return QWidget::keyPressEvent(event);
  Hit at = current_.value_or(Hit{});
  switch (event->key()) {
    case Qt::Key_Up:
      return set_current({at.bar ? at.bar - 1 : 0, at.part});
    case Qt::Key_Down:
      return set_current({at.bar + (current_ ? 1 : 0), at.part});
    case Qt::Key_Left:
      return set_current({at.bar, at.part ? at.part - 1 : 0});
    case Qt::Key_Right:
      return set_current({at.bar, at.part + (current_ ? 1 : 0)});
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (current_ && bars_.bars[at.bar].parts[at.part].target)
        emit followed(bars_.bars[at.bar].parts[at.part].target);
      return;
    default:
      QWidget::keyPressEvent(event);
  }
}

}  // namespace headway::gui
