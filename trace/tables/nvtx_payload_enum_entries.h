// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct NvtxPayloadEnumEntries : TableDefaults {
  static constexpr std::string_view name = "NVTX_PAYLOAD_ENUM_ENTRIES";
  static constexpr std::string_view doc = "Values of enumerations of extended payloads.";
  static constexpr bool of_nsys = true;

  struct Row {
    std::int64_t domain_id = 0;
    std::int64_t schema_id = 0;
    std::int64_t idx = 0;
    std::optional<std::string_view> entry_name;
    std::optional<std::int64_t> value;
    std::optional<std::int64_t> is_flag;
    std::optional<std::int64_t> global_pid;
  };
  static constexpr auto columns = std::tuple{
      Column{"domainId", &Row::domain_id, Unit::kId, "Domain."},
      Column{"schemaId", &Row::schema_id, Unit::kId,
             "ID of the enumeration within process and domain."},
      Column{"idx", &Row::idx, Unit::kNone, "Position in the enumeration."},
      Column{"name", &Row::entry_name, Unit::kNone, "Name of the value."},
      Column{"value", &Row::value, Unit::kNone, "The value."},
      Column{"isFlag", &Row::is_flag, Unit::kNone, "1: a set of bits, to be combined with others."},
      Column{"globalPid", &Row::global_pid, Unit::kId,
             "Process: host and VM bits << 48 | pid << 24."},
  };
};

}  // namespace headway::trace::tables
