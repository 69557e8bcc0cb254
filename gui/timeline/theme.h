// SPDX-License-Identifier: MIT
#pragma once

#include <QColor>
#include <QPalette>
#include <QRgb>
#include <QString>
#include <array>

#include "gui/models/color_role.h"

namespace headway::gui {

/// All colours of the program. Two of them, immutable.
struct Theme {
  bool dark = false;
  QColor window;   ///< behind everything
  QColor base;     ///< behind rows and tables
  QColor heading;  ///< behind headings, rulers, the names of rows
  QColor border;
  QColor grid;
  QColor text;
  QColor dim_text;
  QColor accent;  ///< selection, links
  QColor warning;
  QColor error;
  QColor good;
  QColor counter;  ///< line of a counter
  QColor counter_fill;
  std::array<QRgb, kColorRoleCount> role{};
  std::array<QRgb, kColorRoleCount> role_text{};  ///< readable on `role`

  QColor color(ColorRole r) const { return QColor::fromRgb(role[static_cast<std::size_t>(r)]); }
  QColor color(analyzer::TimeClass c) const { return color(role_of(c)); }
  QPalette palette() const;
  QString style_sheet() const;

  static const Theme& light();
  static const Theme& dark_theme();
};

/// Between two colours: `share` 0 gives `a`, 1 gives `b`.
QRgb blend(QRgb a, QRgb b, double share);

}  // namespace headway::gui
