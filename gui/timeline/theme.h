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

/// Stripes over a colour, where colours alone do not distinguish two things for everybody.
enum class Hatch : std::uint8_t { kNone, kRising, kFalling };

/// All colours of the program. There are two themes; they are immutable.
struct Theme {
  bool dark = false;
  QColor window;   ///< background of the window
  QColor base;     ///< background of rows and tables
  QColor heading;  ///< background of headings, rulers, and names of rows
  QColor border;   ///< frames and lines between panels
  QColor grid;     ///< lines of charts and of the ruler
  QColor text;
  QColor dim_text;  ///< secondary text: units, notes
  QColor accent;    ///< selection, links
  QColor warning;   ///< doubts; values that are slower
  QColor error;     ///< losses, failures, outliers
  QColor good;      ///< values that are in order or faster
  QColor hit;       ///< hits of a search
  QColor path;      ///< critical path
  QColor mark;      ///< marks in time and bookmarks
  QColor counter;   ///< line of a counter
  QColor counter_fill;
  std::array<QRgb, kColorRoleCount> role{};
  std::array<QRgb, kColorRoleCount> role_text{};  ///< readable on `role`
  std::array<QRgb, kColorRoleCount> stripe{};     ///< colour of the hatch
  /// For colour-blind users: classes that look alike to them differ in their stripes.
  static Hatch hatch(ColorRole role);

  QColor color(ColorRole r) const { return QColor::fromRgb(role[static_cast<std::size_t>(r)]); }
  QColor color(analyzer::TimeClass c) const { return color(role_of(c)); }
  /// The colour with its stripes, for legends and charts.
  QBrush brush(ColorRole r) const;
  /// For the whole program's widgets.
  QPalette palette() const;
  QString style_sheet() const;

  /// One of three shades of a role's colour (0 is the colour itself); text is equally readable on
  /// each.
  QRgb shade(ColorRole r, int number) const {
    return shades[static_cast<std::size_t>(r)][static_cast<std::size_t>(number)];
  }
  std::array<std::array<QRgb, 3>, kColorRoleCount> shades{};

  /// This theme with colours for predicted instead of recorded events: half as strong.
  const Theme& predicted() const;

  static const Theme& light();
  static const Theme& dark_theme();
};

/// Between two colours: `share` 0 gives `a`, 1 gives `b`.
QRgb blend(QRgb a, QRgb b, double share);

}  // namespace headway::gui
