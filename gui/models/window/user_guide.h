// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace headway::gui {

/// A page of docs/user-guide as the build embeds it, so that the help needs neither network nor installed files.
struct GuidePage {
  std::string_view file;  ///< "view.md"
  std::string_view markdown;
};
std::span<const GuidePage> user_guide();
/// The page's Markdown prepared for display: without pictures, and only with links to other pages
/// of the guide. Empty if there is no such page.
std::string guide_text(std::string_view file);

}  // namespace headway::gui
