// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace headway {

/// Writes to stderr. That nobody can read it (a closed descriptor, a broken pipe, a full disk) is
/// not an error: fmt::print would throw, and a program must not die of its own remarks.
void tell(std::string_view text);

}  // namespace headway
