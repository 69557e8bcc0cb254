// SPDX-License-Identifier: MIT
// Trace::ranges, range_info and domains -> NVTX_EVENTS and HEADWAY_RANGE.
#include "trace/save/context.h"
#include "trace/tables/nvtx_events.h"
#include "trace/tables/range_info.h"

namespace headway::trace::save_detail {
namespace {

// ENUM_NSYS_EVENT_TYPE values of NVTX_EVENTS.eventType.
constexpr std::int32_t kEventMark = 34;
constexpr std::int32_t kEventPushPop = 59;
constexpr std::int32_t kEventStartEnd = 60;
constexpr std::int32_t kEventDomain = 75;

std::optional<std::int64_t> present(std::int64_t value) {
  if (value == conventions::kAbsent) return std::nullopt;
  return value;
}

void save_info(Context& context, RangeId range, std::int64_t row_id) {
  const Ranges& ranges = context.trace.ranges;
  const RangeInfo* info = context.trace.info(range);
  bool cut = ranges.is(range, Ranges::kUnfinished);
  if (!info && !cut) return;
  tables::RangeInfo::Row row;
  row.range_row = row_id;
  if (cut) row.cut_at = ranges.end[range.value].ns;
  if (info) {
    row.kind = static_cast<std::int64_t>(info->kind);
    row.phase = static_cast<std::int32_t>(info->phase);
    row.op = present(info->op);
    row.batch = present(info->batch);
    row.step = present(info->step);
    row.bytes = info->bytes;
    row.flops = info->flops;
    row.sequence = present(info->sequence);
    row.shapes = context.string_or_null(info->shapes);
    row.dtypes = context.string_or_null(info->dtypes);
  }
  context.writer.add<tables::RangeInfo>(row);
}

}  // namespace

void save_ranges(Context& context) {
  const Trace& trace = context.trace;
  const Ranges& ranges = trace.ranges;
  TraceWriter& writer = context.writer;
  std::int64_t rows = 0;
  for (std::size_t i = 1; i < trace.domains.size(); ++i) {
    tables::NvtxEvents::Row row;
    row.event_type = kEventDomain;
    row.text = trace.domains[i];
    row.domain_id = static_cast<std::int64_t>(i);
    rows = writer.add<tables::NvtxEvents>(row);
  }
  context.first_range_row = rows + 1;
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    RangeId range{i};
    tables::NvtxEvents::Row row;
    row.start = ranges.start[i].ns;
    bool mark = ranges.is(range, Ranges::kMark);
    if (!mark && !ranges.is(range, Ranges::kUnfinished)) row.end = ranges.end[i].ns;
    row.event_type = mark                                  ? kEventMark
                     : ranges.is(range, Ranges::kStartEnd) ? kEventStartEnd
                                                           : kEventPushPop;
    row.text_id = context.string(ranges.name[i]);
    row.global_tid = context.thread_key[ranges.thread[i].value];
    row.domain_id = ranges.domain[i].value;
    save_info(context, range, writer.add<tables::NvtxEvents>(row));
  }
}

}  // namespace headway::trace::save_detail
