// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace headway {

/// Names come from the recorded program and are untrusted: these functions make them harmless for
/// one kind of output.

/// For text and attribute values of HTML and XML 1.0: & < > " ' escaped. Characters that XML
/// forbids or that change the text direction become U+FFFD.
std::string escape_html(std::string_view text);
/// The same for sentences: lines do not break between a number and its unit.
std::string prose_html(std::string_view text);
/// For a terminal: control characters (escape sequences among them) and characters that change the
/// text direction become U+FFFD, so a hostile name cannot move the cursor or retitle the window.
/// Invalid UTF-8 is replaced as in to_valid_utf8.
std::string escape_terminal(std::string_view text);
/// For Markdown, table cells included: | ` * _ [ ] \ # escaped, < > & as entities, line breaks as
/// spaces.
std::string escape_markdown(std::string_view text);
/// Every byte sequence that is not UTF-8 (overlong forms and surrogates included) becomes U+FFFD.
std::string to_valid_utf8(std::string_view text);

/// At most `columns` characters (code points); a longer text loses its middle:
/// "aten::conv…_backward".
std::string shorten(std::string_view text, std::size_t columns);
/// Number of code points of valid UTF-8, which is the width on a terminal for the scripts we print.
std::size_t count_columns(std::string_view text);

/// True when `pattern` matches the whole of `text`; '*' stands for any characters and '?' for one
/// byte.
bool glob_match(std::string_view pattern, std::string_view text);

/// The `count` entries of `candidates` nearest to `word` by edit distance; only those near enough
/// to be a typo.
std::vector<std::string> closest(std::string_view word, const std::vector<std::string>& candidates,
                                 std::size_t count = 3);

}  // namespace headway
