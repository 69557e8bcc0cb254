// SPDX-License-Identifier: MIT
#include "gui/timeline/header_pass.h"

#include <algorithm>
#include <cmath>

#include "common/format.h"
#include "gui/models/timeline/overview_box.h"
#include "gui/models/timeline/ticks.h"

namespace headway::gui {
namespace {

/// Copies without scaling or rounding, whatever the pixel ratio; pixels outside `to` are left out.
void copy_pixels(const QImage& from, QImage& to, QPoint place) {
  const int width = std::min(from.width(), to.width() - place.x());
  const int height = std::min(from.height(), to.height() - place.y());
  for (int y = 0; y < height && width > 0; ++y) {
    const auto* source = reinterpret_cast<const QRgb*>(from.constScanLine(y));
    std::copy(source, source + width,
              reinterpret_cast<QRgb*>(to.scanLine(place.y() + y)) + place.x());
  }
}

}  // namespace

const Lane* overview_lane(const TimelineModel& model) {
  const Lane* first = nullptr;
  for (const Row& row : model.rows) {
    if (row.lanes.empty()) continue;
    if (row.kind == RowKind::kPartition) return &row.lanes.front();
    if (!first) first = &row.lanes.front();
  }
  return first;
}

void HeaderPass::paint(QImage& image, QPainter& painter, const Frame& frame) {
  const Theme& theme = *frame.theme;
  painter.fillRect(QRect(0, 0, frame.size.width(), frame.header_height()), theme.heading);
  painter.setFont(frame.font);
  paint_overview(image, painter, frame);
  paint_ruler(painter, frame);
  if (frame.steps_height()) paint_steps(image, painter, frame);
  painter.fillRect(QRect(0, frame.header_height() - 1, frame.size.width(), 1), theme.border);
  painter.fillRect(QRect(frame.gutter - 1, 0, 1, frame.header_height()), theme.border);
}

const QImage& HeaderPass::overview_strip(const Lane& lane, const Frame& frame, QSize size) {
  const Interval bounds = frame.model->bounds;
  if (overview_.pixels.size() != size || !overview_.lane.is(lane) || overview_.bounds != bounds ||
      overview_.theme != frame.theme) {
    overview_ = {lane, bounds, frame.theme, QImage(size, QImage::Format_RGB32)};
    overview_.pixels.fill(frame.theme->base);
    ColumnGrid grid(frame.overview_mapping().on_screen(frame.pixel_ratio));
    lanes_.paint(overview_.pixels, overview_.pixels.rect(), lane, grid, *frame.theme);
  }
  return overview_.pixels;
}

void HeaderPass::paint_overview(QImage& image, QPainter& painter, const Frame& frame) {
  const Theme& theme = *frame.theme;
  QRect rect = frame.overview_rect();
  painter.fillRect(rect, theme.base);
  TimeMapping mapping = frame.overview_mapping();
  if (const Lane* lane = overview_lane(*frame.model)) {
    const QRect band = rect.adjusted(0, 3, 0, -3);
    if (image.isNull()) {
      ColumnGrid grid(mapping.on_screen(frame.pixel_ratio));
      lanes_.draw(painter, band, *lane, grid, theme);
    } else {
      const QRect place = device_rect(band, frame.pixel_ratio);
      copy_pixels(overview_strip(*lane, frame, place.size()), image, place.topLeft());
    }
  }
  const auto [from, to] = overview_box(mapping, frame.mapping.visible());
  QColor veil = theme.window;
  veil.setAlpha(165);
  painter.fillRect(QRect(rect.left(), rect.top(), from, rect.height()), veil);
  painter.fillRect(QRect(rect.left() + to, rect.top(), rect.width() - to, rect.height()), veil);
  if (frame.hits) {
    // A column covers several parts, or several columns share one part.
    std::span<const std::uint32_t> parts = frame.hits->parts();
    const int width = std::max(1, rect.width());
    int painted = -1;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      int x = static_cast<int>(i * static_cast<std::size_t>(width) / parts.size());
      if (!parts[i] || x == painted) continue;
      painted = x;
      painter.fillRect(QRect(rect.left() + x, rect.top(), 1, 5), theme.hit);
    }
  }
  painter.setPen(theme.accent);
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(
      QRect(rect.left() + from, rect.top(), std::max(2, to - from - 1), rect.height() - 1));
  painter.setPen(theme.dim_text);
  painter.drawText(QRect(8, rect.top(), frame.gutter - 12, rect.height()),
                   Qt::AlignLeft | Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(
                       QStringLiteral("Whole trace · ") +
                           QString::fromStdString(format_duration(frame.model->bounds.length())),
                       Qt::ElideRight, frame.gutter - 12));
}

void HeaderPass::paint_ruler(QPainter& painter, const Frame& frame) {
  const Theme& theme = *frame.theme;
  QRect rect = frame.ruler_rect();
  Ticks ticks = make_ticks(frame.mapping.shifted(TimeNs{} - frame.origin), kRulerLabelWidth);
  painter.fillRect(QRect(0, rect.top(), frame.size.width(), 1), theme.border);
  painter.save();
  painter.setClipRect(rect);
  for (const Ticks::Tick& tick : ticks.ticks) {
    TimeNs time = frame.origin + (tick.time - TimeNs{});
    int x = rect.left() + static_cast<int>(std::floor(frame.mapping.x_of(time)));
    int length = tick.major ? rect.height() - 4 : 5;
    painter.fillRect(QRect(x, rect.bottom() - length, 1, length),
                     tick.major ? theme.dim_text : theme.border);
    QString label = QString::fromStdString(tick.label);
    int width = painter.fontMetrics().horizontalAdvance(label);
    // Draws only labels that fit completely.
    if (!tick.major || x < rect.left() || x + 4 + width > rect.right()) continue;
    painter.setPen(theme.text);
    painter.drawText(QRect(x + 4, rect.top() + 1, width + 2, rect.height() - 4),
                     Qt::AlignLeft | Qt::AlignVCenter, label);
  }
  painter.restore();
  painter.setPen(theme.dim_text);
  QString left = !ticks.base.empty() ? QString::fromStdString(ticks.base) + QStringLiteral(" +")
                 : frame.origin.ns   ? QStringLiteral("Time from start")
                                     : QStringLiteral("Time");
  painter.drawText(QRect(8, rect.top(), frame.gutter - 16, rect.height()),
                   (ticks.base.empty() ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter, left);
}

void HeaderPass::paint_steps(QImage& image, QPainter& painter, const Frame& frame) {
  const Theme& theme = *frame.theme;
  QRect rect = frame.steps_rect().adjusted(0, 1, 0, -2);
  ColumnGrid grid(frame.mapping.on_screen(frame.pixel_ratio));
  const Lane& steps = frame.model->steps;
  const auto& items = image.isNull() ? lanes_.draw(painter, rect, steps, grid, theme)
                                     : lanes_.paint(image, device_rect(rect, frame.pixel_ratio),
                                                    steps, grid, theme);
  for (const LaneItem& item : items) {
    int width = static_cast<int>(item.width / frame.pixel_ratio);
    if (item.count != 1 || width < 26) continue;
    const std::uint32_t index = steps.rows(item.entry).front();
    const analyzer::Step& step = frame.model->analysis->steps.all[index];
    QRect box(rect.left() + static_cast<int>(item.x / frame.pixel_ratio) + 4, rect.top(), width - 6,
              rect.height());
    QString number = QString::number(step.number);
    QString text =
        QStringLiteral("Step %1 · %2%3")
            .arg(number,
                 QString::fromStdString(format_duration(frame.model->step_lengths.length[index])),
                 step.steady ? QString() : QStringLiteral(" · excluded"));
    QFontMetrics metrics = painter.fontMetrics();
    // Draws the longest text that fits, never a cut one.
    for (const QString& shorter : {QStringLiteral("Step %1").arg(number), number, QString()}) {
      if (metrics.horizontalAdvance(text) <= box.width()) break;
      text = shorter;
    }
    painter.setPen(QColor::fromRgb(theme.role_text[static_cast<std::size_t>(item.color)]));
    painter.drawText(box, Qt::AlignLeft | Qt::AlignVCenter, text);
  }
  // The duration of a step is the device's work for it, which may be at another time than on the
  // host.
  const std::vector<bool>& on_device = frame.model->step_lengths.on_device;
  const bool of_host = std::find(on_device.begin(), on_device.end(), true) != on_device.end();
  painter.setPen(theme.dim_text);
  painter.drawText(QRect(8, rect.top(), frame.gutter - 12, rect.height()),
                   Qt::AlignLeft | Qt::AlignVCenter,
                   of_host ? QStringLiteral("Steps on the host") : QStringLiteral("Steps"));
}

}  // namespace headway::gui
