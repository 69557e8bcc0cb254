// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headway::gui {

/// Longest text that is shown as one piece; names of the recorded program can be megabytes long.
inline constexpr std::size_t kMaxShownCharacters = 400;

/// Prepares a text of the recorded program for display on one line: makes it valid UTF-8, replaces
/// control characters and characters that change the text direction, and cuts out the middle if it
/// is longer than `characters`. Cost does not depend on the length of the text.
std::string display_text(std::string_view text, std::size_t characters = kMaxShownCharacters);

/// True when `text` contains `needle`, ignoring the case of ASCII letters.
bool contains_ignoring_case(std::string_view text, std::string_view needle);

}  // namespace headway::gui
