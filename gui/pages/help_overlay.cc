// SPDX-License-Identifier: MIT
#include "gui/pages/help_overlay.h"

#include <QEvent>
#include <QKeyEvent>
#include <QPainter>
#include <algorithm>
#include <vector>

#include "gui/models/pages.h"
#include "gui/models/shortcuts.h"
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
  raise();
  show();
  setFocus();
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
  QFont bold = font();
  bold.setBold(true);
  std::vector<std::vector<Line>> all = blocks();
  int keys = 0;
  int words = 0;
  for (const auto& block : all) {
    for (const Line& one : block) {
      if (one.right.isEmpty()) continue;
      keys = std::max(keys, QFontMetrics(bold).horizontalAdvance(one.left));
      words = std::max(words, fontMetrics().horizontalAdvance(one.right));
    }
  }
  // As few columns as fit the height; blocks stay whole: each goes to the shortest column.
  std::vector<std::vector<const std::vector<Line>*>> spread;
  std::vector<int> filled;
  auto arrange = [&](std::size_t count) {
    spread.assign(count, {});
    filled.assign(count, 0);
    for (const auto& block : all) {
      auto shortest = std::min_element(filled.begin(), filled.end()) - filled.begin();
      spread[static_cast<std::size_t>(shortest)].push_back(&block);
      filled[static_cast<std::size_t>(shortest)] += static_cast<int>(block.size()) + 1;
    }
    return *std::max_element(filled.begin(), filled.end());
  };
  constexpr std::size_t kMostColumns = 3;
  const int room = std::max(1, height() - 46);
  std::size_t count = 1;
  while (count < kMostColumns && arrange(count) * (fontMetrics().height() + 3) > room) ++count;
  const int tallest = arrange(count);
  const int columns = static_cast<int>(count);
  const int line = std::clamp(room / std::max(1, tallest), fontMetrics().height() - 1,
                              fontMetrics().height() + 3);
  const int column_width = std::min(keys + words + 44, (width() - 32) / columns);
  words = std::max(20, column_width - keys - 40);
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
      for (const Line& one : *block) {
        bool heading = one.right.isEmpty();
        painter.setFont(bold);
        painter.setPen(heading ? theme_->accent : theme_->text);
        painter.drawText(QRect(x, y, keys + words + 20, line), Qt::AlignLeft | Qt::AlignVCenter,
                         one.left);
        painter.setFont(font());
        painter.drawText(QRect(x + keys + 16, y, words + 4, line), Qt::AlignLeft | Qt::AlignVCenter,
                         fontMetrics().elidedText(one.right, Qt::ElideRight, words + 4));
        y += line;
      }
      y += line;
    }
  }
}

}  // namespace headway::gui
