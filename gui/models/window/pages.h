// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace headway::gui {

// Every page of an open trace, once, in the order of the rail: PAGE(enumerator, name on the command
// line, title, keys in Qt's portable notation, content). gui/pages/<name>_page.cc defines
// make_<name>_page().
// clang-format off
#define HEADWAY_PAGES(PAGE) \
  PAGE(kSummary, summary, "Summary", "Ctrl+1", "The verdict and step time by class") \
  PAGE(kTimeline, timeline, "Timeline", "Ctrl+2", "Every event over time") \
  PAGE(kFindings, findings, "Findings", "Ctrl+3", "Each rule's finding and advice") \
  PAGE(kOps, ops, "Ops", "Ctrl+4", "Device time by op, as table and flame graph") \
  PAGE(kSteps, steps, "Steps", "Ctrl+5", "Each step as a column of classes") \
  PAGE(kKernels, kernels, "Kernels", "Ctrl+6", "Kernels by name and family") \
  PAGE(kRanks, ranks, "Ranks", "Ctrl+7", "Who waits for whom, step by step") \
  PAGE(kInput, input, "Input", "Ctrl+8", "How batches are made, and which stage limits") \
  PAGE(kMemory, memory, "Memory", "Ctrl+9", "Memory over time, allocations and copies") \
  PAGE(kRoofline, roofline, "Roofline", "Ctrl+0", "Achieved rates of kernels and the device's limits") \
  PAGE(kCompare, compare, "Compare", "Ctrl+D", "This trace beside a second one") \
  PAGE(kTables, tables, "Tables", "Ctrl+T", "The tables of the trace file, and SQL") \
  PAGE(kHealth, health, "Trace health", "Ctrl+H", "Recorded data, losses and doubts")
// clang-format on

#define HEADWAY_PAGE(value, id, title, keys, text) value,
enum class Page : std::uint8_t { HEADWAY_PAGES(HEADWAY_PAGE) };
#undef HEADWAY_PAGE

/// The description of a page for the rail, the menu, the help and the command line.
struct PageInfo {
  Page page;
  std::string_view id;     ///< on the command line
  std::string_view title;  ///< on the rail
  std::string_view keys;   ///< in Qt's portable notation
  std::string_view text;   ///< what it shows, for tooltips and the help
};
std::span<const PageInfo> pages();
const PageInfo& info(Page page);
std::optional<Page> page_from_id(std::string_view id);

}  // namespace headway::gui
