// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace headway {

/// A text as one field of CSV: no formula for a spreadsheet (a quote stands before =, +, - and @),
/// inert for a terminal, quoted where RFC 4180 asks for it.
std::string csv_field(std::string_view text);

}  // namespace headway
