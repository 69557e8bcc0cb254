// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace headway {

/// `text` as one field of CSV: a quote before =, +, - and @ keeps a spreadsheet from reading a
/// formula, control characters are made harmless for a terminal, and the field is quoted where RFC
/// 4180 requires it.
std::string csv_field(std::string_view text);

}  // namespace headway
