// SPDX-License-Identifier: MIT
#pragma once

#include <QBrush>
#include <QColor>
#include <QPalette>
#include <QRgb>
#include <QString>
#include <array>

#include "gui/models/timeline/color_role.h"

namespace headway::gui {

/// Stripes over a colour, where colour alone would not tell two things apart for everybody.
enum class Hatch : std::uint8_t { kNone, kRising, kFalling };

/// All colours of the program. Two of them, immutable.
struct Theme {
  bool dark = false;
  QColor window;   ///< behind everything
  QColor base;     ///< behind rows and tables
  QColor heading;  ///< behind headings, rulers, the names of rows
  QColor border;   ///< of frames and between panels
  QColor grid;     ///< lines of charts and of the ruler
  QColor text;
  QColor dim_text;  ///< what matters less: units, notes
  QColor accent;    ///< selection, links
  QColor warning;   ///< doubts; what is slower
  QColor error;     ///< losses, failures, outliers
  QColor good;      ///< what is in order; what is faster
  QColor hit;       ///< what a search found
  QColor path;      ///< critical path
  QColor mark;      ///< marks in time and bookmarks
  QColor counter;   ///< line of a counter
  QColor counter_fill;
  std::array<QRgb, kColorRoleCount> role{};
  std::array<QRgb, kColorRoleCount> role_text{};  ///< readable on `role`
  std::array<QRgb, kColorRoleCount> stripe{};     ///< of the hatch
  /// For eyes that see fewer colours: classes that look alike to them differ in their stripes.
  static Hatch hatch(ColorRole role);

  QColor color(ColorRole r) const { return QColor::fromRgb(role[static_cast<std::size_t>(r)]); }
  QColor color(analyzer::TimeClass c) const { return color(role_of(c)); }
  /// The colour with its stripes, for legends and charts.
  QBrush brush(ColorRole r) const;
  /// For the whole program's widgets.
  QPalette palette() const;
  QString style_sheet() const;

  /// One of three shades of a role's colour, 0 the colour itself, each with text as readable as on it.
  QRgb shade(ColorRole r, int number) const {
    return shades[static_cast<std::size_t>(r)][static_cast<std::size_t>(number)];
  }
  std::array<std::array<QRgb, 3>, kColorRoleCount> shades{};

  /// This theme with the colours of what was not recorded but predicted: half as strong.
  const Theme& predicted() const;

  static const Theme& light();
  static const Theme& dark_theme();
};

/// Between two colours: `share` 0 gives `a`, 1 gives `b`.
QRgb blend(QRgb a, QRgb b, double share);

}  // namespace headway::gui
