// SPDX-License-Identifier: MIT
#include "gui/app/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "analyzer/whatif/fix.h"
#include "common/error.h"
#include "gui/models/timeline/ticks.h"

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

std::int64_t parse_bytes(const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  auto read = std::from_chars(text.data(), end, number);
  std::string_view unit(read.ptr, static_cast<std::size_t>(end - read.ptr));
  double scale = unit == "GB" ? 1e9 : unit == "GiB" ? 1024.0 * 1024 * 1024 : unit == "MB" ? 1e6 : 0;
  if (read.ec != std::errc{} || scale == 0 || !(number * scale >= 1e6 && number * scale < 1e15))
    fail_usage("--memory '{}': expected an amount with its unit (MB, GB or GiB), as in 8GB.", text);
  return static_cast<std::int64_t>(number * scale);
}

bool parse_theme(const std::string& name) {
  if (name != "dark" && name != "light") fail_usage("--theme '{}': expected dark or light.", name);
  return name == "dark";
}

}  // namespace

Options parse_options(int argc, char** argv) {
  CLI::App app{
      "Shows any trace that Headway reads: verdict, timeline, findings, ops, steps and more. Press "
      "? in the window for keys and gestures.",
      "headway-gui"};
  std::vector<std::string> traces;
  std::string second, screenshot, csv, page, size, range, theme, load_range, memory;
  Options options;
  app.set_version_flag("--version", "headway-gui " HEADWAY_VERSION);
  app.add_option("TRACE", traces,
                 "Trace to open; several files, a folder or a pattern: the ranks of one job. "
                 "Without it, the window asks");
  app.add_option("--compare", second, "Second trace to compare with the first");
  app.add_option("--screenshot", screenshot,
                 "Write a picture of the page to this file and exit (SVG if its name ends in .svg, "
                 "else PNG); needs no display");
  app.add_option("--export-csv", csv,
                 "Write the page's table to this file and exit. For the timeline (no --page): the "
                 "events in --range or matching --find, else all. '-': standard output");
  app.add_option("--page", page, "Page to show: " + page_ids());
  app.add_option("--size", size, "Size of the window in pixels, e.g. 1280x800");
  app.add_option("--range", range, "Time range to show on the timeline, e.g. 1.2s..1.5s");
  app.add_option("--at", options.at,
                 "Place to show on the timeline, as for Ctrl+G: 2.94s, \"step 7\", 50%");
  app.add_option("--load-range", load_range,
                 "Read only this time range, e.g. 10s..20s: for traces larger than memory");
  app.add_option("--memory", memory, "Memory limit, e.g. 8GB; default: available memory");
  app.add_flag("--follow", options.follow,
               "Follow a running recording: reload the trace as it grows, and show its end");
  app.add_flag("--no-cache", options.no_cache, "Do not read or write the trace cache");
  app.add_option("--find", options.find, "Select the first event whose name contains this text");
  app.add_option("--list", options.list,
                 "Open a panel below the timeline: hits (of --find), rows (per-row activity in "
                 "--range), stacks (host activity in --range, or during the --find match)")
      ->type_name("hits|rows|stacks");
  app.add_option(
      "--finding", options.finding,
      "Show this rule's finding, e.g. input-bound; with --page timeline: its first evidence");
  app.add_flag("--predicted", options.predicted,
               "With --finding: show a step predicted with the fix beside the recorded one");
  app.add_option(
         "--fix", options.fixes,
         "Select this fix and show the predicted step; repeat to combine fixes. `headway whatif "
         "TRACE` lists them")
      ->type_name("FIX")
      ->allow_extra_args(false);
  app.add_option("--step-range", options.analysis.steps.range,
                 "Name of the step ranges; a trailing * matches any ending");
  app.add_option("--theme", theme, "Colours: light or dark");
  app.get_formatter()->column_width(30);
  app.footer(
      "Examples:\n"
      "  headway view run.sqlite                                            # the window\n"
      "  headway view 'ranks/*.sqlite'                                      # all ranks of a job\n"
      "  headway view run.sqlite --at 'step 7'                              # opens there\n"
      "  headway view before.sqlite --compare after.sqlite                  # two runs\n"
      "  headway view run.sqlite --follow                                   # while it is "
      "recorded\n"
      "  headway view run.sqlite --page timeline --screenshot timeline.png  # needs no display\n");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    throw Leave{app.exit(asked)};
  } catch (const CLI::ParseError& error) {
    fail_usage("{}. See `headway-gui --help`.", error.what());
  }
  options.source.files.assign(traces.begin(), traces.end());
  if (!load_range.empty()) options.source.stretch = parse_range(load_range);
  if (!memory.empty()) options.source.memory_bytes = parse_bytes(memory);
  if (options.follow && (traces.size() != 1 || options.source.stretch))
    fail_usage("--follow takes exactly one trace and no --load-range.");
  if (!second.empty()) options.second = second;
  if (!screenshot.empty()) options.screenshot = screenshot;
  if (!csv.empty()) options.csv = csv;
  if (!page.empty()) options.page = parse_page(page);
  if (!size.empty()) options.size = parse_size(size);
  if (!range.empty()) options.range = parse_range(range);
  if (!theme.empty()) options.dark = parse_theme(theme);
  if (options.range && options.page && *options.page != Page::kTimeline)
    fail_usage("--range applies to the timeline: remove --page, or use --page timeline.");
  if (!options.at.empty() && options.range)
    fail_usage("--at and --range: use one, a point with --at or a time range with --range.");
  if (!options.at.empty() && options.page.value_or(Page::kTimeline) != Page::kTimeline)
    fail_usage("--at applies to the timeline: remove --page, or use --page timeline.");
  if (!options.source.files.empty() && options.second && !options.page && !options.range &&
      options.find.empty() && options.at.empty())
    options.page = Page::kCompare;
  if (options.second && options.source.files.empty())
    fail_usage("--compare {}: name the first trace too, as in headway-gui A --compare B.", second);
  if (options.predicted && options.finding.empty())
    fail_usage("--predicted needs a finding, e.g. --finding host-sync.");
  if (options.predicted && options.page.value_or(Page::kTimeline) != Page::kTimeline)
    fail_usage("--predicted applies to the timeline: remove --page, or use --page timeline.");
  if (!options.list.empty() && options.list != "hits" && options.list != "rows" &&
      options.list != "stacks")
    fail_usage("--list '{}': expected hits, rows or stacks.", options.list);
  if (options.list == "hits" && options.find.empty())
    fail_usage("--list hits needs a search, e.g. --find gemm.");
  if (options.list == "rows" && !options.range)
    fail_usage("--list rows needs a time range, e.g. --range 1.2s..1.5s.");
  if (options.list == "stacks" && !options.range && options.find.empty())
    fail_usage(
        "--list stacks needs a time range, e.g. --range 1.2s..1.5s, or an event with --find.");
  if (!options.fixes.empty() && options.page.value_or(Page::kTimeline) != Page::kTimeline)
    fail_usage("--fix applies to the timeline: remove --page, or use --page timeline.");
  for (const std::string& fix : options.fixes)
    if (std::ranges::find(analyzer::all_fixes(), analyzer::find_fix(fix)) ==
        analyzer::all_fixes().end())
      fail_usage("--fix '{}': unknown fix; `headway whatif TRACE` lists them.", fix);
  if (options.predicted || !options.fixes.empty()) options.page = Page::kTimeline;
  if (!options.finding.empty() && !options.page) options.page = Page::kFindings;
  if (options.csv && !options.page) options.page = Page::kTimeline;
  if (options.csv && options.source.files.empty())
    fail_usage("--export-csv {}: name the trace with the table.", csv);
  if ((options.range || !options.find.empty() || !options.at.empty()) && !options.page)
    options.page = Page::kTimeline;
  return options;
}

}  // namespace headway::gui
