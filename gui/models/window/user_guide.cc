// SPDX-License-Identifier: MIT
#include "gui/models/window/user_guide.h"

#include <algorithm>
#include <array>

#include "gui/models/window/user_guide_pages.h"

namespace headway::gui {

std::span<const GuidePage> user_guide() {
  return kGuidePages;
}

std::string guide_text(std::string_view file) {
  auto find = [](std::string_view name) {
    return std::find_if(kGuidePages.begin(), kGuidePages.end(),
                        [&](const GuidePage& page) { return page.file == name; });
  };
  const auto page = find(file);
  if (page == kGuidePages.end()) return "";
  const std::string_view text = page->markdown;
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const bool picture = text.substr(at).starts_with("![");
    const std::size_t label = at + (picture ? 2 : 1);
    const std::size_t middle =
        picture || text[at] == '[' ? text.find("](", label) : std::string_view::npos;
    const std::size_t end = middle == std::string_view::npos ? middle : text.find(')', middle + 2);
    // A bracket that is closed in another paragraph does not begin a link.
    if (end == std::string_view::npos ||
        text.substr(at, end - at).find("\n\n") != std::string_view::npos) {
      out += text[at++];
      continue;
    }
    const std::string_view target = text.substr(middle + 2, end - middle - 2);
    if (!picture && find(target.substr(0, target.find('#'))) != kGuidePages.end()) {
      out += text.substr(at, end + 1 - at);
    } else if (!picture) {
      out += text.substr(label, middle - label);
    }
    at = end + 1;
  }
  return out;
}

}  // namespace headway::gui
