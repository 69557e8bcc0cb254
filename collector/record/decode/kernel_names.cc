// SPDX-License-Identifier: MIT
#include "collector/record/decode/kernel_names.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace headway::record {
namespace {

struct Free {
  void operator()(char* text) const { std::free(text); }
};

/// Position of the first character of `any` outside of <>, () and {}; npos when there is none. The
/// characters of an operator's name do not count: "operator<<".
std::size_t find_outside(std::string_view text, std::string_view any, std::size_t from) {
  int depth = 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    if (depth == 0 && any.find(text[i]) != std::string_view::npos) return i;
    if (text.substr(i).starts_with("operator")) {
      i += 8;
      while (i < text.size() &&
             std::string_view("<>=-+*/!&|^~%[]").find(text[i]) != std::string_view::npos)
        ++i;
      --i;
      continue;
    }
    if (text[i] == '<' || text[i] == '(' || text[i] == '{') ++depth;
    if ((text[i] == '>' || text[i] == ')' || text[i] == '}') && depth > 0) --depth;
  }
  return std::string_view::npos;
}

}  // namespace

std::string demangle(const std::string& name) {
  // The demangler takes seconds for longer names, which are unreadable anyway.
  constexpr std::size_t kLongest = 16 * 1024;
  if (!name.starts_with("_Z") || name.size() > kLongest) return name;
  int status = 0;
  std::unique_ptr<char, Free> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status));
  return status == 0 && text ? std::string(text.get()) : name;
}

std::string base_name(std::string_view demangled) {
  std::string_view rest = demangled;
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  auto skip_anonymous = [&] {
    while (rest.starts_with(kAnonymous)) rest.remove_prefix(kAnonymous.size());
  };
  // The return type (only templates have one) ends at a space; scopes end at "::".
  for (;;) {
    skip_anonymous();
    std::size_t at = find_outside(rest, " :(<", 0);
    // Skip the arguments of a template that is a scope or a type.
    if (at != std::string_view::npos && rest[at] == '<') {
      std::size_t after = find_outside(rest, " :(", at);
      if (after == std::string_view::npos || rest[after] == '(') {
        rest = rest.substr(0, at);
        break;
      }
      at = after;
    }
    if (at == std::string_view::npos) break;
    if (rest[at] == '(' && !rest.substr(at).starts_with(kAnonymous)) {
      rest = rest.substr(0, at);
      break;
    }
    rest.remove_prefix(at + (rest.substr(at).starts_with("::") ? 2 : rest[at] == '(' ? 0 : 1));
    if (rest.empty()) return std::string(demangled);
  }
  return std::string(rest.empty() ? demangled : rest);
}

}  // namespace headway::record
