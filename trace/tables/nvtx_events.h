// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct NvtxEvents : TableDefaults {
  static constexpr std::string_view name = "NVTX_EVENTS";
  static constexpr std::string_view doc = "Ranges and marks of the program.";
  static constexpr bool of_nsys = true;
  static constexpr std::array<std::string_view, 1> indexes = {"start"};

  struct Row {
    std::int64_t start = 0;
    std::optional<std::int64_t> end;
    std::int32_t event_type = 0;
    std::optional<std::int64_t> range_id;
    std::optional<std::int64_t> category;
    std::optional<std::int64_t> color;
    std::optional<std::string_view> text;
    std::optional<std::int64_t> global_tid;
    std::optional<std::int64_t> end_global_tid;
    std::optional<StringId> text_id;
    std::optional<std::int64_t> domain_id;
    std::optional<std::int64_t> uint64_value;
    std::optional<std::int64_t> int64_value;
    std::optional<double> double_value;
    std::optional<std::int64_t> uint32_value;
    std::optional<std::int64_t> int32_value;
    std::optional<double> float_value;
    std::optional<StringId> json_text_id;
  };
  static constexpr auto columns = std::tuple{
      Column{"start", &Row::start, Unit::kNs, "Start, since the session start."},
      Column{"end", &Row::end, Unit::kNs,
             "End, since the session start. NULL: still open when the recording ended."},
      Column{"eventType", &Row::event_type, Unit::kEnum,
             "33 category, 34 mark, 59 push/pop range, 60 start/end range, 75 domain."},
      Column{"rangeId", &Row::range_id, Unit::kId, "What nvtxRangeStart returned."},
      Column{"category", &Row::category, Unit::kId, "Category within the domain."},
      Column{"color", &Row::color, Unit::kNone, "ARGB."},
      Column{"text", &Row::text, Unit::kNone,
             "Name of a domain or category; names of ranges are in textId."},
      Column{"globalTid", &Row::global_tid, Unit::kId, "Thread: globalPid | tid."},
      Column{"endGlobalTid", &Row::end_global_tid, Unit::kId,
             "Thread that ended a start/end range."},
      Column{"textId", &Row::text_id, Unit::kNone, "Message."},
      Column{"domainId", &Row::domain_id, Unit::kId, "Domain; 0 is the default domain."},
      Column{"uint64Value", &Row::uint64_value, Unit::kNone, "Payload, by its type."},
      Column{"int64Value", &Row::int64_value, Unit::kNone, "Payload, by its type."},
      Column{"doubleValue", &Row::double_value, Unit::kNone, "Payload, by its type."},
      Column{"uint32Value", &Row::uint32_value, Unit::kNone, "Payload, by its type."},
      Column{"int32Value", &Row::int32_value, Unit::kNone, "Payload, by its type."},
      Column{"floatValue", &Row::float_value, Unit::kNone, "Payload, by its type."},
      Column{"jsonTextId", &Row::json_text_id, Unit::kNone, "Extended payload decoded to JSON."},
  };
};

}  // namespace headway::trace::tables
