// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct MetaDataCapture : TableDefaults {
  static constexpr std::string_view name = "META_DATA_CAPTURE";
  static constexpr std::string_view doc =
      "Parameters of the capture, as Nsight Systems names them.";
  static constexpr bool of_nsys = true;

  struct Row {
    std::string_view key;
    std::optional<std::string_view> value;
  };
  static constexpr auto columns = std::tuple{
      Column{"name", &Row::key, Unit::kNone, "Name of the record."},
      Column{"value", &Row::value, Unit::kNone, "Value of the record."},
  };
};

}  // namespace headway::trace::tables
