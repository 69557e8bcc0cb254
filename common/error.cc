// SPDX-License-Identifier: MIT
#include "common/error.h"

#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace headway {

void invariant_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "headway: broken invariant `%s` at %s:%d; please report this\n", expression,
               file, line);
  std::abort();
}

std::string system_error_text(int code) {
  return std::generic_category().message(code);
}

}  // namespace headway
