// SPDX-License-Identifier: MIT
#include "gui/pages/help_overlay.h"

#include <QEvent>
#include <QKeyEvent>
#include <QPainter>
#include <algorithm>
#include <vector>

#include "gui/models/pages.h"
#include "gui/models/shortcuts.h"
#include "gui/timeline/frame.h"
#include "gui/timeline/key_bindings.h"

namespace headway::gui {
namespace {

struct Line {
  QString left;
  QString right;  ///< empty: a heading
};

QString text(std::string_view view) {
  return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size()));
}

std::vector<std::vector<Line>> blocks() {
  std::vector<std::vector<Line>> result;
  std::string_view group;
  for (const Shortcut& one : shortcuts()) {
    if (one.group != group) {
      result.push_back({{text(one.group), {}}});
      group = one.group;
    }
    result.back().push_back({keys_text(one.command), text(one.text)});
  }
  result.push_back({{QObject::tr("Pages"), {}}});
  for (const PageInfo& page : pages())
    result.back().push_back({keys_text(page.keys), text(page.text)});
  result.push_back({{QObject::tr("Mouse, on the timeline"), {}}});
  for (const MouseAction& action : mouse_actions())
    result.back().push_back({text(action.gesture), text(action.text)});
  return result;
}

/// Of the widest keys of a block.
int keys_width(const std::vector<Line>& block, const QFont& bold) {
  int width = 0;
  for (const Line& one : block)
    if (!one.right.isEmpty())
      width = std::max(width, QFontMetrics(bold).horizontalAdvance(one.left));
  return width;
}

}  // namespace

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

void HelpOverlay::keyPressEvent(QKeyEvent*) {
  hide();
}

void HelpOverlay::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), QColor(0, 0, 0, 120));
  const std::vector<std::vector<Line>> all = blocks();
  // As few columns as fit the height; blocks stay whole: each goes to the shortest column.
  std::vector<std::vector<const std::vector<Line>*>> spread;
  auto arrange = [&](std::size_t count) {
    spread.assign(count, {});
    std::vector<int> filled(count, 0);
    for (const auto& block : all) {
      auto shortest = std::min_element(filled.begin(), filled.end()) - filled.begin();
      spread[static_cast<std::size_t>(shortest)].push_back(&block);
      filled[static_cast<std::size_t>(shortest)] += static_cast<int>(block.size()) + 1;
    }
    return *std::max_element(filled.begin(), filled.end());
  };
  const int room = std::max(1, height() - 46);
  QFont plain = font();
  QFont bold = plain;
  bold.setBold(true);
  int line = fontMetrics().height() + 3;
  int natural = 0;  // the width that the longest line needs
  for (const auto& block : all) {
    for (const Line& one : block)
      natural = std::max(
          natural, keys_width(block, bold) + 44 + QFontMetrics(plain).horizontalAdvance(one.right));
  }
  std::size_t count = 1;
  while (count < 3 && arrange(count) * line > room) ++count;
  if (arrange(count) * line > room || natural * static_cast<int>(count) > width() - 32) {
    // A small window: smaller letters, and two columns if they then fit.
    plain = label_font(plain);
    bold = plain;
    bold.setBold(true);
    line = QFontMetrics(plain).height();
    count = arrange(2) * line <= room ? 2 : 3;
  }
  const int tallest = arrange(count);
  const int columns = static_cast<int>(count);
  const int column_width = std::min(natural, (width() - 32) / columns);
  QRect card(0, 0, columns * column_width + 20, tallest * line + 34);
  card.moveCenter(rect().center());
  card.moveTop(std::max(6, card.top()));
  painter.setPen(theme_->border);
  painter.setBrush(theme_->base);
  painter.drawRect(card);
  for (int c = 0; c < columns; ++c) {
    int x = card.left() + 20 + c * column_width;
    int y = card.top() + 20;
    for (const std::vector<Line>* block : spread[static_cast<std::size_t>(c)]) {
      const int keys = keys_width(*block, bold);
      const int words = std::max(20, column_width - keys - 36);
      for (const Line& one : *block) {
        bool heading = one.right.isEmpty();
        painter.setFont(bold);
        painter.setPen(heading ? theme_->accent : theme_->text);
        painter.drawText(QRect(x, y, keys + words, line), Qt::AlignLeft | Qt::AlignVCenter,
                         one.left);
        painter.setFont(plain);
        painter.drawText(QRect(x + keys + 16, y, words + 4, line), Qt::AlignLeft | Qt::AlignVCenter,
                         QFontMetrics(plain).elidedText(one.right, Qt::ElideRight, words + 4));
        y += line;
      }
      y += line;
    }
  }
}

}  // namespace headway::gui
