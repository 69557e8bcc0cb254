// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "analyzer/analysis.h"

namespace headway::analyzer {

// Figures as inline SVG: no scripts, no fonts of their own, readable in print and with a screen
// reader (title and desc). Colours are those of time_class.h. Each returns "" when there is nothing
// to draw.

/// One horizontal bar: the mean steady step of the first device, cut by class, with the larger
/// parts labelled.
std::string step_bar_svg(const Analysis& analysis);
/// One stacked column per step; steps that are not steady are drawn pale.
std::string steps_chart_svg(const Analysis& analysis);
/// The typical step over time on the device: what it did, in order.
std::string step_band_svg(const Analysis& analysis);
/// The classes that occur, with their colours, as an HTML list.
std::string legend_html(const Analysis& analysis);

}  // namespace headway::analyzer
