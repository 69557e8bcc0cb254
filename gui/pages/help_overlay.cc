// SPDX-License-Identifier: MIT
#include "gui/pages/help_overlay.h"

#include <QEvent>
#include <QKeyEvent>
#include <QPainter>
#include <algorithm>
#include <climits>
#include <vector>

#include "gui/models/window/pages.h"
#include "gui/models/window/shortcuts.h"
#include "gui/timeline/frame.h"
#include "gui/timeline/key_bindings.h"

namespace headway::gui {
namespace {

QString text(std::string_view view) {
  return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size()));
}

std::vector<HelpBlock> blocks() {
  std::vector<HelpBlock> result;
  std::string_view group;
  for (const Shortcut& one : shortcuts()) {
    if (one.group != group) {
      result.push_back({{{text(one.group), {}}}});
      group = one.group;
    }
    result.back().lines.push_back({keys_text(one.command), text(one.text)});
  }
  result.push_back({{{QObject::tr("Pages"), {}}}});
  for (const PageInfo& page : pages())
    result.back().lines.push_back({keys_text(page.keys), text(page.text)});
  result.push_back({{{QObject::tr("Mouse, on the timeline"), {}}}});
  for (const MouseAction& action : mouse_actions())
    result.back().lines.push_back({text(action.gesture), text(action.text)});
  return result;
}

int wrapped_height(const QFontMetrics& metrics, const QString& words, int width) {
  return metrics.boundingRect(QRect(0, 0, width, 10'000), Qt::TextWordWrap, words).height();
}

/// Lays out a block in a column: keys at the left, wrapped text beside them. Returns its height.
int fit(HelpBlock& block, const QFont& plain, const QFont& bold, int column_width) {
  const QFontMetrics words(plain);
  const QFontMetrics keys(bold);
  const int line = words.height() + 2;
  block.keys = 0;
  for (const HelpLine& one : block.lines)
    if (!one.right.isEmpty()) block.keys = std::max(block.keys, keys.horizontalAdvance(one.left));
  block.keys = std::min(block.keys, column_width * 2 / 5);
  block.words = std::max(20, column_width - block.keys - 24);
  int height = 0;
  for (HelpLine& one : block.lines) {
    const int tall = one.right.isEmpty() ? keys.height()
                                         : std::max(wrapped_height(keys, one.left, block.keys),
                                                    wrapped_height(words, one.right, block.words));
    one.height = std::max(line, tall);
    height += one.height;
  }
  return height + line;
}

/// The column of each block that makes the tallest column as low as possible, for `count` columns.
/// Tries all combinations; with six blocks they are few.
std::vector<std::size_t> spread(const std::vector<int>& heights, std::size_t count) {
  std::size_t ways = 1;
  for (std::size_t i = 0; i < heights.size(); ++i) ways *= count;
  std::vector<std::size_t> best(heights.size());
  int lowest = INT_MAX;
  for (std::size_t way = 0; way < ways; ++way) {
    std::vector<int> filled(count, 0);
    std::vector<std::size_t> columns;
    std::size_t rest = way;
    for (const int height : heights) {
      filled[rest % count] += height;
      columns.push_back(rest % count);
      rest /= count;
    }
    const int tallest = *std::ranges::max_element(filled);
    if (tallest >= lowest) continue;
    lowest = tallest;
    best = std::move(columns);
  }
  return best;
}

/// Lays out the blocks in `count` columns; blocks are not split.
HelpLayout in_columns(std::size_t count, const QFont& plain, int natural, QSize room) {
  HelpLayout layout;
  layout.font = plain;
  layout.line = QFontMetrics(plain).height() + 2;
  layout.column_width = std::min(natural, (room.width() - 32) / static_cast<int>(count));
  layout.columns.resize(count);
  QFont bold = plain;
  bold.setBold(true);
  std::vector<HelpBlock> all = blocks();
  std::vector<int> heights;
  for (HelpBlock& block : all) heights.push_back(fit(block, plain, bold, layout.column_width));
  const std::vector<std::size_t> columns = spread(heights, count);
  std::vector<int> filled(count, 0);
  for (std::size_t i = 0; i < all.size(); ++i) {
    filled[columns[i]] += heights[i];
    layout.columns[columns[i]].push_back(std::move(all[i]));
  }
  layout.height = *std::ranges::max_element(filled) - layout.line;
  return layout;
}

/// The column width at which no text wraps.
int natural_width(const QFont& plain) {
  QFont bold = plain;
  bold.setBold(true);
  int width = 0;
  for (const HelpBlock& block : blocks()) {
    int keys = 0;
    int words = 0;
    for (const HelpLine& one : block.lines) {
      if (one.right.isEmpty()) continue;
      keys = std::max(keys, QFontMetrics(bold).horizontalAdvance(one.left));
      words = std::max(words, QFontMetrics(plain).horizontalAdvance(one.right));
    }
    width = std::max(width, std::max(keys + words, keys * 5 / 2) + 44);
  }
  return width;
}

}  // namespace

HelpLayout lay_out(const QFont& font, QSize room) {
  const int height = room.height() - 46;
  HelpLayout layout;
  for (const QFont& plain : {font, label_font(font)}) {
    const int natural = natural_width(plain);
    for (std::size_t count = 1; count <= 3; ++count) {
      layout = in_columns(count, plain, natural, room);
      if (layout.height <= height) return layout;
    }
  }
  return layout;
}

HelpOverlay::HelpOverlay(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Keys and gestures"));
  parent->installEventFilter(this);
  hide();
}

void HelpOverlay::set_theme(const Theme& theme) {
  theme_ = &theme;
  update();
}

void HelpOverlay::toggle() {
  if (isVisible()) return hide();
  setGeometry(parentWidget()->rect());
  focused_ = window()->focusWidget();
  raise();
  show();
  setFocus();
}

void HelpOverlay::hideEvent(QHideEvent*) {
  if (focused_ && focused_ != this) focused_->setFocus();
  focused_ = nullptr;
}

bool HelpOverlay::eventFilter(QObject*, QEvent* event) {
  if (event->type() == QEvent::Resize) setGeometry(parentWidget()->rect());
  return false;
}

void HelpOverlay::mouseReleaseEvent(QMouseEvent*) {
  hide();
}

/// Any key closes the help, except the Shift of a second "?".
void HelpOverlay::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Shift:
    case Qt::Key_Control:
    case Qt::Key_Alt:
    case Qt::Key_AltGr:
    case Qt::Key_Meta:
      return event->ignore();
    default:
      hide();
  }
}

void HelpOverlay::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), QColor(0, 0, 0, 120));
  const HelpLayout layout = lay_out(font(), size());
  QFont bold = layout.font;
  bold.setBold(true);
  const int columns = static_cast<int>(layout.columns.size());
  QRect card(0, 0, columns * layout.column_width + 20, layout.height + 34);
  card.moveCenter(rect().center());
  card.moveTop(std::max(6, card.top()));
  painter.setPen(theme_->border);
  painter.setBrush(theme_->base);
  painter.drawRect(card);
  int x = card.left() + 20;
  for (const std::vector<HelpBlock>& column : layout.columns) {
    int y = card.top() + 20;
    for (const HelpBlock& block : column) {
      for (const HelpLine& one : block.lines) {
        const bool heading = one.right.isEmpty();
        painter.setFont(bold);
        painter.setPen(heading ? theme_->accent : theme_->text);
        constexpr int kHow = Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap;
        painter.drawText(QRect(x, y, heading ? block.keys + block.words : block.keys, one.height),
                         kHow, one.left);
        painter.setFont(layout.font);
        painter.drawText(QRect(x + block.keys + 10, y, block.words, one.height), kHow, one.right);
        y += one.height;
      }
      y += layout.line;
    }
    x += layout.column_width;
  }
}

}  // namespace headway::gui
