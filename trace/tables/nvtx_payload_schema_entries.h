// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct NvtxPayloadSchemaEntries : TableDefaults {
  static constexpr std::string_view name = "NVTX_PAYLOAD_SCHEMA_ENTRIES";
  static constexpr std::string_view doc = "Fields of the schemas of extended payloads.";
  static constexpr bool of_nsys = true;

  struct Row {
    std::int64_t domain_id = 0;
    std::int64_t schema_id = 0;
    std::int64_t idx = 0;
    std::optional<std::int64_t> flags;
    std::optional<std::int64_t> type;
    std::optional<std::string_view> entry_name;
    std::optional<std::string_view> description;
    std::optional<std::int64_t> array_or_union_detail;
    std::optional<std::int64_t> offset;
    std::optional<std::int64_t> global_pid;
  };
  static constexpr auto columns = std::tuple{
      Column{"domainId", &Row::domain_id, Unit::kId, "Domain."},
      Column{"schemaId", &Row::schema_id, Unit::kId, "Schema ID within process and domain."},
      Column{"idx", &Row::idx, Unit::kId, "Position of the entry."},
      Column{"flags", &Row::flags, Unit::kNone, "NVTX_PAYLOAD_ENTRY_FLAG_*."},
      Column{"type", &Row::type, Unit::kEnum, "NVTX_PAYLOAD_ENTRY_TYPE_*, or a schema or enum ID."},
      Column{"name", &Row::entry_name, Unit::kNone, "Field name."},
      Column{"description", &Row::description, Unit::kNone, "Field description."},
      Column{"arrayOrUnionDetail", &Row::array_or_union_detail, Unit::kNone,
             "Array length or selected union member."},
      Column{"offset", &Row::offset, Unit::kBytes, "Offset in the payload."},
      Column{"globalPid", &Row::global_pid, Unit::kId,
             "Process: host and VM bits << 48 | pid << 24."},
  };
};

}  // namespace headway::trace::tables
