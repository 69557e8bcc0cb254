// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace headway {

/// `text` as one word of a POSIX shell: unchanged where every character is plain, else in single quotes. The empty text
/// becomes ''. Control characters stay: for a terminal, escape_terminal (common/text.h) comes first.
std::string shell_word(std::string_view text);

}  // namespace headway
