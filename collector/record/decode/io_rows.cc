// SPDX-License-Identifier: MIT
#include "collector/record/decode/io_rows.h"

#include <algorithm>

#include "trace/tables/io.h"
#include "trace/trace.h"

namespace headway::record {
namespace {

static_assert(static_cast<int>(wire::IoOp::kOpen) == static_cast<int>(trace::IoOp::kOpen) &&
              static_cast<int>(wire::IoOp::kClose) == static_cast<int>(trace::IoOp::kClose) &&
              static_cast<int>(wire::IoOp::kRead) == static_cast<int>(trace::IoOp::kRead) &&
              static_cast<int>(wire::IoOp::kWrite) == static_cast<int>(trace::IoOp::kWrite) &&
              static_cast<int>(wire::IoOp::kSync) == static_cast<int>(trace::IoOp::kSync) &&
              static_cast<int>(wire::IoOp::kMap) == static_cast<int>(trace::IoOp::kMap));

/// Larger than any file: a record with more bytes is damaged.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;

/// The part of the interval, in ns, that the summed calls took; `detail` has times in stamps.
std::int64_t busy_ns(const wire::IoDetail& detail, std::uint64_t start, Interval when) {
  std::uint64_t stamps = detail.end > start ? detail.end - start : 0;
  if (stamps == 0) return 0;
  double share = static_cast<double>(std::min(detail.detail, stamps)) / static_cast<double>(stamps);
  return static_cast<std::int64_t>(share * static_cast<double>(when.length().ns));
}

}  // namespace

trace::StringId IoRows::name_of(wire::IoFunction function) {
  auto index = static_cast<std::size_t>(function);
  if (!names_[index]) names_[index] = sink_.intern(wire::kIoFunctionNames[index]);
  return *names_[index];
}

bool IoRows::add(const wire::Record& record, const wire::IoDetail& detail, Interval when,
                 std::int64_t global_tid) {
  auto op = static_cast<wire::IoOp>(record.category & 0xff);
  unsigned function = record.category >> 8;
  if (op < wire::IoOp::kOpen || op > wire::IoOp::kMap || function >= wire::kIoFunctionCount ||
      record.value > kMostBytes || detail.calls == 0)
    return false;
  when.end = std::max(when.begin, when.end);
  trace::tables::Io::Row row;
  row.start = when.begin.ns;
  row.end = when.end.ns;
  row.global_tid = global_tid;
  row.op = static_cast<std::int32_t>(op);
  row.name_id = name_of(static_cast<wire::IoFunction>(function));
  if (record.text != 0) row.path_id = definitions_.string(record.text);
  if (static_cast<std::int32_t>(record.color) >= 0) row.fd = record.color;
  row.bytes = static_cast<std::int64_t>(record.value);
  row.calls = detail.calls;
  if (detail.calls > 1) row.busy = busy_ns(detail, record.time, when);
  if (detail.offset >= 0) row.offset = detail.offset;
  if (op == wire::IoOp::kOpen || op == wire::IoOp::kMap)
    row.flags = static_cast<std::int64_t>(detail.detail & 0xffffffff);
  if (detail.error != 0) row.error = detail.error;
  sink_.add<trace::tables::Io>(row);
  calls_ += detail.calls;
  return true;
}

void IoRows::add_pending(const SegmentCounters& counters, TimeNs now) {
  auto add = [&](wire::IoOp op, wire::IoFunction function, std::uint64_t calls,
                 std::uint64_t bytes) {
    // The sums are unsigned: a negative one, which is huge, is damaged.
    if (calls == 0 || calls > kMostBytes || bytes > kMostBytes) return;
    trace::tables::Io::Row row;
    row.start = row.end = std::max<std::int64_t>(now.ns, 0);
    row.global_tid = global_pid_ | (global_pid_ >> 24 & 0xffffff);
    row.op = static_cast<std::int32_t>(op);
    row.name_id = name_of(function);
    row.bytes = static_cast<std::int64_t>(bytes);
    row.calls = static_cast<std::int64_t>(calls);
    sink_.add<trace::tables::Io>(row);
    calls_ += row.calls;
  };
  add(wire::IoOp::kRead, wire::IoFunction::k_read, counters.pending_reads,
      counters.pending_read_bytes);
  add(wire::IoOp::kWrite, wire::IoFunction::k_write, counters.pending_writes,
      counters.pending_written_bytes);
}

}  // namespace headway::record
