// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct NvtxPayloadSchemas : TableDefaults {
  static constexpr std::string_view name = "NVTX_PAYLOAD_SCHEMAS";
  static constexpr std::string_view doc = "Schemas of extended payloads.";
  static constexpr bool of_nsys = true;

  struct Row {
    std::optional<std::int64_t> domain_id;
    std::optional<std::int64_t> schema_id;
    std::optional<std::string_view> schema_name;
    std::optional<std::int64_t> type;
    std::optional<std::int64_t> flags;
    std::optional<std::int64_t> num_entries;
    std::optional<std::int64_t> payload_size;
    std::optional<std::int64_t> align_to;
    std::optional<std::int64_t> global_pid;
  };
  static constexpr auto columns = std::tuple{
      Column{"domainId", &Row::domain_id, Unit::kId, "Domain."},
      Column{"schemaId", &Row::schema_id, Unit::kId, "Schema ID within process and domain."},
      Column{"name", &Row::schema_name, Unit::kNone, "Schema name."},
      Column{"type", &Row::type, Unit::kEnum, "NVTX_PAYLOAD_SCHEMA_TYPE_*."},
      Column{"flags", &Row::flags, Unit::kNone, "NVTX_PAYLOAD_SCHEMA_FLAG_*."},
      Column{"numEntries", &Row::num_entries, Unit::kCount, "Number of entries."},
      Column{"payloadSize", &Row::payload_size, Unit::kBytes, "Size of the static part."},
      Column{"alignTo", &Row::align_to, Unit::kBytes, "Alignment."},
      Column{"globalPid", &Row::global_pid, Unit::kId,
             "Process: host and VM bits << 48 | pid << 24."},
  };
};

}  // namespace headway::trace::tables
