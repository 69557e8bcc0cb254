// SPDX-License-Identifier: MIT
#include "common/text.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace headway {
namespace {

constexpr std::string_view kReplacement = "\uFFFD";

/// Length in bytes of the valid UTF-8 sequence at the start of `text`; 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  std::uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  bool surrogate = lead == 0xed && byte(1) >= 0xa0;
  bool too_large = lead == 0xf4 && byte(1) >= 0x90;
  return overlong || surrogate || too_large ? 0 : length;
}

/// Calls `emit(sequence)` for each valid UTF-8 sequence and for U+FFFD in place of anything else.
template <class Emit>
void for_each_character(std::string_view text, Emit emit) {
  while (!text.empty()) {
    std::size_t length = utf8_length(text);
    emit(length ? text.substr(0, length) : kReplacement);
    text.remove_prefix(length ? length : 1);
  }
}

bool is_control(std::string_view character) {
  std::uint8_t lead = static_cast<std::uint8_t>(character[0]);
  if (character.size() == 1) return lead < 0x20 || lead == 0x7f;
  // U+0080..U+009F: the C1 controls; some terminals obey them as they obey ESC [.
  if (character.size() == 2) return lead == 0xc2 && static_cast<std::uint8_t>(character[1]) < 0xa0;
  // U+202A..U+202E, U+2066..U+2069: would show the following text in another order than it is
  // written.
  bool turns = (character >= "\u202A" && character <= "\u202E") ||
               (character >= "\u2066" && character <= "\u2069");
  // U+FFFE and U+FFFF are no characters; XML forbids them.
  return character.size() == 3 && (turns || character == "\uFFFE" || character == "\uFFFF");
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string to_valid_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for_each_character(text, [&](std::string_view c) { result += c; });
  return result;
}

std::string escape_terminal(std::string_view text) {
  std::string result;
  for_each_character(text, [&](std::string_view c) { result += is_control(c) ? kReplacement : c; });
  return result;
}

std::string escape_html(std::string_view text) {
  std::string result;
  for_each_character(text, [&](std::string_view c) {
    switch (c[0]) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      case '\n':
      case '\t':
        result += ' ';
        break;
      default:
        result += is_control(c) ? kReplacement : c;
    }
  });
  return result;
}

std::string prose_html(std::string_view text) {
  return escape_html(keep_units(text));
}

std::string escape_markdown(std::string_view text) {
  constexpr std::string_view kSpecial = "|`*_[]\\#";
  std::string result;
  for_each_character(text, [&](std::string_view c) {
    switch (c[0]) {
      // As entities: some renderers let HTML through even after a backslash.
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '\n':
      case '\t':
        result += ' ';
        break;
      default:
        if (is_control(c)) {
          result += kReplacement;
        } else {
          if (kSpecial.find(c[0]) != std::string_view::npos) result += '\\';
          result += c;
        }
    }
  });
  return result;
}

std::size_t count_columns(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<std::uint8_t>(c) & 0xc0) != 0x80;
  }));
}

std::string shorten(std::string_view text, std::size_t columns) {
  if (columns == 0 || count_columns(text) <= columns) return std::string(text);
  std::vector<std::string_view> characters;
  for_each_character(text, [&](std::string_view c) { characters.push_back(c); });
  if (characters.size() <= columns) return std::string(text);
  std::size_t head = columns / 2;
  std::size_t tail = columns - head - 1;
  std::string result;
  for (std::size_t i = 0; i < head; ++i) result += characters[i];
  result += "…";
  for (std::size_t i = characters.size() - tail; i < characters.size(); ++i)
    result += characters[i];
  return result;
}

bool glob_match(std::string_view pattern, std::string_view text) {
  // On a mismatch the last '*' takes one more character: linear for one star, quadratic at worst.
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::vector<std::string> closest(std::string_view word, const std::vector<std::string>& candidates,
                                 std::size_t count) {
  std::vector<std::pair<std::size_t, std::string>> scored;
  for (const std::string& candidate : candidates) {
    std::size_t distance = edit_distance(word, candidate);
    if (distance <= std::max<std::size_t>(1, std::max(word.size(), candidate.size()) / 3)) {
      scored.emplace_back(distance, candidate);
    }
  }
  std::sort(scored.begin(), scored.end());
  std::vector<std::string> result;
  for (std::size_t i = 0; i < std::min(count, scored.size()); ++i)
    result.push_back(scored[i].second);
  return result;
}

}  // namespace headway
