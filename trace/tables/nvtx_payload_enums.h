// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct NvtxPayloadEnums : TableDefaults {
  static constexpr std::string_view name = "NVTX_PAYLOAD_ENUMS";
  static constexpr std::string_view doc = "Enumerations of extended payloads.";
  static constexpr bool of_nsys = true;

  struct Row {
    std::optional<std::int64_t> domain_id;
    std::optional<std::int64_t> schema_id;
    std::optional<std::string_view> enum_name;
    std::optional<std::int64_t> num_entries;
    std::optional<std::int64_t> size;
    std::optional<std::int64_t> global_pid;
  };
  static constexpr auto columns = std::tuple{
      Column{"domainId", &Row::domain_id, Unit::kId, "Domain."},
      Column{"schemaId", &Row::schema_id, Unit::kId,
             "ID of the enumeration within process and domain."},
      Column{"name", &Row::enum_name, Unit::kNone, "Name of the enumeration."},
      Column{"numEntries", &Row::num_entries, Unit::kCount, "Number of entries."},
      Column{"size", &Row::size, Unit::kBytes, "Size of a value."},
      Column{"globalPid", &Row::global_pid, Unit::kId,
             "Process: host and VM bits << 48 | pid << 24."},
  };
};

}  // namespace headway::trace::tables
