// SPDX-License-Identifier: MIT
#include "gui/timeline/label_cache.h"

#include <QFontMetrics>
#include <QGlyphRun>
#include <QPaintEngine>
#include <QTextLayout>
#include <algorithm>

#include "gui/models/text/display_text.h"
#include "gui/models/text/short_names.h"

namespace headway::gui {
namespace {

// Longer than any box on any screen; limits the cost of a name of a megabyte.
constexpr std::size_t kMaxCharacters = 300;
// Limits memory for a trace in which every event has its own name.
constexpr std::size_t kMaxLabels = 20'000;
constexpr double kLeastWidth = 12;
constexpr double kTailShare = 0.4;  ///< share of the room for the end of a name
constexpr int kLeastLetters = 3;    ///< fewer letters before an ellipsis are useless

}  // namespace

void LabelCache::set_font(const QFont& font) {
  if (font == font_ && raw_font_.isValid()) return;
  font_ = font;
  raw_font_ = QRawFont::fromFont(font);
  QFontMetrics metrics(font);
  ascent_ = metrics.ascent();
  height_ = metrics.height();
  labels_.clear();
  ellipsis_ = shape("…");
}

LabelCache::Label LabelCache::shape(std::string_view text) const {
  Label label;
  QString shown = QString::fromStdString(display_text(short_name(text), kMaxCharacters));
  // Plain Latin text needs no text layout; this path is ten times as fast.
  bool simple = std::all_of(shown.begin(), shown.end(),
                            [](QChar c) { return c.unicode() >= 0x20 && c.unicode() < 0x250; });
  if (simple && raw_font_.isValid()) {
    Run run{raw_font_, raw_font_.glyphIndexesForString(shown), {}};
    if (!run.glyphs.contains(0)) {
      for (const QPointF& advance : raw_font_.advancesForGlyphIndexes(run.glyphs)) {
        run.positions.push_back({label.width, 0});
        label.width += advance.x();
      }
      label.runs.push_back(std::move(run));
      return label;
    }
  }
  QTextLayout layout(shown, font_);
  layout.beginLayout();
  QTextLine line = layout.createLine();
  if (line.isValid()) line.setLineWidth(1e6);
  layout.endLayout();
  if (!line.isValid()) return label;
  for (const QGlyphRun& glyphs : layout.glyphRuns()) {
    Run run{glyphs.rawFont(), glyphs.glyphIndexes(), glyphs.positions()};
    for (QPointF& position : run.positions) position.ry() -= line.ascent();
    label.runs.push_back(std::move(run));
  }
  label.width = line.naturalTextWidth();
  return label;
}

const LabelCache::Label& LabelCache::label(trace::StringId id, std::string_view text) {
  auto found = labels_.find(id);
  if (found != labels_.end()) return found->second;
  if (labels_.size() >= kMaxLabels) labels_.clear();
  return labels_.emplace(id, shape(text)).first->second;
}

void LabelCache::draw(QPainter& painter, trace::StringId id, std::string_view text, double x,
                      double baseline, double width) {
  if (width < kLeastWidth) return;
  // In SVG, text stays text, so that it can be searched and copied.
  if (painter.paintEngine()->type() == QPaintEngine::SVG) {
    QString shown = QString::fromStdString(display_text(short_name(text), kMaxCharacters));
    shown = QFontMetrics(font_).elidedText(shown, Qt::ElideMiddle, static_cast<int>(width));
    if (shown.size() > kLeastLetters) painter.drawText(QPointF(x, baseline), shown);
    return;
  }
  const Label& whole = label(id, text);
  bool fits = whole.width <= width;
  double limit = fits ? whole.width + 1 : width - ellipsis_.width;
  double end = 0;
  auto draw_part = [&](const Run& run, double room, double offset) {
    // Glyphs that end inside the room: those whose successor begins inside.
    int count = 0;
    const int size = static_cast<int>(run.glyphs.size());
    while (count < size) {
      double next = count + 1 < size ? run.positions[count + 1].x() : whole.width;
      if (next > room) break;
      ++count;
    }
    if (count == 0 || (count < size && count < kLeastLetters)) return 0;
    QGlyphRun glyphs;
    glyphs.setRawFont(run.font);
    glyphs.setRawData(run.glyphs.constData(), run.positions.constData(), count);
    painter.drawGlyphRun({x + offset, baseline}, glyphs);
    end = std::max(end, count < size ? run.positions[count].x() : room);
    return count;
  };
  if (fits) {
    for (const Run& run : whole.runs) draw_part(run, limit, 0);
    return;
  }
  if (whole.runs.size() != 1) {
    // Mixed scripts, perhaps right to left: cut by pixels, not by glyphs.
    painter.save();
    painter.setClipRect(QRectF(x, baseline - ascent_, limit, height_), Qt::IntersectClip);
    for (const Run& run : whole.runs) draw_part(run, whole.width + 1, 0);
    painter.restore();
    end = limit;
  } else {
    const Run& run = whole.runs[0];
    // The number of glyphs for the end; none if there is no room for letters on both sides.
    const int size = static_cast<int>(run.glyphs.size());
    int tail = size;
    while (tail > 0 && whole.width - run.positions[tail - 1].x() <= limit * kTailShare) --tail;
    if (size - tail < kLeastLetters) tail = size;
    const double tail_width = tail < size ? whole.width - run.positions[tail].x() : 0;
    if (draw_part(run, limit - tail_width, 0) == 0) return;
    if (tail < size) {
      QGlyphRun glyphs;
      glyphs.setRawFont(run.font);
      glyphs.setRawData(run.glyphs.constData() + tail, run.positions.constData() + tail,
                        size - tail);
      painter.drawGlyphRun({x + end + ellipsis_.width - run.positions[tail].x(), baseline}, glyphs);
    }
  }
  for (const Run& run : ellipsis_.runs) {
    QGlyphRun glyphs;
    glyphs.setRawFont(run.font);
    glyphs.setRawData(run.glyphs.constData(), run.positions.constData(),
                      static_cast<int>(run.glyphs.size()));
    painter.drawGlyphRun({x + end, baseline}, glyphs);
  }
}

}  // namespace headway::gui
