// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct Setting : TableDefaults {
  static constexpr std::string_view name = "HEADWAY_SETTING";
  static constexpr std::string_view doc =
      "Effective settings of the run, from headway.setting payloads.";

  struct Row {
    std::int64_t global_pid = 0;
    std::string_view setting;
    std::string_view value;
  };
  static constexpr auto columns = std::tuple{
      Column{"globalPid", &Row::global_pid, Unit::kId,
             "Process: host and VM bits << 48 | pid << 24."},
      Column{"name", &Row::setting, Unit::kNone, "Setting."},
      Column{"value", &Row::value, Unit::kNone, "Value."},
  };
};

}  // namespace headway::trace::tables
