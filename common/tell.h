// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace headway {

/// Writes to stderr and ignores errors (a closed descriptor, a broken pipe, a full disk):
/// fmt::print would throw, and a message must not end the program.
void tell(std::string_view text);

}  // namespace headway
