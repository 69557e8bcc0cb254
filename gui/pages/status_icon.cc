// SPDX-License-Identifier: MIT
#include "gui/pages/status_icon.h"

#include <QPixmap>

namespace headway::gui {

void paint_status(QPainter& painter, const QRectF& box, analyzer::Status status,
                  const Theme& theme) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  QRectF r = box.adjusted(1, 1, -1, -1);
  QFont font = painter.font();
  font.setPixelSize(std::max(7, static_cast<int>(box.height() * 0.62)));
  font.setBold(true);
  painter.setFont(font);
  switch (status) {
    case analyzer::Status::kFound:
      painter.setPen(Qt::NoPen);
      painter.setBrush(theme.error);
      painter.drawPolygon(QPolygonF({{r.center().x(), r.top()}, r.bottomRight(), r.bottomLeft()}));
      painter.setPen(theme.base);
      painter.drawText(r.adjusted(0, r.height() * 0.22, 0, 0), Qt::AlignCenter,
                       QStringLiteral("!"));
      break;
    case analyzer::Status::kNoGain:
    case analyzer::Status::kFine:
      painter.setPen(QPen(theme.good, 1.5));
      painter.setBrush(Qt::NoBrush);
      painter.drawEllipse(r);
      painter.drawPolyline(QPolygonF({{r.left() + r.width() * 0.27, r.center().y()},
                                      {r.left() + r.width() * 0.45, r.bottom() - r.height() * 0.3},
                                      {r.right() - r.width() * 0.25, r.top() + r.height() * 0.3}}));
      break;
    case analyzer::Status::kCannotTell:
      painter.setPen(QPen(theme.dim_text, 1.5, Qt::DotLine));
      painter.setBrush(Qt::NoBrush);
      painter.drawEllipse(r);
      painter.setPen(theme.dim_text);
      painter.drawText(r, Qt::AlignCenter, QStringLiteral("?"));
      break;
  }
  painter.restore();
}

QIcon status_icon(analyzer::Status status, const Theme& theme) {
  QIcon icon;
  for (int ratio : {1, 2}) {
    QPixmap pixmap(16 * ratio, 16 * ratio);
    pixmap.setDevicePixelRatio(ratio);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    paint_status(painter, QRectF(0, 0, 16, 16), status, theme);
    painter.end();
    icon.addPixmap(pixmap);
  }
  return icon;
}

}  // namespace headway::gui
