// SPDX-License-Identifier: MIT
#include "gui/timeline/frame.h"

#include <QFontMetrics>
#include <algorithm>
#include <cmath>

namespace headway::gui {

QFont label_font(const QFont& base) {
  QFont font = base;
  if (base.pixelSize() > 0) {
    font.setPixelSize(std::max(8, base.pixelSize() - 1));
  } else {
    font.setPointSizeF(std::max(6.0, base.pointSizeF() - 1));
  }
  // Cached glyphs are placed at whole pixels; full hinting makes text layouts look the same.
  font.setHintingPreference(QFont::PreferFullHinting);
  return font;
}

RowMetrics metrics_for(const QFont& font) {
  int line = QFontMetrics(font).height();
  return {line + 7, line + 3, 2 * line + 12, 4};
}

QRect device_rect(const QRect& rect, double ratio) {
  int left = static_cast<int>(std::lround(rect.left() * ratio));
  int top = static_cast<int>(std::lround(rect.top() * ratio));
  return {left, top, static_cast<int>(std::lround((rect.left() + rect.width()) * ratio)) - left,
          static_cast<int>(std::lround((rect.top() + rect.height()) * ratio)) - top};
}

}  // namespace headway::gui
