// SPDX-License-Identifier: MIT
#include "common/tell.h"

#include <cstdio>

namespace headway {

void tell(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace headway
