// SPDX-License-Identifier: MIT
#pragma once

#include <QFont>
#include <QPainter>
#include <QRawFont>
#include <QVector>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/trace.h"

namespace headway::gui {

/// Names of events as glyphs, each shaped once, so that a frame with thousands of labels only
/// copies them. Kernels have their short names. Labels that do not fit lose their middle, because
/// names of ops often differ at the end. One font; UI thread.
/// apart is often at the end. One font; UI thread.
class LabelCache {
 public:
  /// Clears the cache when the font differs from the last one.
  void set_font(const QFont& font);
  int ascent() const { return ascent_; }
  int line_height() const { return height_; }

  /// Draws as much of the text as fits into `width` with its baseline at (x, y); nothing if not
  /// even a few letters fit.
  void draw(QPainter& painter, trace::StringId id, std::string_view text, double x, double baseline,
            double width);

 private:
  /// Glyphs of one font; a name in two scripts has two runs.
  struct Run {
    QRawFont font;
    QVector<quint32> glyphs;
    QVector<QPointF> positions;  ///< from the label's start on its baseline
  };
  struct Label {
    std::vector<Run> runs;
    double width = 0;  ///< in logical pixels
  };

  const Label& label(trace::StringId id, std::string_view text);
  Label shape(std::string_view text) const;

  QFont font_;
  QRawFont raw_font_;
  Label ellipsis_;  ///< replaces the middle of labels that are too long
  int ascent_ = 0;
  int height_ = 0;
  std::unordered_map<trace::StringId, Label> labels_;
};

}  // namespace headway::gui
