// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headway::gui {

/// Longest text shown anywhere in one piece; names of the recorded program can be megabytes.
inline constexpr std::size_t kMaxShownCharacters = 400;

/// A text of the recorded program made fit to be shown on one line: valid UTF-8, control characters
/// and those that turn the direction of writing replaced, its middle left out when it is longer
/// than `characters`. Cost does not depend on the length of the text.
std::string display_text(std::string_view text, std::size_t characters = kMaxShownCharacters);

/// True when `text` contains `needle`, ASCII letters in either case.
bool contains_ignoring_case(std::string_view text, std::string_view needle);

}  // namespace headway::gui
