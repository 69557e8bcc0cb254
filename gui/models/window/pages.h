// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace headway::gui {

/// The pages of an open trace, in the order in which the rail lists them.
enum class Page : std::uint8_t {
  kSummary,
  kTimeline,
  kFindings,
  kOps,
  kSteps,
  kKernels,
  kRanks,
  kInput,
  kMemory,
  kRoofline,
  kCompare,
  kTables,
  kHealth,
};

/// A page, declared once (pages.cc): the rail, the menu, the help and the command line read it.
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
