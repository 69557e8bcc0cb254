// SPDX-License-Identifier: MIT
#include "gui/models/window/pages.h"

#include <algorithm>
#include <array>

namespace headway::gui {
namespace {

#define HEADWAY_PAGE(value, id, title, keys, text) PageInfo{Page::value, #id, title, keys, text},
constexpr auto kPages = std::to_array<PageInfo>({HEADWAY_PAGES(HEADWAY_PAGE)});
#undef HEADWAY_PAGE

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
