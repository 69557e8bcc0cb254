// SPDX-License-Identifier: MIT
#include "gui/timeline/theme.h"

#include <QImage>
#include <cmath>

namespace headway::gui {
namespace {

/// WCAG relative luminance.
double luminance(QRgb color) {
  auto linear = [](int channel) {
    double c = channel / 255.0;
    return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(qRed(color)) + 0.7152 * linear(qGreen(color)) +
         0.0722 * linear(qBlue(color));
}

double contrast(QRgb a, QRgb b) {
  double x = luminance(a) + 0.05;
  double y = luminance(b) + 0.05;
  return x > y ? x / y : y / x;
}

/// Muted colours for the roles that are not time classes, so that the classes stand out.
constexpr QRgb quiet_color(ColorRole role) {
  switch (role) {
    case ColorRole::kStep:
      return 0xffc3cfdb;
    case ColorRole::kStepDropped:
      return 0xffe2e5e9;
    case ColorRole::kForward:
      return 0xff8fb8de;
    case ColorRole::kBackward:
      return 0xffb5a6d8;
    case ColorRole::kOtherPhase:
      return 0xffbfc6cf;
    case ColorRole::kLaunchCall:
      return 0xffa3b8cc;
    case ColorRole::kOtherCall:
      return 0xffc8ced6;
    case ColorRole::kMark:
      return 0xffc2405a;
    default:
      break;
  }
  constexpr std::array<QRgb, 8> kNames = {0xff9dbbdc, 0xffaccba6, 0xffdcbd97, 0xffc7aed4,
                                          0xff9fcfcb, 0xffd9aab4, 0xffccc795, 0xffb3bfcd};
  return kNames[(static_cast<std::size_t>(role) - static_cast<std::size_t>(ColorRole::kName0)) %
                kNames.size()];
}

void set_roles(Theme& theme) {
  for (std::size_t i = 0; i < kColorRoleCount; ++i) {
    ColorRole role = static_cast<ColorRole>(i);
    QRgb color = role < ColorRole::kFirst
                     ? 0xff000000 | analyzer::info(static_cast<analyzer::TimeClass>(i)).rgb
                     : quiet_color(role);
    if (theme.dark) {
      if (role >= ColorRole::kFirst) color = blend(color, 0xff20262d, 0.28);
      if (role == ColorRole::kStepDropped) color = 0xff3d444d;
      // The darkest classes would be hard to see on the background.
      for (int i_try = 0; i_try < 6 && contrast(color, theme.base.rgb()) < 1.9; ++i_try)
        color = blend(color, 0xffffffff, 0.15);
    }
    theme.role[i] = color;
    constexpr QRgb kDarkText = 0xff14191f;
    constexpr QRgb kLightText = 0xffffffff;
    theme.role_text[i] =
        contrast(color, kDarkText) >= contrast(color, kLightText) ? kDarkText : kLightText;
    theme.stripe[i] = blend(color, theme.base.rgb(), 0.45);
    // Shades move away from the text colour, so that text stays readable.
    const QRgb away = theme.role_text[i] == kDarkText ? 0xffffffff : 0xff000000;
    for (int number = 0; number < 3; ++number)
      theme.shades[i][static_cast<std::size_t>(number)] =
          number == 0 ? color : blend(color, away, 0.10 * number);
  }
}

Theme make_light() {
  Theme t;
  t.window = QColor(0xf2, 0xf4, 0xf7);
  t.base = QColor(0xff, 0xff, 0xff);
  t.heading = QColor(0xf2, 0xf4, 0xf7);
  t.border = QColor(0xd5, 0xda, 0xe0);
  t.grid = QColor(0xec, 0xef, 0xf2);
  t.text = QColor(0x1c, 0x25, 0x2e);
  t.dim_text = QColor(0x5d, 0x69, 0x75);
  t.accent = QColor(0x1f, 0x5f, 0xd6);
  t.warning = QColor(0x9a, 0x5b, 0x00);
  t.error = QColor(0xb4, 0x23, 0x18);
  t.good = QColor(0x1a, 0x7a, 0x4c);
  t.hit = QColor(0xc8, 0x00, 0x6e);
  t.path = QColor(0xd0, 0x14, 0x14);
  t.mark = QColor(0x6b, 0x2f, 0xb3);
  t.counter = QColor(0x4a, 0x7f, 0xb5);
  t.counter_fill = QColor(0xcf, 0xdf, 0xee);
  set_roles(t);
  return t;
}

Theme make_dark() {
  Theme t;
  t.dark = true;
  t.window = QColor(0x1f, 0x24, 0x2a);
  t.base = QColor(0x17, 0x1b, 0x20);
  t.heading = QColor(0x22, 0x28, 0x2f);
  t.border = QColor(0x39, 0x41, 0x4b);
  t.grid = QColor(0x25, 0x2b, 0x32);
  t.text = QColor(0xe2, 0xe7, 0xed);
  t.dim_text = QColor(0x98, 0xa4, 0xb1);
  t.accent = QColor(0x6a, 0xa5, 0xff);
  t.warning = QColor(0xf2, 0xb1, 0x4c);
  t.error = QColor(0xff, 0x8a, 0x7d);
  t.good = QColor(0x5f, 0xc9, 0x96);
  t.hit = QColor(0xff, 0x5c, 0xb8);
  t.path = QColor(0xff, 0x6b, 0x5e);
  t.mark = QColor(0xc3, 0x9b, 0xff);
  t.counter = QColor(0x7d, 0xae, 0xdd);
  t.counter_fill = QColor(0x2b, 0x3d, 0x50);
  set_roles(t);
  return t;
}

}  // namespace

QRgb blend(QRgb a, QRgb b, double share) {
  auto mix = [&](int x, int y) { return static_cast<int>(std::lround(x + (y - x) * share)); };
  return qRgb(mix(qRed(a), qRed(b)), mix(qGreen(a), qGreen(b)), mix(qBlue(a), qBlue(b)));
}

Hatch Theme::hatch(ColorRole role) {
  using analyzer::TimeClass;
  // Measured with the transforms of Machado, Oliveira and Fernandes (2009) for full deuteranopia and
  // protanopia: without stripes, decode and launch gap would be 1 apart in CIE L*a*b*, tensor cores
  // and profiler 8, straggler wait and front-end gap 10.
  if (role >= ColorRole::kFirst) return Hatch::kNone;
  switch (static_cast<TimeClass>(role)) {
    case TimeClass::kStragglerWait:
    case TimeClass::kLaunchGap:
    case TimeClass::kUnknown:
      return Hatch::kRising;
    case TimeClass::kFrontendGap:
    case TimeClass::kHostOther:
    case TimeClass::kBetweenSteps:
    case TimeClass::kProfiler:
      return Hatch::kFalling;
    default:
      return Hatch::kNone;
  }
}

const Theme& Theme::predicted() const {
  static const auto faint = [](const Theme& theme) {
    Theme t = theme;
    for (std::size_t i = 0; i < kColorRoleCount; ++i) {
      // Halfway to the background, and further if text would not be readable on it.
      double share = 0.5;
      do {
        t.role[i] = blend(theme.role[i], theme.base.rgb(), share);
        share += 0.05;
      } while (share < 0.9 && contrast(t.role[i], theme.text.rgb()) < 4.5);
      t.shades[i].fill(t.role[i]);
      t.role_text[i] = theme.text.rgb();
      t.stripe[i] = blend(theme.stripe[i], theme.base.rgb(), 0.5);
    }
    return t;
  };
  static const Theme on_light = faint(light());
  static const Theme on_dark = faint(dark_theme());
  return dark ? on_dark : on_light;
}

QBrush Theme::brush(ColorRole r) const {
  const Hatch lines = hatch(r);
  if (lines == Hatch::kNone) return QBrush(color(r));
  QImage tile(8, 8, QImage::Format_RGB32);
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 8; ++x) {
      int phase = lines == Hatch::kRising ? x + y : x - y + 8;
      tile.setPixel(x, y, phase % 8 < 3 ? stripe[static_cast<std::size_t>(r)] : color(r).rgb());
    }
  }
  return QBrush(tile);
}

const Theme& Theme::light() {
  static const Theme theme = make_light();
  return theme;
}

const Theme& Theme::dark_theme() {
  static const Theme theme = make_dark();
  return theme;
}

QPalette Theme::palette() const {
  QPalette p;
  p.setColor(QPalette::Window, window);
  p.setColor(QPalette::WindowText, text);
  p.setColor(QPalette::Base, base);
  p.setColor(QPalette::AlternateBase, heading);
  p.setColor(QPalette::Text, text);
  p.setColor(QPalette::Button, heading);
  p.setColor(QPalette::ButtonText, text);
  p.setColor(QPalette::BrightText, text);
  p.setColor(QPalette::ToolTipBase, heading);
  p.setColor(QPalette::ToolTipText, text);
  p.setColor(QPalette::PlaceholderText, dim_text);
  p.setColor(QPalette::Highlight, accent);
  p.setColor(QPalette::HighlightedText, dark ? QColor(0x10, 0x14, 0x18) : QColor(Qt::white));
  p.setColor(QPalette::Link, accent);
  p.setColor(QPalette::LinkVisited, accent);
  p.setColor(QPalette::Light, QColor::fromRgb(blend(window.rgb(), 0xffffffff, dark ? 0.08 : 0.7)));
  p.setColor(QPalette::Midlight, border);
  p.setColor(QPalette::Mid, border);
  p.setColor(QPalette::Dark, QColor::fromRgb(blend(window.rgb(), 0xff000000, 0.35)));
  p.setColor(QPalette::Shadow, QColor::fromRgb(blend(window.rgb(), 0xff000000, 0.6)));
  for (QPalette::ColorRole faded : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
    p.setColor(QPalette::Disabled, faded, QColor::fromRgb(blend(text.rgb(), window.rgb(), 0.55)));
  return p;
}

QString Theme::style_sheet() const {
  // Only what the palette cannot express; everything else is the Fusion style.
  return QStringLiteral(
             "QListWidget#pages { background: %6; padding-top: 6px; outline: 0; }"
             "QListWidget#pages::item { padding: 6px 12px; border: 0; border-left: 3px solid "
             "transparent; color: %3; }"
             "QListWidget#pages::item:selected { color: %1; background: %5; border-left: 3px solid "
             "%2; }"
             "QListWidget#pages::item:hover { color: %1; }"
             "QFrame#line { background: %4; border: 0; }"
             "QFrame#card { background: %5; border: 1px solid %4; border-radius: 5px; }"
             "QSplitter::handle { background: %4; }"
             "QHeaderView::section { background: %6; color: %1; border: 0; border-bottom: 1px "
             "solid %4; border-right: 1px solid %4; padding: 4px 3px; }"
             "QScrollArea { border: 0; }")
      .arg(text.name(), accent.name(), dim_text.name(), border.name(), base.name(), heading.name());
}

}  // namespace headway::gui
