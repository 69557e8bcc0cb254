// SPDX-License-Identifier: MIT
#include "trace/import/kineto/boundary.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace headway::trace::kineto {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/// True when a record that looks like an event's begins at the comma `at`: , { "ph"
bool begins_record_after(std::string_view text, std::size_t at) {
  std::size_t brace = skip_space(text, at + 1);
  if (brace >= text.size() || text[brace] != '{') return false;
  std::size_t key = skip_space(text, brace + 1);
  static constexpr auto kFirstKeys = std::to_array<std::string_view>({
      "\"ph\"",
      "\"name\"",
      "\"cat\"",
      "\"pid\"",
      "\"tid\"",
      "\"ts\"",
      "\"args\"",
      "\"dur\"",
      "\"id\"",
  });
  return std::any_of(kFirstKeys.begin(), kFirstKeys.end(),
                     [&](std::string_view first) { return text.substr(key).starts_with(first); });
}

bool ends_record_before(std::string_view text, std::size_t at) {
  while (at > 0 && is_space(text[at - 1])) --at;
  return at > 0 && text[at - 1] == '}';
}

}  // namespace

std::size_t skip_space(std::string_view text, std::size_t from) {
  while (from < text.size() && is_space(text[from])) ++from;
  return from;
}

std::size_t guess_boundary_before(std::string_view text, std::size_t before, std::size_t after) {
  before = std::min(before, text.size());
  while (before > after + 1) {
    const void* found = ::memrchr(text.data() + after + 1, ',', before - after - 1);
    if (!found) return kNowhere;
    auto at = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
    if (begins_record_after(text, at) && ends_record_before(text, at)) return at;
    before = at;
  }
  return kNowhere;
}

std::size_t guess_boundary_after(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find(',', from); at != kNowhere; at = text.find(',', at + 1)) {
    if (begins_record_after(text, at) && ends_record_before(text, at)) return at;
  }
  return kNowhere;
}

std::size_t value_end(std::string_view text, std::size_t from) {
  std::size_t depth = 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    switch (text[i]) {
      case '"':
        for (;;) {
          i = text.find_first_of("\"\\", i + 1);
          if (i == kNowhere) return kNowhere;
          if (text[i] == '"') break;
          ++i;
        }
        if (depth == 0) return i + 1;
        break;
      case '{':
      case '[':
        ++depth;
        break;
      case '}':
      case ']':
        if (depth == 0) return i;  // the end of a scalar: the bracket belongs to its container
        if (--depth == 0) return i + 1;
        break;
      case ',':
        if (depth == 0) return i;
        break;
      default:
        if (depth == 0 && is_space(text[i])) return i;
        break;
    }
  }
  return depth == 0 ? text.size() : kNowhere;
}

}  // namespace headway::trace::kineto
