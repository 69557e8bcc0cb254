// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/format.h"

namespace headway {

/// "1 event", "2,000 events".
inline std::string counted(std::int64_t count, std::string_view one, std::string_view many) {
  return format_count(count).append(" ").append(count == 1 ? one : many);
}

}  // namespace headway
