// SPDX-License-Identifier: MIT
#include "trace/save/short_name.h"

namespace headway::trace::save_detail {

std::string_view short_kernel_name(std::string_view name) {
  // The base name ends at the first '<' or '(' that follows an identifier: "(anonymous
  // namespace)::f<int>(float*)" has one '(' before.
  int depth = 0;
  std::size_t begin = 0;
  std::size_t end = std::string_view::npos;
  for (std::size_t i = 0; i < name.size(); ++i) {
    char c = name[i];
    if (c == '<' || c == '(') {
      bool opens_base = depth == 0 && i > begin;
      if (opens_base) {
        // "a<b>::c(…)": the text after the matching bracket decides whether this was the base name.
        int inner = 0;
        std::size_t close = i;
        for (; close < name.size(); ++close) {
          if (name[close] == '<' || name[close] == '(') ++inner;
          if (name[close] == '>' || name[close] == ')') --inner;
          if (inner == 0) break;
        }
        if (close < name.size() && name.substr(close + 1).starts_with("::")) {
          i = close + 2;
          begin = i + 1;
          continue;
        }
        end = i;
        break;
      }
      ++depth;
    } else if (c == '>' || c == ')') {
      if (depth > 0) --depth;
    } else if (depth == 0 && c == ' ') {
      begin = i + 1;  // after the return type
    } else if (depth == 0 && c == ':' && i + 1 < name.size() && name[i + 1] == ':') {
      begin = i + 2;
      ++i;
    }
  }
  std::string_view base = name.substr(begin, end == std::string_view::npos ? end : end - begin);
  return base.empty() ? name : base;
}

}  // namespace headway::trace::save_detail
