// SPDX-License-Identifier: MIT
#include "trace/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "common/text.h"

namespace headway::trace::export_detail {

void append_json_string(std::string& out, std::string_view text) {
  auto plain = [](unsigned char c) {
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
  };
  out += '"';
  if (std::all_of(text.begin(), text.end(), plain)) {
    out += text;
  } else {
    for (char c : to_valid_utf8(text)) {
      auto byte = static_cast<unsigned char>(c);
      if (byte >= 0x80 || plain(byte)) {
        out += c;
      } else {
        fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(byte));
      }
    }
  }
  out += '"';
}

void append_integer(std::string& out, std::int64_t value) {
  fmt::format_int digits(value);
  out.append(digits.data(), digits.size());
}

void append_microseconds(std::string& out, std::int64_t ns) {
  std::uint64_t magnitude =
      ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  if (ns < 0) out += '-';
  fmt::format_int whole(magnitude / 1000);
  out.append(whole.data(), whole.size());
  auto rest = static_cast<unsigned>(magnitude % 1000);
  char decimals[4] = {'.', static_cast<char>('0' + rest / 100),
                      static_cast<char>('0' + rest / 10 % 10), static_cast<char>('0' + rest % 10)};
  out.append(decimals, 4);
}

bool is_json_array(std::string_view text) {
  // A value is allowed only after '[' or ','. `value` is true right after a value.
  int depth = 0;
  bool value = false;
  bool comma = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == ' ') continue;
    if (depth == 0 && (i > 0 && value)) return false;  // text after the end
    if (c == '[') {
      if (value || ++depth > 16) return false;
      comma = false;
    } else if (c == ']') {
      if (comma || --depth < 0) return false;
      value = true;
    } else if (c == ',') {
      if (!value || depth == 0) return false;
      value = false;
      comma = true;
    } else if (c == '"') {
      if (value || depth == 0) return false;
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        auto byte = static_cast<unsigned char>(text[i]);
        if (byte < 0x20 || byte >= 0x7f || text[i] == '\\' || text[i] == '<' || text[i] == '&')
          return false;
      }
      if (i == text.size()) return false;
      value = true;
      comma = false;
    } else if (c == '-' || std::isdigit(static_cast<unsigned char>(c))) {
      if (value || depth == 0) return false;
      std::size_t begin = i + (c == '-');
      std::size_t end = begin;
      while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) ++end;
      bool leading_zero = end > begin + 1 && text[begin] == '0';
      if (end == begin || leading_zero) return false;
      i = end - 1;
      value = true;
      comma = false;
    } else {
      return false;
    }
  }
  return depth == 0 && value;
}

}  // namespace headway::trace::export_detail
