// SPDX-License-Identifier: MIT
#include "gui/app/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "common/error.h"
#include "gui/models/ticks.h"

namespace headway::gui {
namespace {

constexpr int kLargestSide = 16'000;

QSize parse_size(const std::string& text) {
  int width = 0;
  int height = 0;
  const char* end = text.data() + text.size();
  auto first = std::from_chars(text.data(), end, width);
  bool fine = first.ec == std::errc{} && first.ptr != end && *first.ptr == 'x';
  if (fine) {
    auto second = std::from_chars(first.ptr + 1, end, height);
    fine = second.ec == std::errc{} && second.ptr == end;
  }
  if (!fine || width < 320 || height < 240 || width > kLargestSide || height > kLargestSide)
    fail_usage(
        "--size '{}': expected width and height in pixels, as in 1280x800; at least 320x240.",
        text);
  return {width, height};
}

/// "summary, timeline, …": as the help and errors list them.
std::string page_ids() {
  std::vector<std::string_view> ids;
  for (const PageInfo& page : pages()) ids.push_back(page.id);
  return fmt::format("{}", fmt::join(ids, ", "));
}

Page parse_page(const std::string& id) {
  if (std::optional<Page> page = page_from_id(id)) return *page;
  fail_usage("--page '{}': expected one of {}.", id, page_ids());
}

bool parse_theme(const std::string& name) {
  if (name != "dark" && name != "light") fail_usage("--theme '{}': expected dark or light.", name);
  return name == "dark";
}

}  // namespace

Options parse_options(int argc, char** argv) {
  CLI::App app{
      "Shows a trace of any kind that Headway reads: verdict, timeline, findings, ops, steps and "
      "more. Keys and gestures: press ? in the window.",
      "headway-gui"};
  std::string trace, second, screenshot, csv, page, size, range, theme;
  Options options;
  app.set_version_flag("--version", "headway-gui " HEADWAY_VERSION);
  app.add_option("TRACE", trace, "The trace to open; without it the window asks");
  app.add_option("--compare", second, "A second trace, to compare the first one with");
  app.add_option("--screenshot", screenshot,
                 "Write a picture of the page to this file and leave (SVG when its name ends in "
                 ".svg, else PNG); needs no display");
  app.add_option(
      "--export-csv", csv,
      "Write the page's table to this file and leave; of the timeline, where no --page is "
      "given, the events in --range or named as --find, else all. - is the standard "
      "output");
  app.add_option("--page", page, "Page to show: " + page_ids());
  app.add_option("--size", size, "Size of the window in pixels, e.g. 1280x800");
  app.add_option("--range", range, "Stretch of time to show on the timeline, e.g. 1.2s..1.5s");
  app.add_option("--find", options.find, "Select the first event whose name contains this text");
  app.add_option(
      "--finding", options.finding,
      "Show what this rule found, e.g. input-bound; with --page timeline where its first "
      "evidence is");
  app.add_option("--step-range", options.analysis.steps.range,
                 "Name of the ranges that are training steps; a trailing * matches any ending");
  app.add_option("--theme", theme, "Colours: light or dark");
  app.get_formatter()->column_width(30);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    throw Leave{app.exit(asked)};
  } catch (const CLI::ParseError& error) {
    fail_usage("{}. See `headway-gui --help`.", error.what());
  }
  if (!trace.empty()) options.trace = trace;
  if (!second.empty()) options.second = second;
  if (!screenshot.empty()) options.screenshot = screenshot;
  if (!csv.empty()) options.csv = csv;
  if (!page.empty()) options.page = parse_page(page);
  if (!size.empty()) options.size = parse_size(size);
  if (!range.empty()) options.range = parse_range(range);
  if (!theme.empty()) options.dark = parse_theme(theme);
  if (options.range && options.page && *options.page != Page::kTimeline)
    fail_usage("--range is for the timeline: leave --page out or say --page timeline.");
  if (options.trace && options.second && !options.page && !options.range && options.find.empty())
    options.page = Page::kCompare;
  if (options.second && !options.trace)
    fail_usage("--compare {}: name the first trace too, as in headway-gui A --compare B.", second);
  if (!options.finding.empty() && !options.page) options.page = Page::kFindings;
  if (options.csv && !options.page) options.page = Page::kTimeline;
  if (options.csv && !options.trace)
    fail_usage("--export-csv {}: name the trace that the table is of.", csv);
  if ((options.range || !options.find.empty()) && !options.page) options.page = Page::kTimeline;
  return options;
}

}  // namespace headway::gui
