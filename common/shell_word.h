// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace headway {

/// `text` as one word of a POSIX shell: unchanged if every character is plain, otherwise in single
/// quotes. The empty text becomes ''. Control characters stay: for a terminal, call escape_terminal
/// (common/text.h) first.
std::string shell_word(std::string_view text);

}  // namespace headway
