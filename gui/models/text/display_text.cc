// SPDX-License-Identifier: MIT
#include "gui/models/text/display_text.h"

#include <algorithm>

#include "common/text.h"

namespace headway::gui {
namespace {

/// U+202A..U+202E and U+2066..U+2069 reverse the direction of the text that follows, across its
/// neighbours.
void replace_direction_controls(std::string& text) {
  for (std::size_t i = 0; (i = text.find('\xe2', i)) != std::string::npos; ++i) {
    if (i + 2 >= text.size()) return;
    unsigned char middle = static_cast<unsigned char>(text[i + 1]);
    unsigned char last = static_cast<unsigned char>(text[i + 2]);
    bool embedding = middle == 0x80 && last >= 0xaa && last <= 0xae;
    bool isolate = middle == 0x81 && last >= 0xa6 && last <= 0xa9;
    if (embedding || isolate) text.replace(i, 3, "\uFFFD");
  }
}

}  // namespace

std::string display_text(std::string_view text, std::size_t characters) {
  // A character has at most four bytes, so bytes further inside cannot be shown.
  std::size_t reach = characters * 4;
  std::string cut;
  if (text.size() > 2 * reach) {
    cut.assign(text.substr(0, reach));
    cut += text.substr(text.size() - reach);
    text = cut;
  }
  std::string shown = shorten(escape_terminal(text), characters);
  replace_direction_controls(shown);
  return shown;
}

bool contains_ignoring_case(std::string_view text, std::string_view needle) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  auto same = [&](char a, char b) { return lower(a) == lower(b); };
  return std::search(text.begin(), text.end(), needle.begin(), needle.end(), same) != text.end();
}

}  // namespace headway::gui
