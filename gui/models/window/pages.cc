// SPDX-License-Identifier: MIT
#include "gui/models/window/pages.h"

#include <algorithm>
#include <array>

namespace headway::gui {
namespace {

constexpr auto kPages = std::to_array<PageInfo>({
    {Page::kSummary, "summary", "Summary", "Ctrl+1", "The verdict and where a step's time went"},
    {Page::kTimeline, "timeline", "Timeline", "Ctrl+2", "Every event over time"},
    {Page::kFindings, "findings", "Findings", "Ctrl+3", "What each rule found, and what to do"},
    {Page::kOps, "ops", "Ops", "Ctrl+4", "Device time by op, as table and flame graph"},
    {Page::kSteps, "steps", "Steps", "Ctrl+5", "Each step as a column of classes"},
    {Page::kKernels, "kernels", "Kernels", "Ctrl+6", "Kernels by name and family"},
    {Page::kRanks, "ranks", "Ranks", "Ctrl+7", "Who waits for whom, step by step"},
    {Page::kInput, "input", "Input", "Ctrl+8", "How batches are made, and which stage limits"},
    {Page::kMemory, "memory", "Memory", "Ctrl+9", "Memory over time, allocations and copies"},
    {Page::kRoofline, "roofline", "Roofline", "Ctrl+0",
     "What kernels achieve against what the device could do"},
    {Page::kCompare, "compare", "Compare", "Ctrl+D", "This trace beside a second one"},
    {Page::kTables, "tables", "Tables", "Ctrl+T", "The tables of the trace file, and SQL"},
    {Page::kHealth, "health", "Trace health", "Ctrl+H",
     "What was recorded, what was lost, and what to trust"},
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
