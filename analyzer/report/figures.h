// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "analyzer/analysis.h"

namespace headway::analyzer {

// Figures as inline SVG: no scripts, no embedded fonts, readable in print and with a screen
// reader (title and desc). Colours are those of time_class.h. Each returns "" when there is nothing
// to draw.

/// The mean steady step of each device as a waterfall: one row for each class, its bar beginning
/// where the one before ends, with time and share. An HTML table with small SVG bars, so that it can
/// be read at any width.
std::string waterfall_html(const trace::Trace& trace, const Analysis& analysis);
/// One stacked column per step of the first device; steps that are not steady are drawn pale. When
/// there are more steps than columns, a column is the mean of neighbours.
std::string steps_chart_svg(const Analysis& analysis);
/// What the device does over time in the typical step, in the slowest steady one, and in the typical one as predicted with
/// the first fix, where that can be replayed (recordings of up to 200,000 events). As HTML with SVG bars that the page's
/// script zooms together.
std::string three_steps_html(const trace::Trace& trace, const Analysis& analysis);
/// Each device over its span: compute, exposed communication and copies, idle; below it all
/// communication, so that its hidden part lies under compute.
std::string overlap_svg(const trace::Trace& trace, const Analysis& analysis);
/// Types of ops by arithmetic intensity and rate, with the memory roof where the device tells its
/// bandwidth. Needs ops whose bytes and floating-point operations are known.
std::string roofline_svg(const trace::Trace& trace, const Analysis& analysis);
/// The step as recorded and with the predicted fix, as two bars, the second with its 95 % interval; an HTML table that can be
/// read at any width. Empty without a prediction.
std::string prediction_html(const Finding& finding);
/// The step with each fix of the plan and those before it, as bars; empty without a plan.
std::string plan_html(const Analysis& analysis);
/// The classes that occur, with their colours, as an HTML list.
std::string legend_html(const Analysis& analysis);

}  // namespace headway::analyzer
