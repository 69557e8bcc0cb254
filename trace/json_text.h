// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headway::trace::export_detail {

/// Appends `text` as a JSON string with its quotes: valid UTF-8, every control character escaped,
/// and < > & as well, so that a name has no effect in a page that embeds the file.
void append_json_string(std::string& out, std::string_view text);

/// Appends nanoseconds as microseconds with three decimals; exact, without floating point.
void append_microseconds(std::string& out, std::int64_t ns);

void append_integer(std::string& out, std::int64_t value);

/// True when `text` is a JSON array of numbers, strings and nested arrays, as frameworks write
/// shapes and types. Such a text may be copied into JSON unchanged.
bool is_json_array(std::string_view text);

}  // namespace headway::trace::export_detail
