// SPDX-License-Identifier: MIT
#include "gui/models/pages.h"

#include <algorithm>
#include <array>

namespace headway::gui {
namespace {

constexpr auto kPages = std::to_array<PageInfo>({
    {Page::kSummary, "summary", "Summary", "Ctrl+1", "The verdict and where a step's time went"},
    {Page::kTimeline, "timeline", "Timeline", "Ctrl+2", "Every event over time"},
    {Page::kFindings, "findings", "Findings", "Ctrl+3", "What each rule found, and what to do"},
    {Page::kOps, "ops", "Ops", "Ctrl+4", "Device time by op of the model"},
    {Page::kSteps, "steps", "Steps", "Ctrl+5", "Each step as a column of classes"},
    {Page::kCompare, "compare", "Compare", "Ctrl+D", "This trace beside a second one"},
});

}  // namespace

std::span<const PageInfo> pages() {
  return kPages;
}

const PageInfo& info(Page page) {
  return kPages[static_cast<std::size_t>(page)];
}

std::optional<Page> page_from_id(std::string_view id) {
  auto found =
      std::find_if(kPages.begin(), kPages.end(), [&](const PageInfo& one) { return one.id == id; });
  if (found == kPages.end()) return std::nullopt;
  return found->page;
}

}  // namespace headway::gui
