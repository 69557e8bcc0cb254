// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct EnumNsysEventClass : TableDefaults {
  static constexpr std::string_view name = "ENUM_NSYS_EVENT_CLASS";
  static constexpr std::string_view doc =
      "Names of eventClass of calls and overheads, for readers that join them.";
  static constexpr bool of_nsys = true;
  static constexpr std::string_view primary_key = "id";

  struct Row {
    std::int64_t id = 0;
    std::optional<std::string_view> symbol;
    std::optional<std::string_view> label;
  };
  static constexpr auto columns = std::tuple{
      Column{"id", &Row::id, Unit::kEnum, "Value."},
      Column{"name", &Row::symbol, Unit::kNone, "Symbol."},
      Column{"label", &Row::label, Unit::kNone, "Name for people."},
  };
};

}  // namespace headway::trace::tables
