// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

/// Where records end, found without parsing them.
namespace headway::trace::kineto {

inline constexpr std::size_t kNowhere = std::string_view::npos;

/// Guesses the last comma between two records before `before` (and after `after`): "}, {" followed
/// by a key that begins event records. A text inside a string may look the same, so the caller must
/// check that brackets and quotes up to it are balanced.
std::size_t guess_boundary_before(std::string_view text, std::size_t before, std::size_t after);
/// The same for the first comma at or after `from`.
std::size_t guess_boundary_after(std::string_view text, std::size_t from);

/// The end of the JSON value at `from`, one past its last character, found by following quotes,
/// escapes and brackets; kNowhere when the text ends inside the value. A scalar may end with the
/// text.
std::size_t value_end(std::string_view text, std::size_t from);

/// The first position at or after `from` that is not white space, or the text's size.
std::size_t skip_space(std::string_view text, std::size_t from);

}  // namespace headway::trace::kineto
