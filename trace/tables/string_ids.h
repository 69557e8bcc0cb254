// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct StringIds : TableDefaults {
  static constexpr std::string_view name = "StringIds";
  static constexpr std::string_view doc = "Every text of the file, once.";
  static constexpr bool of_nsys = true;
  static constexpr std::string_view primary_key = "id";

  struct Row {
    std::int64_t id = 0;
    std::string_view value;
  };
  static constexpr auto columns = std::tuple{
      Column{"id", &Row::id, Unit::kId, "ID that other tables refer to."},
      Column{"value", &Row::value, Unit::kNone, "The text, valid UTF-8."},
  };
};

}  // namespace headway::trace::tables
