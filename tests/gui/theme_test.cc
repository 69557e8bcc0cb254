// SPDX-License-Identifier: MIT
// Colours, for all eyes.
#include "gui/timeline/theme.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace headway::gui {
namespace {

using Matrix = std::array<std::array<double, 3>, 3>;

// Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
constexpr Matrix kNormal = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr Matrix kDeuteranopia = {{{0.367322, 0.860646, -0.227968},
                                   {0.280085, 0.672501, 0.047413},
                                   {-0.011820, 0.042940, 0.968881}}};
constexpr Matrix kProtanopia = {{{0.152286, 1.052583, -0.204868},
                                 {0.114503, 0.786281, 0.099216},
                                 {-0.003882, -0.048116, 1.051998}}};

/// CIE L*a*b* (D65) of a colour as an eye sees it.
std::array<double, 3> seen(QRgb color, const Matrix& eye) {
  auto linear = [](int channel) {
    double c = channel / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  std::array<double, 3> rgb = {linear(qRed(color)), linear(qGreen(color)), linear(qBlue(color))};
  std::array<double, 3> s{};
  for (std::size_t i = 0; i < 3; ++i)
    s[i] = std::clamp(eye[i][0] * rgb[0] + eye[i][1] * rgb[1] + eye[i][2] * rgb[2], 0.0, 1.0);
  auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
  double x = f((0.4124 * s[0] + 0.3576 * s[1] + 0.1805 * s[2]) / 0.95047);
  double y = f(0.2126 * s[0] + 0.7152 * s[1] + 0.0722 * s[2]);
  double z = f((0.0193 * s[0] + 0.1192 * s[1] + 0.9505 * s[2]) / 1.08883);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double distance(QRgb a, QRgb b, const Matrix& eye) {
  auto p = seen(a, eye);
  auto q = seen(b, eye);
  return std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

/// WCAG 2.1.
double contrast(QRgb a, QRgb b) {
  auto luminance = [](QRgb color) {
    auto linear = [](int channel) {
      const double c = channel / 255.0;
      return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(qRed(color)) + 0.7152 * linear(qGreen(color)) +
           0.0722 * linear(qBlue(color));
  };
  const double x = luminance(a) + 0.05;
  const double y = luminance(b) + 0.05;
  return std::max(x, y) / std::min(x, y);
}

}  // namespace

TEST_CASE("any two time classes differ in colour or in stripes, also for colour-blind eyes") {
  // Twelve is clearly apart side by side; two is what a trained eye just notices.
  constexpr double kApart = 12;
  for (const Theme* theme : {&Theme::light(), &Theme::dark_theme()}) {
    for (const Matrix& eye : {kNormal, kDeuteranopia, kProtanopia}) {
      for (std::size_t a = 0; a < analyzer::kTimeClassCount; ++a) {
        for (std::size_t b = 0; b < a; ++b) {
          CAPTURE(analyzer::time_classes()[a].id);
          CAPTURE(analyzer::time_classes()[b].id);
          CAPTURE(theme->dark);
          bool stripes =
              Theme::hatch(static_cast<ColorRole>(a)) != Theme::hatch(static_cast<ColorRole>(b));
          CHECK((stripes || distance(theme->role[a], theme->role[b], eye) >= kApart));
        }
      }
    }
  }
}

TEST_CASE("stripes are seen on their colour, and what stands over rows on the ground") {
  for (const Theme* theme : {&Theme::light(), &Theme::dark_theme()}) {
    for (const Matrix& eye : {kNormal, kDeuteranopia, kProtanopia}) {
      for (std::size_t i = 0; i < kColorRoleCount; ++i) {
        if (Theme::hatch(static_cast<ColorRole>(i)) == Hatch::kNone) continue;
        CAPTURE(i);
        CHECK(distance(theme->role[i], theme->stripe[i], eye) > 8);
      }
      for (const QColor& color : {theme->hit, theme->path, theme->mark, theme->accent})
        CHECK(distance(color.rgb(), theme->base.rgb(), eye) > 30);
    }
  }
}

TEST_CASE("shades of a class stay that class, and text on them is as readable") {
  using analyzer::TimeClass;
  constexpr auto kOfOps =
      std::to_array({TimeClass::kComputeTensor, TimeClass::kComputeOther, TimeClass::kOptimizer,
                     TimeClass::kCommTransfer, TimeClass::kH2d, TimeClass::kD2hOther});
  for (const Theme* theme : {&Theme::light(), &Theme::dark_theme()}) {
    for (TimeClass a : kOfOps) {
      const auto role = static_cast<std::size_t>(role_of(a));
      CAPTURE(std::string(analyzer::info(a).id));
      CAPTURE(theme->dark);
      for (int shade : {1, 2}) {
        const QRgb color = theme->shade(role_of(a), shade);
        CHECK(contrast(color, theme->role_text[role]) >=
              contrast(theme->role[role], theme->role_text[role]));
        CHECK(contrast(color, theme->role_text[role]) >= 4.5);
        for (TimeClass b : kOfOps) {
          if (a != b)
            CHECK(distance(color, theme->role[static_cast<std::size_t>(role_of(b))], kNormal) >=
                  10);
        }
      }
    }
  }
}

TEST_CASE("the critical path's bar stands out from its rim, and text from its ground") {
  for (const Theme* theme : {&Theme::light(), &Theme::dark_theme()}) {
    CAPTURE(theme->dark);
    CHECK(contrast(theme->path.rgb(), theme->base.rgb()) >= 3);
    for (const QColor& ground : {theme->window, theme->base, theme->heading}) {
      for (const QColor& ink : {theme->text, theme->dim_text, theme->accent, theme->error})
        CHECK(contrast(ink.rgb(), ground.rgb()) >= 4.5);
    }
  }
}

TEST_CASE(
    "every colour has readable text on it, and words about states are readable where they stand") {
  for (const Theme* theme : {&Theme::light(), &Theme::dark_theme()}) {
    CAPTURE(theme->dark);
    for (std::size_t i = 0; i < kColorRoleCount; ++i) {
      CAPTURE(i);
      const auto role = static_cast<ColorRole>(i);
      for (int shade = 0; shade < 3; ++shade)
        CHECK(contrast(theme->shade(role, shade), theme->role_text[i]) >= 4.5);
      // Of a predicted step, which is drawn half as strong.
      CHECK(contrast(theme->predicted().role[i], theme->predicted().role_text[i]) >= 4.5);
    }
    for (const QColor& ground : {theme->window, theme->base, theme->heading})
      for (const QColor& ink : {theme->warning, theme->good})
        CHECK(contrast(ink.rgb(), ground.rgb()) >= 4.5);
    const QPalette palette = theme->palette();
    CHECK(contrast(palette.color(QPalette::HighlightedText).rgb(),
                   palette.color(QPalette::Highlight).rgb()) >= 4.5);
    CHECK(contrast(palette.color(QPalette::ButtonText).rgb(),
                   palette.color(QPalette::Button).rgb()) >= 4.5);
    CHECK(contrast(palette.color(QPalette::ToolTipText).rgb(),
                   palette.color(QPalette::ToolTipBase).rgb()) >= 4.5);
    CHECK(contrast(palette.color(QPalette::PlaceholderText).rgb(),
                   palette.color(QPalette::Base).rgb()) >= 4.5);
    for (const QColor& ink : {theme->hit, theme->mark, theme->accent, theme->counter})
      CHECK(contrast(ink.rgb(), theme->base.rgb()) >= 3);
  }
}

}  // namespace headway::gui
