// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct Meta : TableDefaults {
  static constexpr std::string_view name = "HEADWAY_META";
  static constexpr std::string_view doc =
      "Facts about the file: schema and tool version, command, clock. Keys are listed in "
      "docs/reference/meta.md.";

  struct Row {
    std::string_view key;
    std::string_view value;
  };
  static constexpr auto columns = std::tuple{
      Column{"name", &Row::key, Unit::kNone, "Key."},
      Column{"value", &Row::value, Unit::kNone, "Value."},
  };
};

}  // namespace headway::trace::tables
